import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';
import { ask, post, sendRaw } from './support/ask.ts';
import { createProbe, OPEN } from './support/probe-area.ts';

let server: TestServer;
let dingen: string;

beforeAll(async () => {
  server = await startServer({
    env: { 'server.bodyLimitBytes': '2048', 'server.headerLimitBytes': '8192' },
    register: createProbe().open,
  });
  dingen = `${server.url}${OPEN}/dingen`;
});
afterAll(() => server.stop());

describe('a body', () => {
  it.each([
    ['no JSON', '{"naam":', 'De inhoud is geen geldige JSON.'],
    ['nothing', '', 'De inhoud is leeg.'],
    ['a member that would change the prototype', '{"__proto__":{"x":1},"naam":"a"}', 'De inhoud is geen geldige JSON.'],
    [
      'a constructor with a prototype',
      '{"constructor":{"prototype":{}},"naam":"a"}',
      'De inhoud is geen geldige JSON.',
    ],
  ])('is refused with 400 when it contains %s', async (_what, body, detail) => {
    const reply = await ask(dingen, post(body));
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ type: `${server.url}/problems/invalid-request`, detail });
  });

  it('is refused with 400 when it is not UTF-8', async () => {
    const reply = await ask(dingen, post(new Uint8Array([...Buffer.from('{"naam":"'), 0xff, ...Buffer.from('"}')])));
    expect(reply.status).toBe(400);
    expect(reply.body.detail).toBe('De inhoud is geen geldige UTF-8.');
  });

  it.each([
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
    'application/json-patch+json',
    'json',
  ])('is refused with 415 when it is %s', async (type) => {
    const reply = await ask(dingen, post('{"naam":"a"}', type));
    expect(reply.status).toBe(415);
    expect(reply.body.type).toBe(`${server.url}/problems/unsupported-media-type`);
    expect(reply.body.detail).toMatch(/application\/json/);
  });

  it('is refused with 415 in another character set, and accepted with ours named', async () => {
    expect((await ask(dingen, post('{"naam":"a"}', 'application/json; charset=iso-8859-1'))).status).toBe(415);
    for (const spelled of ['UTF-8', 'utf8', '"UTF8"'])
      expect((await ask(dingen, post('{"naam":"a"}', `application/json; charset=${spelled}`))).status).toBe(201);
  });

  it('may begin with a byte order mark', async () => {
    expect((await ask(dingen, post('\ufeff{"naam":"a"}'))).status).toBe(201);
  });

  it('is refused with 413 when it is larger than the limit, announced or not', async () => {
    const body = JSON.stringify({ naam: 'a'.repeat(3000) });
    const said = await ask(dingen, post(body));
    expect(said.status).toBe(413);
    expect(said.body.type).toBe(`${server.url}/problems/body-too-large`);
    const stream = new Blob([body]).stream();
    const unsaid = await ask(dingen, { ...post(''), body: stream, duplex: 'half' });
    expect(unsaid.status).toBe(413);
    // Closing would fail a client that is still sending its body.
    for (const { headers } of [said, unsaid]) expect(headers.get('connection')).not.toBe('close');
  });

  it('keeps its connection for the next request when it was announced as too large', async () => {
    const large = 'a'.repeat(1_000_000);
    const head = ['Host: a', 'Content-Type: application/json', `Content-Length: ${large.length}`].join('\r\n');
    const next = `GET ${OPEN}/openapi.json HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
    const answers = await sendRaw(dingen, `POST ${OPEN}/dingen HTTP/1.1\r\n${head}\r\n\r\n${large}${next}`);
    expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
  });

  it('is not an error of the service when its sender disconnects half-way', async () => {
    const { hostname, port } = new URL(dingen);
    const socket = connect(Number(port), hostname);
    const head = ['Host: a', 'Content-Type: application/json', 'Content-Length: 100'].join('\r\n');
    socket.end(`POST ${OPEN}/dingen HTTP/1.1\r\n${head}\r\n\r\n{`);
    socket.resume();
    await once(socket, 'close');
    await ask(dingen, post('{"naam":"a"}'));
    expect(server.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });

  it('is answered with every fault at once', async () => {
    const reply = await ask(dingen, post('{"naam":7,"aantal":0,"kleur":"rood"}'));
    expect(reply.status).toBe(400);
    expect(reply.body.invalidParams).toEqual(
      expect.arrayContaining([
        { name: 'naam', code: 'type', reason: 'moet tekst zijn' },
        { name: 'aantal', code: 'minimum', reason: 'moet minstens 1 zijn' },
        { name: 'kleur', code: 'unknown', reason: 'is niet bekend' },
      ]),
    );
    expect(reply.text).not.toContain('rood');
  });

  it('is never converted to the expected type', async () => {
    expect((await ask(dingen, post('{"naam":"a","aantal":"3"}'))).status).toBe(400);
  });
});

describe('a query', () => {
  it('is answered with every fault at once', async () => {
    const reply = await ask(`${dingen}/1?soort=rond&limit=20&kleur=rood`);
    expect(reply.status).toBe(400);
    expect(reply.body.invalidParams).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'soort', code: 'enum' }),
        expect.objectContaining({ name: 'limit', code: 'maximum' }),
        expect.objectContaining({ name: 'kleur', code: 'unknown' }),
      ]),
    );
  });

  it('is refused when a single-valued parameter is repeated', async () => {
    const { status, body } = await ask(`${dingen}/1?soort=klein&soort=groot`);
    expect(status).toBe(400);
    expect(body.invalidParams).toContainEqual(expect.objectContaining({ name: 'soort' }));
  });
});

describe('input that is not HTTP', () => {
  it('gets 431 when the head exceeds the limit', async () => {
    const answer = await sendRaw(server.url, `GET /a HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(10_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).toContain('content-type: application/problem+json');
    expect(answer).toContain('x-content-type-options: nosniff');
    expect(answer).toContain(`${server.url}/problems/headers-too-large`);
    expect(answer).toContain('"detail":"');
  });

  it.each([
    ['words', 'hallo daar\r\n\r\n'],
    [
      'a length and chunks together',
      'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['no host', 'GET /a HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['two hosts', 'GET /a HTTP/1.1\r\nHost: a\r\nHost: a\r\nConnection: close\r\n\r\n'],
  ])('gets 400 for %s', async (_what, bytes) => {
    const answer = await sendRaw(server.url, bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('content-type: application/problem+json');
    expect(answer).toContain(`${server.url}/problems/invalid-request`);
  });

  it('accepts an HTTP/1.0 request without a host', async () => {
    expect(await sendRaw(server.url, 'GET /a HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 404 /);
  });
});
