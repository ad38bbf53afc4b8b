/**
 * Compares the council feed with the minimum cost of its work, alternating in one run: pages against a bare server that
 * writes the same bytes, uncached history against a bare program that reads the same rows, and streams against bare
 * writing. Publishing is compared with its target only.
 *
 *   node bench/feed.ts [--parts publishing,pages,history,streams] [--seconds 1] [--rounds 5] [--records 20000]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { createLogger } from '../src/lib/log.ts';
import { startChild } from './support/children.ts';
import { measureHistory } from './support/feed-history.ts';
import { measurePages } from './support/feed-pages.ts';
import { measurePublishing } from './support/feed-publishing.ts';
import { measureStreams } from './support/feed-streaming.ts';
import { createLoader } from './support/load.ts';

const { values } = parseArgs({
  options: {
    parts: { type: 'string', default: 'publishing,pages,history,streams' },
    seconds: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '5' },
    records: { type: 'string', default: '20000' },
  },
});
const parts = values.parts.split(',');
const [seconds, rounds, records] = [values.seconds, values.rounds, values.records].map(Number);

const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-bench-'));
const log = createLogger('error');
const postgres = await startEmbedded({ dir: join(dir, 'pg'), log });
const loader = await createLoader();
const options = { databaseUrl: postgres.url, loader, seconds: seconds ?? 1, rounds: rounds ?? 5 };
try {
  console.log(`${rounds} rounds of ${seconds} s, alternating`);
  const needsRecords = ['publishing', 'pages', 'history'].some((part) => parts.includes(part));
  await migrate(postgres.url);
  if (needsRecords) await measurePublishing(postgres.url, dir, records ?? 0);
  if (parts.includes('pages')) await measurePages(options);
  if (parts.includes('history')) await measureHistory(options);
  if (parts.includes('streams')) await measureStreams(postgres.url);
} finally {
  await loader.stop();
  await postgres.stop();
  await rm(dir, { recursive: true, force: true });
}

/** The server migrates its database when it starts. */
async function migrate(databaseUrl: string): Promise<void> {
  await (await startChild(new URL('support/feed-server.ts', import.meta.url), { DATABASE_URL: databaseUrl })).stop();
}
