/** Concurrent bodies: the service accepts what it has room for, counted in bytes, and refuses the rest before reading it. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { type Running, startProgram } from '../support/program.ts';
import { startTokens, type TestTokens } from '../support/tokens.ts';
import { actie, KEY, newPerson, startLog } from './support.ts';

let database: TestDatabase;
let tokens: TestTokens;
let running: Running;
let url: string;

beforeAll(async () => {
  database = await createDatabase();
  tokens = await startTokens();
  running = startProgram(['serve'], {
    ...tokens.env,
    NODE_OPTIONS: '--max-old-space-size=128',
    NODE_ENV: 'test',
    PORT: '0',
    MANAGEMENT_PORT: '0',
    AREAS: 'verwerkingenlog',
    DATABASE_URL: database.url,
    VERWERKINGENLOG_KEY: KEY,
    'server.overloadEventLoopDelayMs': '0',
  });
  url = await listening();
});
afterAll(async () => {
  running?.child.kill('SIGTERM');
  await running?.ended;
  await tokens?.close();
  await database?.drop();
});

async function listening(): Promise<string> {
  for (;;) {
    const found = /"url":"(http:[^"]+)"/.exec(running.output().stdout)?.[1];
    if (found !== undefined) return found;
    if (running.child.exitCode !== null) throw new Error(running.output().stderr);
    await pause(50);
  }
}

it('survives sixty concurrent actions of nearly a megabyte', async () => {
  const objects = Array.from({ length: 2600 }, () => ({
    objecttype: 'persoon',
    soortObjectId: 'BSN',
    objectId: newPerson(),
    betrokkenheid: 'x'.repeat(240),
  }));
  const body = JSON.stringify(actie('1', { verwerkteObjecten: objects }));
  expect(body.length).toBeGreaterThan(850_000);
  const headers = { ...(await tokens.bearer(['create:normal'])), 'content-type': 'application/json' };
  const statuses = await Promise.all(
    Array.from({ length: 60 }, async () => {
      const answer = await fetch(`${url}/verwerkingenlog/v1/verwerkingsacties`, { method: 'POST', headers, body });
      await answer.arrayBuffer();
      if (answer.status !== 201) expect(answer.headers.get('retry-after')).not.toBeNull();
      return answer.status;
    }),
  );
  expect(new Set(statuses)).toEqual(new Set([201, 429]));
  expect(running.child.exitCode).toBeNull();
  const small = await fetch(`${url}/verwerkingenlog/v1/verwerkingsacties`, {
    method: 'POST',
    headers,
    body: JSON.stringify(actie(newPerson())),
  });
  expect(small.status).toBe(201);
});

it('counts the bytes of all bodies and of each client’s, from their arrival until the action is stored', async () => {
  const log = await startLog({ tokens, env: { 'server.bodiesInProgressBytes': '100000' } });
  const sockets: Socket[] = [];
  const head = async (subject: string, length: number) => {
    const { authorization } = await tokens.bearer(['create:normal'], { subject });
    return [
      'POST /verwerkingenlog/v1/verwerkingsacties HTTP/1.1',
      'Host: a',
      `Authorization: ${authorization}`,
      'Content-Type: application/json',
      `Content-Length: ${length}`,
      '\r\n',
    ].join('\r\n');
  };
  /** Announces a body, and sends this much of it. */
  const announce = async (subject: string, length: number, sent = ''): Promise<Socket> => {
    const { hostname, port } = new URL(log.server.url);
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    socket.write((await head(subject, length)) + sent);
    await pause(200);
    return socket;
  };
  const sized = (length: number): string => {
    const [object] = actie(newPerson()).verwerkteObjecten;
    const without = JSON.stringify(actie('1', { verwerkteObjecten: [object] }));
    return without.slice(0, -1) + ' '.repeat(Math.max(0, length - without.length)) + without.slice(-1);
  };
  const post = async (subject: string, body: string | ReadableStream): Promise<Response> =>
    fetch(`${log.server.url}/verwerkingenlog/v1/verwerkingsacties`, {
      method: 'POST',
      headers: { ...(await tokens.bearer(['create:normal'], { subject })), 'content-type': 'application/json' },
      body,
      ...(typeof body === 'string' ? {} : { duplex: 'half' }),
    });
  /** The first answer that is not 201, so the announced bytes have arrived. */
  const refusedOnce = async (subject: string): Promise<Response> => {
    for (const end = Date.now() + 60_000; ; await pause(20)) {
      const answer = await post(subject, sized(10_000));
      if (answer.status !== 201) return answer;
      if (Date.now() > end) throw new Error('announced bytes are not counted');
    }
  };
  try {
    // Only received bytes take room, however much is announced.
    const idle = await Promise.all(
      ['a', 'b', 'c'].flatMap((subject) => [1, 2, 3].map(() => announce(subject, 900_000))),
    );
    expect((await post('a', sized(44_000))).status).toBe(201);
    expect((await post('d', sized(44_000))).status).toBe(201);
    for (const socket of idle) socket.destroy();

    const slow = sized(45_000);
    const waiting = await announce('a', 45_000, slow.slice(0, 44_000));
    const refused = await refusedOnce('a');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await refused.json()).toMatchObject({ status: 429, code: 'rate-limit' });
    expect((await post('b', sized(50_000))).status).toBe(201);
    expect((await post('b', sized(56_000))).status).toBe(503);
    // One of unknown length counts as it arrives.
    expect((await post('b', new Blob([sized(1000)]).stream())).status).toBe(201);
    expect((await post('b', new Blob([sized(60_000)]).stream())).status).toBe(503);
    waiting.write(slow.slice(44_000));
    expect(String(await once(waiting, 'data'))).toMatch(/^HTTP\/1.1 201 /);
    expect((await post('a', sized(50_000))).status).toBe(201);

    const leaving = await announce('a', 45_000, ' '.repeat(44_000));
    expect((await refusedOnce('a')).status).toBe(429);
    leaving.destroy();
    await expect.poll(async () => (await post('a', sized(10_000))).status).toBe(201);
    // A single body is accepted, however small the room.
    expect((await post('a', sized(900_000))).status).toBe(201);
    expect((await post('b', new Blob([sized(1000)]).stream())).status).toBe(201);
  } finally {
    for (const socket of sockets) socket.destroy();
    await log.stop();
  }
});
