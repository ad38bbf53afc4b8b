/**
 * The council feed against what its work costs at the least, in one run and in turns: pages beside a bare server that writes the same bytes,
 * history in no cache beside a bare program that reads the same rows, streams beside bare writing, a long history beside a
 * short one; publishing beside nothing but its own goal; writers and readers beside a redaction.
 *
 *   node bench/feed.ts [--parts publishing,pages,history,streams,length,redaction] [--seconds 1] [--rounds 5] [--records 20000] [--length 1000000]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { createLogger } from '../src/lib/log.ts';
import { startChild } from './support/children.ts';
import { growHistory, measureHistory, measureLength } from './support/feed-history.ts';
import { measurePages } from './support/feed-pages.ts';
import { measurePublishing } from './support/feed-publishing.ts';
import { measureRedaction } from './support/feed-redaction.ts';
import { measureStreams } from './support/feed-streaming.ts';
import { createLoader } from './support/load.ts';

const { values } = parseArgs({
  options: {
    parts: { type: 'string', default: 'publishing,pages,history,streams,length,redaction' },
    seconds: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '5' },
    records: { type: 'string', default: '20000' },
    length: { type: 'string', default: '1000000' },
  },
});
const parts = values.parts.split(',');
const [seconds, rounds, records, length] = [values.seconds, values.rounds, values.records, values.length].map(Number);
const SHORT = 10_000;

const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-bench-'));
const log = createLogger('error');
const postgres = await startEmbedded({ dir: join(dir, 'pg'), log });
const loader = await createLoader();
const options = { databaseUrl: postgres.url, loader, seconds: seconds ?? 1, rounds: rounds ?? 5, dir };
try {
  console.log(`load by ${loader.name}, ${rounds} rounds of ${seconds} s in turns`);
  const needsRecords = ['publishing', 'pages', 'history'].some((part) => parts.includes(part));
  await migrate(postgres.url);
  if (needsRecords) await measurePublishing(postgres.url, dir, records ?? 0);
  if (parts.includes('pages')) await measurePages(options);
  if (parts.includes('history')) await measureHistory(options);
  if (parts.includes('streams')) await measureStreams(postgres.url);
  if (parts.includes('length')) await besideShort(length ?? 0);
  if (parts.includes('redaction')) await besideRedaction(records ?? 0);
} finally {
  await loader.stop();
  await postgres.stop();
  await rm(dir, { recursive: true, force: true });
}

/** A database of its own: what it redacts is published for it. */
async function besideRedaction(count: number): Promise<void> {
  const other = await startEmbedded({ dir: join(dir, 'redaction'), log });
  try {
    await measureRedaction(other.url, count);
  } finally {
    await other.stop();
  }
}

/** Two databases at once: one of them has ten thousand records. */
async function besideShort(long: number): Promise<void> {
  const other = await startEmbedded({ dir: join(dir, 'short'), log });
  try {
    for (const [url, count] of [
      [other.url, SHORT],
      [postgres.url, long],
    ] as const) {
      await migrate(url);
      await growHistory(url, count);
    }
    const short = { databaseUrl: other.url, records: SHORT };
    await measureLength(options, { short, long: { databaseUrl: postgres.url, records: long } });
  } finally {
    await other.stop();
  }
}

/** A server that starts migrates its database. */
async function migrate(databaseUrl: string): Promise<void> {
  await (await startChild(new URL('support/feed-server.ts', import.meta.url), { DATABASE_URL: databaseUrl })).stop();
}
