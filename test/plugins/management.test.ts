import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';
import { ask, sendRaw } from './support/ask.ts';
import { createProbe, OPEN } from './support/probe-area.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({
    env: {},
    register: async (app) => {
      await createProbe().open(app);
      app.readiness.push({ name: 'probe', check: async () => ({ ok: true, warning: 'only a probe' }) });
    },
  });
});
afterAll(() => server.stop());

describe('the management listener', () => {
  it('reports that the process is alive', async () => {
    expect(await ask(`${server.managementUrl}/health/live`)).toMatchObject({ status: 200, body: { status: 'live' } });
  });

  it('lists each condition of readiness, with its warning', async () => {
    const { status, body } = await ask(`${server.managementUrl}/health/ready`);
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'ready',
      checks: [
        { name: 'database', ok: true },
        { name: 'migrations', ok: true },
        { name: 'database-writable', ok: true },
        { name: 'clock', ok: true },
        { name: 'listen', ok: true, detail: 'not needed by the areas served' },
        { name: 'probe', ok: true, warning: 'only a probe' },
      ],
    });
  });

  it('measures requests by route and status, never by address', async () => {
    await ask(`${server.url}${OPEN}/dingen/geheim-nummer`);
    const { text, headers } = await ask(`${server.managementUrl}/metrics`);
    expect(headers.get('content-type')).toMatch(/^text\/plain/);
    expect(text).toContain(
      `koppelvlak_http_request_duration_seconds_count{method="GET",route="${OPEN}/dingen/:id",status="200"} 1`,
    );
    expect(text).not.toContain('geheim-nummer');
  });

  it('shows the pool and the event loop', async () => {
    const { text } = await ask(`${server.managementUrl}/metrics`);
    expect(text).toMatch(/^koppelvlak_database_pool_connections\{pool="exchange",state="total"\} \d/m);
    expect(text).toMatch(/^koppelvlak_database_pool_connections\{pool="append",state="idle"\} \d/m);
    expect(text).toMatch(/^koppelvlak_database_pool_waiting\{pool="public"\} \d/m);
    expect(text).toMatch(/^nodejs_eventloop_lag_seconds/m);
  });

  it('observes the process once, not once for each server in it', async () => {
    const [one, other] = [await metricsOfServer(), await metricsOfServer()];
    const name = 'nodejs_gc_duration_seconds';
    expect(one.getSingleMetric(name)).toBeDefined();
    expect(other.getSingleMetric(name)).toBe(one.getSingleMetric(name));
    const ours = 'koppelvlak_http_request_duration_seconds';
    expect(other.getSingleMetric(ours)).not.toBe(one.getSingleMetric(ours));
  });

  it.each([
    ['without a Host', '', 400],
    ['with two', 'Host: a\r\nHost: b\r\n', 400],
    ['with one', 'Host: a\r\n', 200],
  ])('answers a request %s as the public listener does', async (_what, host, status) => {
    const answer = await sendRaw(server.managementUrl, `GET /health/live HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer.split('\r\n\r\n')[1]).toContain(status === 200 ? 'live' : 'exactly one Host');
  });

  it("accepts HTTP/1.0 without a Host, as proxies' health checks send it", async () => {
    expect(await sendRaw(server.managementUrl, 'GET /health/live HTTP/1.0\r\n\r\n')).toContain('200 OK');
  });

  it('has nothing else, and is not on the public listener', async () => {
    expect((await ask(`${server.managementUrl}/anders`)).status).toBe(404);
    for (const path of ['/', '/health/live', '/health/ready', '/metrics']) {
      expect((await ask(server.url + path)).status).toBe(404);
    }
  });
});

/** Of a server that has stopped. */
async function metricsOfServer(): Promise<FastifyInstance['metrics']> {
  const started = Promise.withResolvers<FastifyInstance['metrics']>();
  const one = await startServer({ env: {}, register: async (app) => started.resolve(app.metrics) });
  await one.stop();
  return started.promise;
}
