/** The sealing key, for writers that must not sign; and that a wrong key is refused. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createFeedPublisher } from '../../src/client/raadsfeed.ts';
import { deriveSeed } from '../../src/proof/keys.ts';
import { quiet, removal, startFeed, vergadering } from '../raadsfeed/support.ts';
import { callProgram } from '../support/program.ts';
import { startServer } from '../support/server.ts';
import { koppelvlak } from '../verwerkingenlog/cli.ts';
import { hasLeaves, PROOF_KEY, type ProofFeed, startProofFeed } from './support.ts';

const OTHER_KEY = Buffer.alloc(32, 8).toString('base64');
let feed: ProofFeed;
let address: string;
let directory: string;
let sealingKey: string;

async function printed(key: string): Promise<string> {
  const { status, stdout } = await callProgram(['proof', 'key', '--sealing'], { PROOF_KEY: key });
  expect(status).toBe(0);
  return stdout.trim();
}

beforeAll(async () => {
  feed = await startProofFeed();
  address = `${feed.server.url}/proof/v1/raadsfeed`;
  directory = await mkdtemp(join(tmpdir(), 'sealing-'));
  sealingKey = await printed(PROOF_KEY);
});
afterAll(async () => {
  await feed.stop();
  await rm(directory, { recursive: true });
});

async function publish(key: string | undefined, lines: readonly object[]) {
  const { databaseUrl } = feed;
  const publisher = createFeedPublisher({ databaseUrl, log: quiet, ...(key === undefined ? {} : { sealingKey: key }) });
  try {
    return await publisher.publish(lines);
  } finally {
    await publisher.close();
  }
}

const published = async (): Promise<unknown> =>
  (await feed.pool.query('select count(*)::int as n from raadsfeed.records')).rows[0];

it('lets another application publish to a feed with a proof log', async () => {
  await expect(publish(undefined, [vergadering('zonder')])).rejects.toThrow(/sealing key/);
  await expect(publish(await printed(OTHER_KEY), [vergadering('anders')])).rejects.toThrow(
    /^sealingKey is not the key/,
  );
  expect(() => createFeedPublisher({ databaseUrl: feed.databaseUrl, sealingKey: PROOF_KEY })).toThrow(TypeError);
  expect(await published()).toEqual({ n: 0 });
  expect(await publish(sealingKey, [vergadering('een'), vergadering('twee')])).toEqual([
    { recorded: 1 },
    { recorded: 2 },
  ]);
  expect(await publish(sealingKey, [removal('redact', 'Vergadering', 'een')])).toEqual([
    { recorded: 3, redacted: [1] },
  ]);
  await hasLeaves(address, 3);
  expect((await feed.get('/raadsfeed/record/2')).status).toBe(200);
});

it('lets commands publish and read proofs, and the holder of the full key finds everything complete', async () => {
  const lines = join(directory, 'lines.ndjson');
  await writeFile(lines, JSON.stringify(vergadering('drie')));
  const env = { AREAS: 'raadsfeed', PROOF_SEALING_KEY: sealingKey };
  const before = await hasLeaves(address, 0);
  expect(await koppelvlak(feed.databaseUrl, ['feed', 'publish', lines], env)).toMatchObject({ code: 0 });
  await hasLeaves(address, Number(before.split('\n')[1]) + 1);
  const whole = await koppelvlak(feed.databaseUrl, ['proof', 'verify', '--json'], {
    ...feed.state.env,
    AREAS: 'raadsfeed',
  });
  expect(whole).toMatchObject({ code: 0, json: { logs: [{ faults: [] }] } });
});

it('is derived one way, and cannot sign', () => {
  const bytes = Buffer.from(sealingKey, 'base64');
  const key = Buffer.from(PROOF_KEY, 'base64');
  const signing = deriveSeed(key, '127.0.0.1/proof/v1/raadsfeed');
  for (const secret of [key, Buffer.from(signing), Buffer.from(deriveSeed(key, 'koppelvlak:padding'))])
    expect(bytes.includes(secret)).toBe(false);
});

it('is not enough for a service, which signs, nor valid beside another PROOF_KEY', async () => {
  const start = (env: Record<string, string>) =>
    startServer({ env: { AREAS: 'raadsfeed', ...env }, databaseUrl: feed.databaseUrl });
  await expect(start({ PROOF_SEALING_KEY: sealingKey })).rejects.toThrow(
    /PROOF_KEY is missing beside PROOF_SEALING_KEY/,
  );
  const both = { ...feed.state.env, PROOF_KEY: OTHER_KEY, PROOF_SEALING_KEY: sealingKey };
  await expect(start(both)).rejects.toThrow(/PROOF_SEALING_KEY does not follow from PROOF_KEY/);
});

it('a service or command with another PROOF_KEY is refused by name, even in a database without its check value', async () => {
  const env = { AREAS: 'raadsfeed', ...feed.state.env, PROOF_KEY: OTHER_KEY };
  const refusal = /PROOF_KEY is not the key that the proof logs of this database were started with/;
  const owner = new pg.Client(feed.databaseUrl);
  await owner.connect();
  const isRefused = async (): Promise<void> => {
    await expect(startServer({ env, databaseUrl: feed.databaseUrl })).rejects.toThrow(refusal);
    expect(await koppelvlak(feed.databaseUrl, ['feed', 'verify'], env)).toMatchObject({
      code: 1,
      error: expect.stringMatching(refusal),
    });
  };
  try {
    await isRefused();
    // As an earlier release left it.
    await owner.query('delete from proof.key_check');
    await isRefused();
    const sealing = { AREAS: 'raadsfeed', PROOF_SEALING_KEY: sealingKey };
    expect(await koppelvlak(feed.databaseUrl, ['feed', 'verify'], sealing)).toMatchObject({
      code: 1,
      error: expect.stringMatching(/PROOF_SEALING_KEY cannot be checked/),
    });
    // The right one stores it.
    const { server } = await feed.another(feed.state.env);
    await server.stop();
    expect(await koppelvlak(feed.databaseUrl, ['feed', 'verify'], sealing)).toMatchObject({ code: 0 });
  } finally {
    await owner.end();
  }
});

it('of two keys that are first at once, one wins', async () => {
  const fresh = await startFeed();
  try {
    const commands = [PROOF_KEY, OTHER_KEY].map((key) =>
      koppelvlak(fresh.databaseUrl, ['feed', 'verify'], { AREAS: 'raadsfeed', PROOF_KEY: key }),
    );
    expect((await Promise.all(commands)).map(({ code }) => code).sort()).toEqual([0, 1]);
  } finally {
    await fresh.stop();
  }
});
