/**
 * Measures the council information pages and their search, with the index filled to each size: indexing rate, index
 * size, the duration of every kind of search over 8 connections and its CPU time against a bare query of the same
 * words; and the rate of pages against the same content as JSON, with and without caching.
 *
 *   node bench/pages.ts [--sizes 100000,1000000] [--seconds 20] [--connections 8] [--data DIR]
 *
 * With `--data` the filled database stays in that directory for the next run.
 */
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { createLogger } from '../src/lib/log.ts';
import { childrenClock, startChild } from './support/children.ts';
import { countFilled, countPublished, fillIndex } from './support/fill-index.ts';
import { createLoader } from './support/load.ts';
import { growPages, indexAll, indexSize, servicePool } from './support/pages-index.ts';
import { bareSearch, costs, latencies, type Search, searchAddress } from './support/searches.ts';

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '100000,1000000' },
    seconds: { type: 'string', default: '20' },
    connections: { type: 'string', default: '8' },
    data: { type: 'string' },
  },
});
const sizes = values.sizes.split(',').map(Number);
const [seconds = 0, connections = 0] = [values.seconds, values.connections].map(Number);
/** Documents published and indexed normally, at each size. */
const SLICE = 2000;
/** Searches of each kind whose CPU time is measured. */
const TIMES = 20;
const BARE_TIMES = 2;
/** Their sequence numbers, above all bulk-filled ones. */
const FIRST_PUBLISHED = 10_000_000;
/** A database of a million documents would have more memory than the embedded one gets by default. */
const SETTINGS = { shared_buffers: '2GB', max_wal_size: '4GB' };

await using closing = new AsyncDisposableStack();
const dir = values.data ?? closing.use(await mkdtempDisposable(join(tmpdir(), 'koppelvlak-bench-'))).path;
const postgres = await startEmbedded({ dir: join(dir, 'pg'), log: createLogger('error'), settings: SETTINGS });
closing.defer(postgres.stop);
const loader = closing.use(await createLoader());
// The server migrates its database when it starts.
await (await startServer({})).stop();
// The index recognises its feed and keeps the bulk-filled rows.
await indexAll(postgres.url);
for (const size of sizes) {
  await grow(size);
  await measureSearch(size);
}
await measureRates();

async function startServer(env: Record<string, string>) {
  return startChild(new URL('support/feed-server.ts', import.meta.url), { DATABASE_URL: postgres.url, ...env });
}

function perSecond(count: number, ms: number): number {
  return Math.round((count * 1000) / ms);
}

async function grow(size: number): Promise<void> {
  const filled = await countFilled(postgres.url);
  if (filled < size) {
    const { rowsMs, indexMs } = await fillIndex(postgres.url, filled, size);
    console.log(
      `filled to ${size} documents of 46 words (above 100000 the same texts again): ${Math.round(rowsMs / 1000)} s for the rows, ${Math.round(indexMs / 1000)} s for their indexes`,
    );
    await indexSize(postgres.url);
  }
  const first = FIRST_PUBLISHED + (await countPublished(postgres.url));
  await growPages(postgres.url, first, first + SLICE);
  const { records, ms } = await indexAll(postgres.url);
  console.log(`at ${size} documents ${perSecond(records, ms)} published records a second are indexed (${records})`);
  console.log(await indexSize(postgres.url));
}

async function measureSearch(size: number): Promise<void> {
  // Caching is off: every search reaches the database.
  const server = await startServer({ RAADSFEED_PAGES: 'true', 'raadsfeed.cacheMb': '0' });
  const pool = servicePool(postgres.url);
  try {
    const base = String(Object(await server.ask({})).url);
    let tooSlow = 0;
    const page = async (search: Search): Promise<void> => {
      const answer = await fetch(base + searchAddress(search));
      // 503: it exceeded the 3 seconds of a search.
      if (answer.status === 503) tooSlow += 1;
      else if (answer.status !== 200) throw new Error(`${searchAddress(search)}: ${answer.status}`);
      await answer.text();
    };
    const bareQuery = (search: Search): Promise<void> => bareSearch(pool, search);
    // A connection reaches full speed only after it has visited most of the index.
    await latencies(connections, seconds, page);
    tooSlow = 0;
    const pages = await latencies(connections, seconds, page);
    console.log(`${size} documents, ${connections} connections: milliseconds of the page at p50 and p95`);
    console.log(`  longer than 3 s, and refused: ${tooSlow}`);
    for (const [kind, { p50, p95, count }] of pages) console.log(`  ${kind}: ${p50}, ${p95} (${count} searches)`);
    const [postmaster = ''] = (await readFile(join(dir, 'pg', 'postgres', 'postmaster.pid'), 'utf8')).split('\n');
    // CPU time, which is independent of other load on the machine.
    const database = childrenClock(Number(postmaster));
    const ofPage = await costs(TIMES, page, () => server.processorMs() + database());
    // Some take seconds: nothing narrows them.
    const ofBare = await costs(BARE_TIMES, bareQuery, database);
    console.log('  milliseconds of CPU, for the page and for a bare query:');
    for (const [kind, ms] of ofPage) console.log(`  ${kind}: ${ms}; ${ofBare.get(kind) ?? '-'}`);
  } finally {
    await pool.end();
    await server.stop();
  }
}

async function measureRates(): Promise<void> {
  const first = FIRST_PUBLISHED;
  const pool = servicePool(postgres.url);
  const { rows } = await pool.query<{ code: string }>(
    `select organisatiecode as code from pages.items where bronidentificatie = $1::text and resource_type = 'Informatieobject'`,
    [`d-${first}`],
  );
  await pool.end();
  const { code } = rows[0] ?? { code: '' };
  const kept = await startServer({ RAADSFEED_PAGES: 'true' });
  const none = await startServer({ RAADSFEED_PAGES: 'true', 'raadsfeed.cacheMb': '0' });
  try {
    const [withMemory, without] = [String(Object(await kept.ask({})).url), String(Object(await none.ask({})).url)];
    const pairs = [
      ['front', '/raad', '/ori/v1/'],
      [
        'meeting',
        `/raad/${code}/vergaderingen/v-${first / 20}`,
        `/ori/v1/organisaties/${code}/vergaderingen/v-${first / 20}`,
      ],
      [
        'document',
        `/raad/${code}/informatieobjecten/d-${first}`,
        `/ori/v1/organisaties/${code}/informatieobjecten/d-${first}`,
      ],
      ['organisation', `/raad/${code}`, `/ori/v1/organisaties/${code}/vergaderingen?limit=20`],
      ['search', '/raad/zoeken?q=voorstel', `/ori/v1/organisaties/${code}/informatieobjecten?limit=20`],
    ] as const;
    for (const [name, page, json] of pairs) {
      const bytes = Buffer.byteLength(await (await fetch(withMemory + page)).text());
      const load = { connections, seconds: Math.max(1, Math.round(seconds / 8)), status: 200 };
      const rate = async (url: string): Promise<number> => Math.round(await loader.rate(url, load));
      const figures = [
        await rate(withMemory + page),
        await rate(withMemory + json),
        await rate(without + page),
        await rate(without + json),
      ];
      const [a, b, c, d] = figures;
      console.log(`${name}: ${a} pages a second, ${b} as JSON; without caching: ${c} and ${d}; ${bytes} bytes`);
    }
  } finally {
    await kept.stop();
    await none.stop();
  }
}
