/** The queue of entries without a position, and how it is emptied. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { Pool } from '../../src/database/pool.ts';
import { type Db, transaction } from '../../src/database/transaction.ts';
import { createSequencer, type SequencerOptions } from '../../src/proof/sequencer.ts';
import { openPublishedCheckpoints } from '../../src/proof/state.ts';
import { appendLeaves } from '../../src/proof/store/leaves.ts';
import { readPending, readQueue, takeFromQueue } from '../../src/proof/store/logs.ts';
import { Frontier } from '../../src/proof/tlog/merkle.ts';
import { servicePool } from '../raadsfeed/support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { PROOF_KEY, stateFile } from './support.ts';

const MANY = 20_000;
let database: TestDatabase;
/** The owner, who fills it. */
let client: pg.Client;
/** The service, which empties it. */
let pool: Pool;

beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client(database.url);
  await client.connect();
  pool = servicePool(database.url, 1);
});
afterAll(async () => {
  await pool.end();
  await client.end();
  await database.drop();
});
beforeEach(async () => {
  await client.query('delete from proof.queue');
});

/** Entries that contain their numbers. */
async function add(numbers: readonly number[]): Promise<void> {
  await client.query(
    `insert into proof.queue (log, number, entry)
     select 'verwerkingen', n, '\\x01'::bytea || sha256(int8send(n)) from unnest($1::bigint[]) n`,
    [numbers],
  );
}

it('returns as many as requested, in order of number, and the rest later', async () => {
  await add([6, 1, 9, 4]);
  expect(await readQueue(pool, 'verwerkingen')).toMatchObject({ pending: 4 });
  expect(await readQueue(pool, 'leveringen')).toEqual({ pending: 0, oldestSeconds: 0 });
  const waiting = await readPending(pool, 'verwerkingen', [4, 5, 9]);
  expect([...waiting.keys()].sort()).toEqual([4, 9]);
  const taken = await takeFromQueue(pool, 'verwerkingen', 3);
  expect(taken.map(({ number }) => number)).toEqual([1, 4, 6]);
  expect(taken[1]?.entry).toEqual(waiting.get(4));
  expect((await takeFromQueue(pool, 'verwerkingen', 3)).map(({ number }) => number)).toEqual([9]);
  expect(await takeFromQueue(pool, 'verwerkingen', 3)).toEqual([]);
});

it('is emptied without a nested loop, even when its statistics say that it is empty', async () => {
  const numbers = Array.from({ length: MANY }, (_, i) => i + 1);
  await add(numbers);
  await client.query('delete from proof.queue');
  // The pages stay, so that the planner trusts its count of them: zero.
  await client.query('vacuum (analyze, truncate false) proof.queue');
  await add(numbers);
  const plans: string[] = [];
  const explaining: Db = {
    async query<R extends pg.QueryResultRow>(query: string | pg.QueryConfig<unknown[]>, values?: unknown[]) {
      const { text, values: given } = typeof query === 'string' ? { text: query, values } : query;
      const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain ${text}`, given);
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
      return await pool.query<R>(query, values);
    },
  };
  expect(await takeFromQueue(explaining, 'verwerkingen', 1000)).toHaveLength(1000);
  expect(await takeFromQueue(explaining, 'verwerkingen', 1000, 1001)).toHaveLength(1000);
  expect(plans).toHaveLength(2);
  for (const plan of plans) {
    expect(plan).toMatch(/Delete on/);
    expect(plan).not.toMatch(/Nested Loop|Join/);
  }
});

it('is emptied into the tree while other work continues', async () => {
  const leaves = Array.from({ length: MANY }, (_, i) => ({ number: i + 1, entry: Buffer.alloc(33, i) }));
  let turns = 0;
  let turnsOfHashing: number | undefined;
  const poll = (): void => {
    turns += 1;
    if (turnsOfHashing === undefined) setImmediate(poll);
  };
  await transaction(pool, async (db) => {
    const watched: Db = {
      query(query: string | pg.QueryConfig<unknown[]>, values?: unknown[]) {
        turnsOfHashing ??= turns;
        return db.query(query, values);
      },
    };
    poll();
    await appendLeaves(watched, { log: 'leveringen', number: 1 }, new Frontier(), leaves);
  });
  expect(turnsOfHashing).toBeGreaterThan(3);
});

it('is emptied again after a program error, which is not a database conflict', async () => {
  const state = stateFile();
  const broken = new TypeError('undefined is not a function');
  const seen = vi.fn<NonNullable<SequencerOptions['seen']>>().mockRejectedValueOnce(broken).mockResolvedValue([]);
  try {
    const sequencer = createSequencer({
      pool,
      log: 'verwerkingen',
      proofKey: Buffer.from(PROOF_KEY, 'base64'),
      host: () => '127.0.0.1',
      published: await openPublishedCheckpoints(state.path),
      pad: 0,
      intervalSeconds: 0,
      seen,
    });
    // Rejected, so that it is counted and logged with its stack.
    await expect(sequencer.round()).rejects.toBe(broken);
    expect(sequencer.conflict()).toBeUndefined();
    await sequencer.round();
    // Data written by somebody else is a conflict, and its location is reported.
    await client.query(`update proof.logs set checkpoint = 'x' || checkpoint where log = 'verwerkingen'`);
    await sequencer.round();
    expect(sequencer.conflict()).toBeInstanceOf(Error);
  } finally {
    state.remove();
  }
});
