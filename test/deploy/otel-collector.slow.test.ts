/**
 * deploy/otel-collector with a real Collector, where available: named by OTELCOL, or on the path as `otelcol-contrib`. It needs the
 * extensions file_storage and oauth2client.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeRequest } from '../../src/verwerkingenlog/ldv/otlp.ts';
import { freePort } from '../support/free-port.ts';
import { startTokens, type TestTokens } from '../support/tokens.ts';
import { type LdvServer, line, startLdv } from '../verwerkingenlog/ldv/support.ts';

const OTELCOL = process.env.OTELCOL ?? 'otelcol-contrib';
const CONFIG = join(import.meta.dirname, '../../deploy/otel-collector/collector.yaml');
const isThere = spawnSync(OTELCOL, ['--version']).status === 0;
const LINES = 300;

describe.runIf(isThere)('the Collector of deploy/otel-collector', () => {
  let log: LdvServer;
  let database: pg.Client;
  let tokens: TestTokens;
  let authorization: Server;
  let front: Server;
  let isAway = false;
  let collector: ChildProcess | undefined;
  const queue = mkdtempSync(join(tmpdir(), 'otelcol-'));
  let listen: string;
  let env: Record<string, string>;

  const addressOf = async (server: Server): Promise<string> => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return `http://127.0.0.1:${address.port}`;
  };

  beforeAll(async () => {
    tokens = await startTokens();
    log = await startLdv({ tokens });
    database = new pg.Client(log.server.databaseUrl);
    await database.connect();
    authorization = createServer(async (_request, response) => {
      const token = { access_token: await tokens.token(['create:normal']), token_type: 'Bearer', expires_in: 3600 };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(token));
    });
    // Sits in front of the log, and is down when the test says so.
    front = createServer(async (request, response) => {
      if (isAway) {
        response.destroy();
        return;
      }
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
        typeof value === 'string' && !['host', 'connection', 'content-length'].includes(name) ? [[name, value]] : [],
      );
      const answer = await fetch(`${log.server.url}${request.url}`, {
        method: 'POST',
        headers,
        body: Buffer.concat(chunks),
      });
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
    listen = `127.0.0.1:${await freePort()}`;
    env = {
      PATH: process.env.PATH ?? '',
      LISTEN: listen,
      QUEUE: queue,
      LOG_URL: `${await addressOf(front)}/ldv`,
      TOKEN_URL: await addressOf(authorization),
      CLIENT_ID: 'balie',
      CLIENT_SECRET: 'geheim',
    };
  });
  afterAll(async () => {
    collector?.kill('SIGKILL');
    for (const server of [front, authorization]) {
      server.closeAllConnections();
      server.close();
    }
    await database.end();
    await log.stop();
    await tokens.close();
    rmSync(queue, { recursive: true });
  });

  async function start(): Promise<void> {
    collector = spawn(OTELCOL, ['--config', CONFIG], { env, stdio: 'ignore' });
    await expect.poll(() => send([]).catch(() => 0), { interval: 100 }).toBe(200);
  }

  async function send(spans: readonly ReturnType<typeof line>[]): Promise<number> {
    const answer = await fetch(`http://${listen}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-protobuf' },
      body: Buffer.from(encodeRequest(spans)),
    });
    return answer.status;
  }

  const stored = async (): Promise<number> => {
    const { rows } = await database.query('select count(*)::int as count from verwerkingenlog.ldv_keys');
    return rows[0].count;
  };

  it('delivers every line once, across a log outage and a killed Collector', async () => {
    await start();
    const lines = Array.from({ length: LINES }, () => line());
    expect(await send(lines.slice(0, 100))).toBe(200);
    await expect.poll(stored, { interval: 200 }).toBe(100);
    isAway = true;
    for (let from = 100; from < LINES; from += 50) expect(await send(lines.slice(from, from + 50))).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(await stored()).toBe(100);
    collector?.kill('SIGKILL');
    if (collector !== undefined) await once(collector, 'exit');
    await start();
    isAway = false;
    await expect.poll(stored, { interval: 200 }).toBe(LINES);
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(await stored()).toBe(LINES);
  });
});
