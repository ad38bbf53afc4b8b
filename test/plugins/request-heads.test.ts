import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';
import { ask, sendRaw } from './support/ask.ts';
import { CLOSED, createProbe, OPEN } from './support/probe-area.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startServer({ env: {}, register: createProbe().open });
});
afterAll(() => server.stop());

/** One request exactly as written, without a client that normalises it. */
async function raw(target: string, headers: Record<string, string> = {}): Promise<{ status: number; text: string }> {
  const lines = Object.entries({ host: 'a', connection: 'close', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const text = await sendRaw(server.url, `GET ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  return { status: Number(text.slice(9, 12)), text };
}

describe('an overlong header', () => {
  it.each([
    ['accept', 'a/b,'],
    ['accept', 'application/json;q=0.1,'],
    ['accept-encoding', 'gzip;q=0.1,'],
    ['accept-language', 'nl,'],
    ['content-type', 'a/b;'],
    ['forwarded', 'for=1.2.3.4,'],
    ['if-none-match', '"a",'],
    ['last-event-id', '1'],
    ['prefer', 'respond-async,'],
    ['range', 'bytes=0-0,'],
    ['x-forwarded-for', '192.0.2.1,'],
    ['verwerkingsactiviteiturl', 'https://a.example/'],
  ])('gets 431 before it is read: %s of %j', async (name, part) => {
    const { status, text } = await raw(`${OPEN}/databank`, { [name]: part.repeat(60_000 / part.length) });
    expect(status).toBe(431);
    expect(text).toContain(`De kop \`${name}\` is langer dan`);
    expect(text.toLowerCase()).toContain('\r\napi-version: 1.2.3\r\n');
  });

  it('gets 431 even when it arrived in many parts', async () => {
    const many = `accept: ${'a/b,'.repeat(20)}\r\n`.repeat(100);
    const text = await sendRaw(
      server.url,
      `GET ${OPEN}/databank HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${many}\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 431 /);
  });

  it('may carry a token or a signature', async () => {
    const long = 'a'.repeat(40_000);
    expect((await raw(`${CLOSED}/databank`, { authorization: `Bearer ${long}` })).status).toBe(401);
    expect(
      (await raw(`${OPEN}/databank`, { 'nlgov-adr-payload-sig': long, 'client-cert': long.slice(20_000) })).status,
    ).toBe(200);
  });
});

describe('an address', () => {
  it.each([
    ['a query of separators', `${OPEN}/databank?${'&'.repeat(60_000)}`],
    ['a query of parameters', `${OPEN}/databank?${'a=1&'.repeat(15_000)}`],
    ['a percent-encoded path', `${OPEN}/databank/${'%61'.repeat(20_000)}`],
    ['an unknown path', `${OPEN}/${'%2525/'.repeat(10_000)}`],
  ])('that is too long gets 414: %s', async (_what, target) => {
    const { status, text } = await raw(target);
    expect(status).toBe(414);
    expect(text).toContain('/problems/address-too-long');
  });

  it('that is too long gets 404 outside the mounts', async () => {
    expect((await raw(`/${'%61'.repeat(20_000)}`)).status).toBe(404);
    expect((await raw(`/problems/not-found?${'a&'.repeat(30_000)}`)).status).toBe(200);
  });

  it.each(['&'.repeat(8000), 'a&'.repeat(4000), 'limit=1&'.repeat(900)])(
    'with very many parameters gets 400',
    async (query) => {
      const { status, text } = await raw(`${OPEN}/dingen/1?${query}`);
      expect(status).toBe(400);
      expect(text).toContain('Het adres heeft te veel parameters.');
    },
  );

  it('with few parameters is parsed as usual', async () => {
    expect((await ask(`${server.url}${OPEN}/dingen/1?soort=klein&limit=2&`)).status).toBe(200);
    expect((await ask(`${server.url}${OPEN}/dingen/1?soort=klein&soort=groot`)).status).toBe(400);
    expect((await ask(`${server.url}${OPEN}/dingen/1?x=1`)).body.invalidParams).toEqual([
      { name: 'x', code: 'unknown', reason: 'is niet bekend' },
    ]);
  });
});
