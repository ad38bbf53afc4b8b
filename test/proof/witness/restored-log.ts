/** The story of a restored log, with database and file from one backup, while a witness remembers more. */
import { copyFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { expect, inject } from 'vitest';
import { systemClock } from '../../../src/lib/time.ts';
import { deriveSeed } from '../../../src/proof/keys.ts';
import type { Checkpoint } from '../../../src/proof/tlog/note.ts';
import { checkpointIn, createSigner, WITNESS_KEY } from '../../../src/proof/tlog/note.ts';
import { addCheckpoint } from '../../../src/proof/witness/server.ts';
import { createProofWriters } from '../../../src/proof/writer.ts';
import { createPublisher } from '../../../src/raadsfeed/writer/publisher.ts';
import { readConfig } from '../../../src/settings/read-config.ts';
import { changeOf, PATIENT, servicePool, vergadering } from '../../raadsfeed/support.ts';
import { createDatabase } from '../../support/database.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { withDatabase } from '../../support/with-database.ts';
import { getText, hasLeaves, PROOF_KEY, stateFile } from '../support.ts';

export const ORIGIN = '127.0.0.1/proof/v1/raadsfeed';
export const logKey = createSigner(ORIGIN, deriveSeed(Buffer.from(PROOF_KEY, 'base64'), ORIGIN)).key;

/** A witness with nothing but `add-checkpoint`. */
export interface StandardWitness {
  readonly key: string;
  readonly url: string;
  /** Leaves of the log that it has cosigned. */
  size(): Promise<number>;
}

export interface MemoryWitness extends StandardWitness {
  isAway: boolean;
  readonly asked: () => number;
  close(): void;
}

/** One in this process's memory. */
export async function startMemoryWitness(): Promise<MemoryWitness> {
  const signer = createSigner('standard.example', Buffer.alloc(32, 61), WITNESS_KEY);
  let last: Checkpoint | undefined;
  let asked = 0;
  const update = async (_origin: string, decide: (before: Checkpoint | undefined) => string | undefined) => {
    const note = decide(last);
    if (note !== undefined) last = checkpointIn(note);
  };
  const witness = {
    isAway: false,
    key: signer.key.text,
    url: '',
    size: async () => last?.size ?? 0,
    asked: () => asked,
    close: () => void server.close(),
  };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += String(piece);
    asked += 1;
    const isKnown = request.method === 'POST' && request.url === '/add-checkpoint';
    if (witness.isAway || !isKnown) return response.writeHead(isKnown ? 503 : 404).end();
    const needs = { signer, logKeys: [logKey], now: () => Math.floor(Date.now() / 1000) };
    const { status, text } = await addCheckpoint(body, needs, update);
    const type = status === 409 ? 'text/x.tlog.size' : 'text/plain';
    return response.writeHead(status, { 'content-type': type }).end(`${text}\n`);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  witness.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  return witness;
}

export interface WitnessedLog {
  readonly server: TestServer;
  publish(names: readonly string[]): Promise<void>;
  checkpoint(): Promise<string>;
  ready(): Promise<string>;
  metric(name: string): Promise<string | undefined>;
  stop(): Promise<void>;
}

/** A feed with a proof log and one witness, on copies of its database and file. */
export async function openWitnessed(witness: StandardWitness, quorum = 'none') {
  const database = await createDatabase();
  const name = new URL(database.url).pathname.slice(1);
  const [state, kept] = [stateFile(), stateFile()];
  const policy = join(dirname(kept.path), 'policy');
  writeFileSync(policy, `log ${logKey.text}\nwitness w ${witness.key} ${witness.url}\nquorum ${quorum}\n`);
  const admin = new pg.Client(inject('databaseServer'));
  await admin.connect();
  return {
    async start(): Promise<WitnessedLog> {
      const env = { ...state.env, AREAS: 'raadsfeed', RAADSFEED_RATE_LIMIT: '0', PROOF_WITNESSES: policy };
      const server = await startServer({ env, databaseUrl: database.url });
      const pool = servicePool(database.url, 2);
      const config = readConfig({ AREAS: 'raadsfeed', ...state.env }, 'tool');
      const publisher = createPublisher({ pool, clock: systemClock, proof: createProofWriters(config) });
      return {
        server,
        publish: async (names) => void (await publisher.publish(names.map((one) => changeOf(vergadering(one))))),
        checkpoint: async () => (await getText(`${server.url}/proof/v1/raadsfeed/checkpoint`)).text,
        ready: async () => (await getText(`${server.managementUrl}/health/ready`)).text,
        metric: async (metric) =>
          new RegExp(`^${metric}\\{log="raadsfeed"\\} ([\\d.]+)$`, 'm').exec(
            (await getText(`${server.managementUrl}/metrics`)).text,
          )?.[1],
        async stop() {
          await pool.end();
          await server.stop();
        },
      };
    },
    /** Nothing may be running. */
    async backUp(): Promise<void> {
      await admin.query(`create database ${name}_backup template ${name} strategy file_copy`);
      copyFileSync(state.path, kept.path);
    },
    async restore(): Promise<void> {
      await admin.query(`drop database ${name} with (force)`);
      await admin.query(`create database ${name} template ${name}_backup strategy file_copy`);
      copyFileSync(kept.path, state.path);
    },
    async close(): Promise<void> {
      await admin.query(`drop database if exists ${name}_backup with (force)`);
      await admin.end();
      await database.drop();
      state.remove();
      kept.remove();
    },
    url: withDatabase(inject('databaseServer'), name),
  };
}

const meetings = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

/** 35 leaves are backed up, the witness has cosigned 330 when they are restored, and then 295 others wait. */
export async function restoredLogSignsNothing(witness: StandardWitness): Promise<void> {
  const service = await openWitnessed(witness);
  try {
    const before = await service.start();
    await before.publish(meetings('a', 35));
    const last = await hasLeaves(`${before.server.url}/proof/v1/raadsfeed`, 35);
    await expect.poll(() => witness.size(), PATIENT).toBe(35);
    await before.stop();
    await service.backUp();
    const on = await service.start();
    await on.publish(meetings('b', 295));
    await expect.poll(() => witness.size(), PATIENT).toBe(330);
    await on.stop();

    await service.restore();
    const restored = await service.start();
    try {
      await restored.publish(meetings('c', 295));
      const refusal =
        'nothing is signed: the witness w has cosigned 330 leaves, and the last checkpoint known here has 35';
      await expect.poll(restored.ready, PATIENT).toContain(refusal);
      expect(await restored.metric('koppelvlak_proof_conflict')).toBe('1');
      // Several rounds later still nothing.
      await expect
        .poll(() => restored.metric('koppelvlak_proof_lateness_seconds').then(Number), PATIENT)
        .toBeGreaterThan(1.5);
      expect(checkpointIn(await restored.checkpoint()).size).toBe(35);
      expect((await restored.checkpoint()).split('\n\n')[0]).toBe(last.split('\n\n')[0]);
      expect(await restored.metric('koppelvlak_proof_leaves')).toBe('35');
      expect(await restored.metric('koppelvlak_proof_queue')).toBe('295');
      expect(await witness.size()).toBe(330);
    } finally {
      await restored.stop();
    }
  } finally {
    await service.close();
  }
}
