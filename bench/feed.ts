/**
 * The council feed against what its work costs at the least, in one run: pages beside a bare server that writes the same bytes, history in
 * no cache beside a bare program that reads the same rows, streams beside bare writing, publishing beside nothing but its own goal.
 *
 *   node bench/feed.ts [seconds per measurement] [records]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { startEmbedded } from '../src/kernel/database/embedded.ts';
import { createLogger } from '../src/kernel/log.ts';
import { measurePages } from './support/feed-pages.ts';
import { measurePublishing } from './support/feed-publishing.ts';
import { measureStreams } from './support/feed-streaming.ts';
import { createLoader } from './support/load.ts';

const seconds = Number(process.argv[2] ?? 3);
const records = Number(process.argv[3] ?? 20_000);

const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-bench-'));
const postgres = await startEmbedded({ dir: join(dir, 'pg'), log: createLogger('error') });
const loader = await createLoader();
try {
  console.log(`load by ${loader.name}, ${seconds} s each; ${records} records`);
  await measurePublishing(postgres.url, dir, records);
  await measurePages({ databaseUrl: postgres.url, loader, seconds, dir });
  await measureStreams(postgres.url);
} finally {
  await loader.stop();
  await postgres.stop();
  await rm(dir, { recursive: true, force: true });
}
