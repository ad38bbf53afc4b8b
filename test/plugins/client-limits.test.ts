import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createClientShare } from '../../src/plugins/limits.ts';
import { openPool } from '../database/support.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { startTokens, type TestTokens } from '../support/tokens.ts';
import { ask, post } from './support/ask.ts';
import { CLOSED, createProbe, LARGE, OPEN, type ProbeOptions } from './support/probe-area.ts';

const SCOPES = ['create:normal'];
let tokens: TestTokens;
let server: TestServer | undefined;

beforeAll(async () => {
  tokens = await startTokens();
});
afterAll(() => tokens.close());
afterEach(() => server?.stop());

async function start(env: Record<string, string>, options: ProbeOptions = {}) {
  const { OAUTH_ISSUER: issuer, OAUTH_AUDIENCE: audience, OAUTH_JWKS_URL: jwksUrl } = tokens.env;
  const probe = createProbe({ issuer, audience, jwksUrl, ...options });
  server = await startServer({ env, register: probe.open });
  return { probe, open: server.url + OPEN, closed: server.url + CLOSED };
}

describe('calls without a valid token', () => {
  it('count separately: they do not block a client with one at the same address', async () => {
    const { closed } = await start({}, { rateLimit: 5 });
    const call = async (headers: Record<string, string>) => (await ask(`${closed}/databank`, { headers })).status;
    const refused: number[] = [];
    for (let i = 0; i < 20; i += 1) {
      refused.push(await call(i % 2 === 0 ? {} : { authorization: `Bearer a.${i}.c` }));
    }
    expect(refused).toEqual([...Array.from({ length: 5 }, () => 401), ...Array.from({ length: 15 }, () => 429)]);
    // New, so that its signature must be verified.
    const valid = await tokens.bearer(SCOPES, { subject: 'eerste' });
    for (let i = 0; i < 5; i += 1) expect(await call(valid)).toBe(200);
    expect(await call(valid)).toBe(429);
    expect(await call(await tokens.bearer(SCOPES, { subject: 'tweede' }))).toBe(200);
  });

  it('get Retry-After, and count expired tokens and those for another audience', async () => {
    const { closed } = await start({}, { rateLimit: 2 });
    const headers = await tokens.bearer(SCOPES, { seconds: -3600 });
    for (const status of [401, 401, 429]) {
      const reply = await ask(`${closed}/databank`, { headers });
      expect(reply.status).toBe(status);
      if (status === 429) expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });
});

describe('the address behind a proxy', () => {
  it('counts only when it is valid: text in X-Forwarded-For counts as the proxy, and is not stored', async () => {
    const { open } = await start({ TRUST_PROXY: '1' }, { rateLimit: 3 });
    const from = async (forwarded: string) =>
      (await ask(`${open}/databank`, { headers: { 'x-forwarded-for': forwarded } })).status;
    for (let i = 0; i < 3; i += 1) expect(await from(`verzonnen ${i} ${'x'.repeat(1900)}`)).toBe(200);
    expect(await from('iets anders')).toBe(429);
    expect(await from('999.1.1.1')).toBe(429);
    expect(await from('192.0.2.1')).toBe(200);
  });

  it('counts an IPv6 network as one client, and ignores ports', async () => {
    const { open } = await start({ TRUST_PROXY: '1' }, { rateLimit: 2 });
    const from = async (forwarded: string) =>
      (await ask(`${open}/databank`, { headers: { 'x-forwarded-for': forwarded } })).status;
    expect(await from('2001:db8:1:2::1')).toBe(200);
    expect(await from('[2001:db8:1:2:ffff::7]:4711')).toBe(200);
    expect(await from('2001:DB8:1:2:0:0:0:9')).toBe(429);
    expect(await from('2001:db8:1:3::1')).toBe(200);
    expect(await from('192.0.2.1:1234')).toBe(200);
    expect(await from('::ffff:192.0.2.1')).toBe(200);
    expect(await from('192.0.2.1')).toBe(429);
  });
});

describe('request bodies', () => {
  const body = (kilobytes: number) => JSON.stringify({ naam: 'x'.repeat(kilobytes * 1024) });
  const ENV = { TRUST_PROXY: '1', 'server.bodiesInProgressBytes': '65536' };

  it('waiting for answers are limited in bytes, per client and in total', async () => {
    const { open, probe } = await start(ENV);
    const send = (client: string, kilobytes: number) =>
      ask(`${open}/traag`, {
        ...post(body(kilobytes)),
        headers: { 'content-type': 'application/json', 'x-forwarded-for': client },
      });
    const first = send('192.0.2.1', 40);
    await probe.arrived;
    const second = await send('192.0.2.1', 10);
    expect(second.status).toBe(429);
    expect(second.headers.get('retry-after')).toBe('1');
    const third = await send('192.0.2.2', 30);
    expect(third.status).toBe(503);
    expect(third.headers.get('retry-after')).toBe('1');
    const fourth = send('192.0.2.2', 15);
    await new Promise((resolve) => setTimeout(resolve, 200));
    probe.release();
    expect([(await first).status, (await fourth).status]).toEqual([200, 200]);
    expect((await send('192.0.2.1', 60)).status).toBe(200);
  });

  it('count as they arrive when their length is not announced', async () => {
    const { open, probe } = await start(ENV);
    const first = ask(`${open}/traag`, post(body(10)));
    await probe.arrived;
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
      const request = httpRequest(`${open}/traag`, { method: 'POST', headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      request.on('error', reject);
      request.end(body(30));
    });
    expect(status).toBe(429);
    probe.release();
    expect((await first).status).toBe(200);
  });

  it('are not read or counted while their client waits for its earlier request', async () => {
    // A client may have one of two connections; no database is reachable.
    const pool = openPool('postgres://127.0.0.1:9/nergens', { size: 2 });
    const share = createClientShare({ pool, waitMs: 10_000 });
    const { closed, probe } = await start(ENV, { share });
    const headers = { ...(await tokens.bearer(SCOPES)), 'content-type': 'application/json' };
    const send = () => ask(`${closed}/traag`, { ...post(body(30)), headers });
    const first = send();
    await probe.arrived;
    const second = send();
    await new Promise((resolve) => setTimeout(resolve, 300));
    probe.release();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
    await pool.end();
  });

  it('release their bytes when they are refused half-way', async () => {
    const { open } = await start({ ...ENV, 'server.bodyLimitBytes': '16384' });
    const { hostname, port } = new URL(open);
    const chunk = `${(8192).toString(16)}\r\n${'x'.repeat(8192)}\r\n`;
    for (let i = 0; i < 30; i += 1) {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      socket.write(
        `POST ${OPEN}/dingen HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${chunk.repeat(i % 2 === 0 ? 8 : 1)}`,
      );
      if (i % 2 === 0) await once(socket, 'data');
      socket.write(chunk.repeat(8));
      await new Promise((resolve) => setTimeout(resolve, 20));
      socket.destroy();
    }
    const whole = {
      headers: { 'content-type': 'application/json' },
      method: 'POST',
      body: JSON.stringify({ naam: 'x'.repeat(30) }),
    };
    await expect.poll(async () => (await ask(`${open}/dingen`, whole)).status).toBe(201);
    const three = await Promise.all([1, 2, 3].map(() => ask(`${open}/dingen`, post(body(4)))));
    expect(three.map(({ status }) => status)).toEqual([400, 400, 400]);
  });

  it.each(['/nergens', `${OPEN}/nergens`, `${OPEN}/dingen/1`, `${CLOSED}/databank`])(
    'are not waited for when nothing accepts them: %s',
    async (path) => {
      await start({});
      const { hostname, port } = new URL(server?.url ?? '');
      const socket = connect(Number(port), hostname);
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 900000\r\n\r\n{`,
      );
      const started = Date.now();
      const [head = ''] = (await text(socket)).split('\r\n', 1);
      expect(head).toMatch(/ 40[45] /);
      expect(Date.now() - started).toBeLessThan(10_000);
    },
  );
});

describe('unread answers', () => {
  const ENV = { TRUST_PROXY: '1', 'server.unreadAnswersBytes': '1048576' };
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });

  it('are limited in bytes by disconnecting a client that reads nothing', async () => {
    const { open } = await start(ENV);
    const { hostname, port } = new URL(open);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    const closed = once(socket, 'close');
    socket.write(`GET ${OPEN}/groot HTTP/1.1\r\nhost: a\r\nx-forwarded-for: 192.0.2.1\r\n\r\n`);
    await once(socket, 'readable');
    expect((await ask(`${open}/groot`, from('192.0.2.2'))).status).toBe(200);
    socket.resume();
    await closed;
    expect((await ask(`${open}/groot`, from('192.0.2.1'))).status).toBe(200);
  });

  it('are cut off for the client with the most of them: a slow reader gets its own', async () => {
    const { open } = await start({ ...ENV, 'server.unreadAnswersBytes': String(2.5 * LARGE) });
    const { hostname, port } = new URL(open);
    const unread = async (address: string) => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      socket.write(`GET ${OPEN}/groot HTTP/1.1\r\nhost: a\r\nconnection: close\r\nx-forwarded-for: ${address}\r\n\r\n`);
      await once(socket, 'readable');
      return socket;
    };
    const slow = await unread('192.0.2.1');
    const idle = [await unread('192.0.2.2'), await unread('192.0.2.2'), await unread('192.0.2.2')];
    expect((await text(slow)).length).toBeGreaterThan(LARGE);
    for (const socket of idle) socket.destroy();
  });

  it('are cut off when one connection pipelines many requests', async () => {
    const { open } = await start(ENV);
    const { hostname, port } = new URL(open);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined).pause();
    const closed = once(socket, 'close');
    socket.write(`GET ${OPEN}/groot HTTP/1.1\r\nhost: a\r\n\r\n`.repeat(5));
    socket.resume();
    await closed;
    expect((await ask(`${open}/groot`)).status).toBe(200);
  });
});
