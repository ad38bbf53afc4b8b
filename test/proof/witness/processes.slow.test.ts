/** Three services, each with its own database, the log as a process: two vouch for it, and a third witness lies. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deriveSeed } from '../../../src/proof/keys.ts';
import { createSigner, WITNESS_KEY } from '../../../src/proof/tlog/note.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { freePort } from '../../support/free-port.ts';
import { type Running, startProgram } from '../../support/program.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { publishMeetings } from '../proof-drill.ts';
import { getText } from '../support.ts';
import { judgeByPolicy } from '../tlog/judge-by-policy.ts';

const ORIGIN = '127.0.0.1/proof/v1/raadsfeed';
const WITNESS = '127.0.0.1/proof/v1/witness';
const liarKey = createSigner('liar.example', Buffer.alloc(32, 33), WITNESS_KEY);

class Municipality {
  readonly proofKey: Buffer;
  readonly directory: string;
  readonly database: TestDatabase;
  readonly url: string;
  readonly management: string;
  #running: Running | undefined;
  #here: TestServer | undefined;

  private constructor(byte: number, directory: string, database: TestDatabase, ports: readonly [number, number]) {
    this.proofKey = Buffer.alloc(32, byte);
    this.directory = directory;
    this.database = database;
    [this.url, this.management] = [`http://127.0.0.1:${ports[0]}`, `http://127.0.0.1:${ports[1]}`];
  }

  static async open(byte: number, under: string): Promise<Municipality> {
    const directory = join(under, String(byte));
    await mkdir(directory);
    return new Municipality(byte, directory, await createDatabase(), [await freePort(), await freePort()]);
  }

  get state(): string {
    return join(this.directory, 'state.json');
  }

  get env(): Record<string, string> {
    return {
      NODE_ENV: 'test',
      AREAS: 'raadsfeed',
      LOG_LEVEL: 'error',
      'server.overloadEventLoopDelayMs': '0',
      PORT: new URL(this.url).port,
      MANAGEMENT_PORT: new URL(this.management).port,
      DATABASE_URL: this.database.url,
      KOPPELVLAK_HOME: this.directory,
      PROOF_KEY: this.proofKey.toString('base64'),
      PROOF_STATE: this.state,
      'proof.intervalSeconds': '1',
    };
  }

  /** As a separate process. */
  async start(more: Record<string, string>): Promise<void> {
    const running = startProgram(['serve'], { ...this.env, ...more });
    this.#running = running;
    for (;;) {
      if (running.child.exitCode !== null) throw new Error(`it ended: ${running.output().stderr}`);
      if ((await this.ready()) !== '') return;
      await sleep(20);
    }
  }

  /** In this process, which takes a tenth of the time. */
  async startHere(more: Record<string, string>): Promise<void> {
    this.#here = await startServer({ databaseUrl: this.database.url, env: { ...this.env, ...more } });
  }

  /** A process that is killed, as in a power cut. */
  async end(): Promise<void> {
    this.#running?.child.kill('SIGKILL');
    await this.#running?.ended;
    await this.#here?.stop();
  }

  /** Empty while it does not answer. */
  async ready(): Promise<string> {
    return await getText(`${this.management}/health/ready`).then(
      ({ text }) => text,
      () => '',
    );
  }
}

let directory: string;
let log: Municipality;
let steady: Municipality;
let wavering: Municipality;
let liar: Server;
let asked = 0;
let policy: string;
let watching: Record<string, string>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'witnesses-'));
  [log, steady, wavering] = await Promise.all([
    Municipality.open(51, directory),
    Municipality.open(52, directory),
    Municipality.open(53, directory),
  ]);
  // It signs a tree other than the one it was shown.
  liar = createServer((request, response) => {
    asked += 1;
    request.resume();
    response.end(liarKey.sign(`${ORIGIN}\n1\n${Buffer.alloc(32).toString('base64')}\n`, 1_800_000_000));
  });
  await new Promise<void>((listening) => liar.listen(0, '127.0.0.1', listening));
  const address = liar.address();
  const logs = join(directory, 'logs');
  await writeFile(logs, `${createSigner(ORIGIN, deriveSeed(log.proofKey, ORIGIN)).key.text}\n`);
  watching = { PROOF_WITNESS_FOR: logs };
  const lines = [steady, wavering].map(({ proofKey, url }, place) => {
    const { key } = createSigner(WITNESS, deriveSeed(proofKey, WITNESS), WITNESS_KEY);
    return `witness w${place} ${key.text} ${url}/proof/v1/witness`;
  });
  lines.push(`witness liar ${liarKey.key.text} http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
  const key = createSigner(ORIGIN, deriveSeed(log.proofKey, ORIGIN)).key.text;
  policy = [`log ${key}`, ...lines, 'group two 2 w0 w1 liar', 'quorum two', ''].join('\n');
  await writeFile(join(directory, 'policy'), policy);
  await Promise.all([steady.startHere(watching), wavering.startHere(watching), log.start(witnessed())]);
});
afterAll(async () => {
  for (const one of [log, steady, wavering]) {
    await one.end();
    await one.database.drop();
  }
  liar.close();
  await rm(directory, { recursive: true });
});

function witnessed(): Record<string, string> {
  return { PROOF_WITNESSES: join(directory, 'policy') };
}

/** Publishes up to this many meetings in total. */
async function publish(count: number): Promise<void> {
  await publishMeetings(log.database.url, { ...log.env, NODE_ENV: 'test' }, count);
}

/** The policy's verdict on the checkpoint that the log shows. */
async function judged(): Promise<{ size?: number; by?: string[]; reason?: string }> {
  const { text } = await getText(`${log.url}/proof/v1/raadsfeed/checkpoint`);
  const opened = judgeByPolicy(text, policy);
  if ('reason' in opened) return opened;
  return { size: opened.checkpoint.size, by: opened.cosignatures.map(({ key }) => key.name) };
}

const BOTH = [WITNESS, WITNESS];

it('has a quorum of two of three: a liar does not count, and one that was down catches up', async () => {
  await publish(5);
  await expect.poll(judged).toEqual({ size: 5, by: BOTH });
  expect(asked).toBeGreaterThan(0);
  expect(await log.ready()).not.toContain('too few witnesses');

  await wavering.end();
  await publish(10);
  await expect.poll(() => log.ready()).toContain(`too few witnesses cosigned ${ORIGIN}; missing: w1, liar`);
  expect(await judged()).toEqual({ reason: 'too few witnesses cosigned the checkpoint' });

  // A recreated log does not know what its witnesses saw: they say so with status 409.
  await log.end();
  await Promise.all([wavering.startHere(watching), log.start(witnessed())]);
  await expect.poll(judged).toEqual({ size: 10, by: BOTH });
  await expect.poll(() => log.ready()).not.toContain('too few witnesses');
  const { text } = await getText(`${wavering.management}/metrics`);
  expect(text).toMatch(/add-checkpoint",status="409"/);
});

it('continues when PROOF_STATE is lost and witnesses confirm its tree, and signs nothing otherwise', async () => {
  await log.end();
  await rm(log.state);
  await log.start(witnessed());
  await publish(15);
  await expect.poll(judged).toEqual({ size: 15, by: BOTH });
  expect(await log.ready()).not.toContain('nothing is signed');

  await log.end();
  await rm(log.state);
  await log.start({});
  await publish(20);
  await expect
    .poll(() => log.ready())
    .toContain('nothing is signed: PROOF_STATE has no checkpoint of a tree that is not empty');

  // Nor when no witness can be reached; one of them is enough to continue.
  await log.end();
  await rm(log.state, { force: true });
  await Promise.all([steady.end(), wavering.end()]);
  await log.start(witnessed());
  await expect.poll(() => log.ready()).toContain('nothing is signed');
  await steady.startHere(watching);
  await expect.poll(() => log.ready()).not.toContain('nothing is signed');
});
