import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { readFeedRow } from '../../src/raadsfeed/store/records.ts';
import { callProgram, type Ended, type Running, startProgram } from '../support/program.ts';
import { type FeedServer, startFeed } from './support.ts';

/** Pruning waits for as long as a read of the service may take before it removes anything. */
export const SOON_PRUNED = { 'database.statementTimeoutMs': '2000' };

/** A service, and its operator in a folder beside it. */
export interface FeedOperator {
  readonly feed: FeedServer;
  /** The operator's folder. */
  readonly dir: string;
  /** Starts `koppelvlak feed …`; standard input stays open. */
  start(words: readonly string[], more?: Readonly<Record<string, string>>): Running;
  /** Runs it to completion with the given standard input. */
  run(words: readonly string[], input?: string): Promise<Ended>;
  head(): Promise<number>;
  stop(): Promise<void>;
}

async function startFeedOperator(): Promise<FeedOperator> {
  const feed = await startFeed();
  const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-test-'));
  const env = { DATABASE_URL: feed.databaseUrl, 'database.connectTimeoutMs': '30000' };
  const start: FeedOperator['start'] = (words, more = {}) =>
    startProgram(['feed', ...words], { ...env, ...more }, { cwd: dir, input: 'pipe' });
  return {
    feed,
    dir,
    start,
    run: (words, input = '') =>
      callProgram(['feed', ...words], words[0] === 'prune' ? { ...env, ...SOON_PRUNED } : env, { cwd: dir, input }),
    // From the database: the service may be some milliseconds behind a command.
    head: async () => (await readFeedRow(feed.pool)).head.sequenceNumber,
    async stop() {
      await feed.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** The operator of the running test file. */
export let operator: FeedOperator;

/** Gives a test file a service and its operator. */
export function feedOperator(): void {
  beforeAll(async () => {
    operator = await startFeedOperator();
  });
  afterAll(() => operator?.stop());
}
