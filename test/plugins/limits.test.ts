import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';
import { ask, post, sendRaw } from './support/ask.ts';
import { createProbe, LARGE, OPEN, type ProbeOptions } from './support/probe-area.ts';

let server: TestServer | undefined;
afterEach(() => server?.stop());

async function start(env: Record<string, string>, options: ProbeOptions = {}) {
  const probe = createProbe(options);
  server = await startServer({ env, register: probe.open });
  return { probe, url: server.url + OPEN };
}

describe('the rate limit', () => {
  it('answers 429 with Retry-After once a client has used its share for the minute', async () => {
    const { url } = await start({}, { rateLimit: 3 });
    for (let i = 0; i < 3; i += 1) expect((await ask(`${url}/databank`)).status).toBe(200);
    const reply = await ask(`${url}/databank`);
    expect(reply.status).toBe(429);
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(reply.body).toMatchObject({ status: 429, title: 'Te veel verzoeken' });
    expect(reply.headers.get('api-version')).toBe('1.2.3');
  });

  it('counts by the address behind a proxy only when that proxy is trusted', async () => {
    const { url } = await start({}, { rateLimit: 1 });
    const as = (address: string) => ask(`${url}/databank`, { headers: { 'x-forwarded-for': address } });
    expect((await as('192.0.2.1')).status).toBe(200);
    expect((await as('192.0.2.2')).status).toBe(429);
    await server?.stop();
    const trusting = await start({ TRUST_PROXY: '1' }, { rateLimit: 1 });
    const behind = (address: string) => ask(`${trusting.url}/databank`, { headers: { 'x-forwarded-for': address } });
    expect((await behind('192.0.2.1')).status).toBe(200);
    expect((await behind('192.0.2.2')).status).toBe(200);
    expect((await behind('198.51.100.7, 192.0.2.2')).status).toBe(429);
  });
});

function holdEventLoop(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

describe('overload', () => {
  it('answers 503 with Retry-After while the event loop is late', async () => {
    const { url } = await start({ 'server.overloadEventLoopDelayMs': '20' });
    let reply = await ask(`${url}/databank`);
    for (let i = 0; i < 20 && reply.status === 200; i += 1) {
      holdEventLoop(300);
      reply = await ask(`${url}/databank`);
    }
    expect(reply.status).toBe(503);
    expect(reply.headers.get('retry-after')).toBe('5');
    expect(reply.body.type).toMatch(/\/problems\/unavailable$/);
  });

  it('ignores a blocked event loop before the server listens', async () => {
    const probe = createProbe();
    server = await startServer({
      env: { 'server.overloadEventLoopDelayMs': '200' },
      register: async (app) => {
        await probe.open(app);
        app.addHook('onReady', async () => holdEventLoop(4000));
      },
    });
    const url = `${server.url}${OPEN}/databank`;
    for (const end = Date.now() + 600; Date.now() < end; await sleep(20)) expect((await ask(url)).status).toBe(200);
  });
});

describe('the deadline of a request', () => {
  it('answers 503 when the work takes longer', async () => {
    const { url, probe } = await start({ 'server.requestTimeoutMs': '200' });
    const reply = await ask(`${url}/traag`);
    expect(reply.status).toBe(503);
    expect(reply.headers.get('retry-after')).toBe('5');
    probe.release();
  });

  it('answers 503 even if the body was read long before', async () => {
    const { url, probe } = await start({ 'server.requestTimeoutMs': '200' });
    const reply = await ask(`${url}/traag`, post('{}'));
    expect(reply.status).toBe(503);
    probe.release();
  });

  it('disconnects a client that does not read its answer', async () => {
    const { url } = await start({ 'server.requestTimeoutMs': '200' });
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(`GET ${OPEN}/groot HTTP/1.1\r\nHost: a\r\n\r\n`);
    socket.pause();
    await expect.poll(() => server?.logged.map(({ msg }) => msg)).toContain('broken off');
    let received = 0;
    socket.on('error', () => undefined);
    socket.on('data', ({ length }) => {
      received += length;
    });
    socket.resume();
    await once(socket, 'close');
    expect(received).toBeGreaterThan(0);
    expect(received).toBeLessThan(LARGE);
  });

  it('answers 408 when the request itself does not arrive', async () => {
    const { url } = await start({ 'server.requestTimeoutMs': '200' });
    const answer = await sendRaw(
      url,
      `POST ${OPEN}/dingen HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 (408|503) /);
  });
});

describe('stopping', () => {
  it('answers running requests, accepts no new ones and closes idle connections', async () => {
    const { url, probe } = await start({ 'server.shutdownTimeoutMs': '600000' });
    const idle = connect(Number(new URL(url).port), '127.0.0.1');
    const running = ask(`${url}/traag`);
    await probe.arrived;
    const stopped = server?.stop();
    // It closes in a turn without new connections: one from just before is still answered.
    const outcome = (): Promise<string> =>
      ask(`${url}/databank`).then(
        () => 'answered',
        () => 'refused',
      );
    await expect.poll(outcome).toBe('refused');
    probe.release();
    expect((await running).status).toBe(200);
    await stopped;
    expect(await text(idle)).toBe('');
  });

  it('cuts off running requests when the time is up', async () => {
    const { url, probe } = await start({ 'server.shutdownTimeoutMs': '200' });
    const running = ask(`${url}/traag`);
    running.catch(() => undefined);
    await probe.arrived;
    await server?.stop();
    await expect(running).rejects.toThrow();
  });
});
