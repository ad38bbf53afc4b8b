/**
 * The pages of the council information and their search: how fast the index is built and how large it is, at a tenth of the documents and at
 * all of them; the 95th percentile of searches with 8 connections beside a bare query of the same words; the rate of pages beside that of
 * the same resources as JSON; bytes of each page.
 *
 *   node bench/pages.ts [--documents 1000000] [--seconds 5] [--connections 8]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { createLogger } from '../src/kernel/log.ts';
import { startChild } from './support/children.ts';
import { createLoader } from './support/load.ts';
import { bareSearch, growPages, indexAll, indexSize, latencies, QUERIES } from './support/pages-index.ts';

const { values } = parseArgs({
  options: {
    documents: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '8' },
  },
});
const [documents = 0, seconds = 0, connections = 0] = [values.documents, values.seconds, values.connections].map(
  Number,
);

const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-bench-'));
const postgres = await startEmbedded({ dir: join(dir, 'pg'), log: createLogger('error') });
const loader = await createLoader();
try {
  // A server that starts migrates its database.
  await (await startServer({})).stop();
  for (const [first, last] of [
    [0, Math.floor(documents / 10)],
    [Math.floor(documents / 10), documents],
  ] as const) {
    await growPages(postgres.url, first, last);
    const { records, ms } = await indexAll(postgres.url);
    console.log(
      `index: ${last} documents; ${Math.round((records * 1000) / ms)} records a second; ${await indexSize(postgres.url)}`,
    );
    await measureSearch();
  }
  await measureRates();
} finally {
  await loader.stop();
  await postgres.stop();
  await rm(dir, { recursive: true, force: true });
}

async function startServer(env: Record<string, string>) {
  return startChild(new URL('./support/feed-server.ts', import.meta.url), { DATABASE_URL: postgres.url, ...env });
}

async function measureSearch(): Promise<void> {
  const server = await startServer({ RAADSFEED_PAGES: 'true' });
  try {
    const base = String(Object(await server.ask({})).url);
    for (const [name, query] of Object.entries(QUERIES)) {
      const pages = await latencies(connections, seconds, async () => {
        const answer = await fetch(`${base}/raad/zoeken?${query}`);
        if (answer.status !== 200) throw new Error(`${query}: ${answer.status}`);
        await answer.text();
      });
      const bare = await bareSearch(postgres.url, query, connections, seconds);
      console.log(
        `search ${name}: p50 ${pages.p50} ms, p95 ${pages.p95} ms, ${pages.perSecond} a second; bare query p95 ${bare.p95} ms, ${bare.perSecond} a second`,
      );
    }
  } finally {
    await server.stop();
  }
}

async function measureRates(): Promise<void> {
  const server = await startServer({ RAADSFEED_PAGES: 'true' });
  try {
    const base = String(Object(await server.ask({})).url);
    const pairs = [
      ['meeting', '/raad/gm9901/vergaderingen/v-0', '/ori/v1/organisaties/gm9901/vergaderingen/v-0'],
      ['document', '/raad/gm9901/informatieobjecten/d-1', '/ori/v1/organisaties/gm9901/informatieobjecten/d-1'],
      ['organisation', '/raad/gm9901', '/ori/v1/organisaties/gm9901/vergaderingen?limit=20'],
      ['front', '/raad', '/ori/v1/'],
    ] as const;
    for (const [name, page, json] of pairs) {
      const bytes = Buffer.byteLength(await (await fetch(base + page)).text());
      const load = { connections, seconds, status: 200 };
      const [pageRate, jsonRate] = [await loader.rate(base + page, load), await loader.rate(base + json, load)];
      console.log(`${name}: ${Math.round(pageRate)} pages a second, ${Math.round(jsonRate)} as JSON; ${bytes} bytes`);
    }
  } finally {
    await server.stop();
  }
}
