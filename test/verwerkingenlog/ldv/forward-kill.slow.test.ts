import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { freePort } from '../../support/free-port.ts';
import { type Running, startProgram } from '../../support/program.ts';
import { startTokens, type TestTokens } from '../../support/tokens.ts';
import { actie, KEY, newPerson } from '../support.ts';

/** For twenty: `FORWARD_KILLS=20 npm run test:slow -- test/verwerkingenlog/ldv/forward-kill.slow.test.ts`. */
const KILLS = Number(process.env.FORWARD_KILLS ?? 3);
const WRITERS = 4;
/** The longest time from an instance's first answer until it is killed. */
const LONGEST_MS = 700;

interface Instance {
  readonly url: string;
  readonly database: TestDatabase;
  readonly client: pg.Client;
  readonly env: Record<string, string>;
  running: Running;
}

let tokens: TestTokens;
const instances: Instance[] = [];
beforeAll(async () => {
  tokens = await startTokens();
});
afterAll(async () => {
  for (const { running, client, database } of instances) {
    running.child.kill('SIGKILL');
    await running.ended;
    await client.end();
    await database.drop();
  }
  await tokens.close();
});

async function open(name: string, more: Record<string, string>): Promise<Instance> {
  const database = await createDatabase();
  const port = await freePort();
  const env = {
    NODE_ENV: 'test',
    AREAS: 'verwerkingenlog',
    PORT: String(port),
    MANAGEMENT_PORT: '0',
    DATABASE_URL: database.url,
    VERWERKINGENLOG_KEY: KEY,
    LDV_UNKNOWN_ACTIVITY: 'normaal',
    PUBLIC_BASE_URL: `https://${name}.example`,
    LDV_PEERS: 'logboek-a,logboek-b',
    LOG_LEVEL: 'error',
    ...tokens.env,
    ...more,
  };
  const client = new pg.Client(database.url);
  await client.connect();
  const instance = { url: `http://127.0.0.1:${port}`, database, client, env, running: startProgram(['serve'], env) };
  instances.push(instance);
  await answers(instance);
  return instance;
}

async function answers({ url, running }: Instance): Promise<void> {
  for (;;) {
    if (running.child.exitCode !== null) throw new Error(`it ended: ${running.output().stderr}`);
    const answer = await fetch(`${url}/verwerkingenlog/v1/openapi.json`).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.status === 200) return;
    await sleep(20);
  }
}

async function kill(instance: Instance): Promise<void> {
  instance.running.child.kill('SIGKILL');
  await instance.running.ended;
}

async function restart(instance: Instance): Promise<void> {
  instance.running = startProgram(['serve'], instance.env);
  await answers(instance);
}

it('nothing is lost, duplicated or out of order when either logbook is killed, again and again', {
  timeout: 900_000,
}, async () => {
  const b = await open('b', {});
  const a = await open('a', {
    LDV_FORWARD_URL: `${b.url}/ldv`,
    LDV_FORWARD_TOKEN_URL: tokens.tokenUrl,
    LDV_FORWARD_CLIENT_ID: 'logboek-a',
    LDV_FORWARD_CLIENT_SECRET: 'geheim',
    'ldvOut.forwardTimeoutMs': '1000',
    'ldvOut.forwardBackoffMaxSeconds': '1',
    'ldvOut.forwardBatch': '7',
  });
  const { authorization } = await tokens.bearer(['create:normal']);
  let stopped = false;
  const acknowledged: string[][] = [];

  /** Sequentially, each until it is acknowledged, so that they are in order. */
  const writer = async (own: string[], name: string): Promise<void> => {
    for (let n = 0; !stopped; n += 1) {
      const actieNaam = `${name} ${n}`;
      const key = randomUUID();
      const body = JSON.stringify(actie(newPerson(), { actieNaam }));
      for (;;) {
        const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': key };
        const address = `${a.url}/verwerkingenlog/v1/verwerkingsacties`;
        const answer = await fetch(address, { method: 'POST', headers, body }).catch(() => undefined);
        await answer?.arrayBuffer().catch(() => undefined);
        if (answer?.status === 201) break;
        await sleep(20);
      }
      own.push(actieNaam);
      await sleep(50);
    }
  };
  const writers = Array.from({ length: WRITERS }, (_, n) => {
    const own: string[] = [];
    acknowledged.push(own);
    return writer(own, `schrijver ${n}`);
  });

  for (let n = 1; n <= KILLS; n += 1) {
    await sleep(Math.random() * LONGEST_MS);
    // Sometimes the other one, sometimes both at once.
    const killed = n % 5 === 0 ? [a, b] : n % 3 === 0 ? [b] : [a];
    await Promise.all(killed.map(kill));
    await Promise.all(killed.map(restart));
  }
  stopped = true;
  await Promise.all(writers);
  const waiting = async () =>
    (await a.client.query('select count(*)::integer as n from verwerkingenlog.ldv_forward_queue')).rows[0]?.n;
  await expect.poll(waiting, { interval: 200 }).toBe(0);

  const { rows } = await b.client.query<{ name: string; at: Date }>(
    'select actie_naam as name, tijdstip_registratie as at from verwerkingenlog.versies',
  );
  const wanted = acknowledged.flat();
  expect(wanted.length).toBeGreaterThan(KILLS);
  expect(rows.map(({ name }) => name).toSorted()).toEqual(wanted.toSorted());
  const registered = new Map(rows.map(({ name, at }) => [name, at.getTime()]));
  for (const own of acknowledged) {
    const times = own.map((name) => registered.get(name) ?? 0);
    expect(times).toEqual(times.toSorted((x, y) => x - y));
  }
  const issues = await a.client.query('select * from verwerkingenlog.ldv_forward_issues');
  expect(issues.rows).toEqual([]);
});
