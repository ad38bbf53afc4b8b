/** History that is in no cache: every page is read from the database, beside a bare program that reads the same rows with `pg`. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { request } from 'undici';
import { generateHistory } from '../../test/raadsfeed/generate-history.ts';
import { startChild } from './children.ts';
import { inTurns, tellComparison } from './compare.ts';
import { CONNECTIONS, type PagesOptions } from './feed-pages.ts';
import { asked } from './measured-child.ts';

const FULL = '/ori/v1/feed?limit=500';
const NO_CACHE = { RAADSFEED_CACHE_MB: '0' };

export async function measureHistory({ databaseUrl, loader, seconds, rounds }: PagesOptions): Promise<void> {
  const env = { DATABASE_URL: databaseUrl, ...NO_CACHE };
  const server = await startChild(new URL('feed-server.ts', import.meta.url), env);
  const floor = await startChild(new URL('../floors/feed-rows.ts', import.meta.url), env);
  try {
    const { url } = Object(await server.ask({}));
    const bare = Object(await floor.ask({}));
    const first = Object(await (await request(`${url}${FULL}`)).body.json());
    for (const connections of CONNECTIONS) {
      const load = { connections, seconds, status: 200 };
      const ours = asked('ours', server, loader, `${url}${FULL}&cursor=${first.cursor}`, load);
      const theirs = asked('rows read with pg', floor, loader, `${bare.url}/500`, load);
      await inTurns([{ ours, others: [theirs] }], 1);
      for (const found of await inTurns([{ ours, others: [theirs] }], rounds)) {
        tellComparison('full page in no cache', connections, found, 0.8);
      }
    }
  } finally {
    await server.stop();
    await floor.stop();
  }
}

/** Adds generated records up to a number. */
export async function growHistory(databaseUrl: string, records: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query('select head::int as head from raadsfeed.feed');
    const STEP = 500_000;
    for (let from = Number(rows[0].head); from < records; from += STEP) {
      await generateHistory(client, from + 1, Math.min(from + STEP, records));
      console.error(`${Math.min(from + STEP, records)} records of history`);
    }
    // All of it now: else the database does it while the pages are measured.
    await client.query('vacuum analyze');
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
}

/** A page in the middle of a long history beside one of a short history, in turns. */
export async function measureLength(
  { loader, seconds, rounds }: PagesOptions,
  { short, long }: Record<'short' | 'long', { databaseUrl: string; records: number }>,
): Promise<void> {
  const open = async ({ databaseUrl, records }: { databaseUrl: string; records: number }) => {
    const env = { DATABASE_URL: databaseUrl, ...NO_CACHE };
    const child = await startChild(new URL('feed-server.ts', import.meta.url), env);
    const { url } = Object(await child.ask({}));
    const { cursor } = Object(await (await request(`${url}/ori/v1/feed?limit=1`)).body.json());
    return { child, url, databaseUrl, cursor: middleCursor(String(cursor), Math.floor(records / 2)), records };
  };
  const few = await open(short);
  const many = await open(long);
  try {
    // Of one organisation the short history has 250 records after its middle.
    for (const query of ['limit=500', 'limit=200&organisatiecode=gm9007']) {
      const path = ({ url, cursor }: typeof few): string => `${url}/ori/v1/feed?${query}&cursor=${cursor}`;
      const [ofFew, ofMany] = await Promise.all(
        [few, many].map(async (side) => await blocksPerPage(side.databaseUrl, path(side))),
      );
      console.log(
        `${titleOf(query)}: ${ofMany?.toFixed(0)} blocks of the database amid ${many.records} records, ${ofFew?.toFixed(0)} amid ${few.records}`,
      );
      for (const connections of [1, 16]) {
        const load = { connections, seconds, status: 200 };
        const side = (one: typeof few) => asked(`${one.records} records`, one.child, loader, path(one), load);
        const match = { ours: side(many), others: [side(few)] };
        await inTurns([match], 1);
        for (const found of await inTurns([match], rounds)) {
          tellComparison(`${titleOf(query)} amid ${many.records}`, connections, found, 0.9);
        }
      }
    }
  } finally {
    await few.child.stop();
    await many.child.stop();
  }
}

function titleOf(query: string): string {
  return query.split('&')[1] ?? 'a page';
}

/** Pages to count over, and the time after which the database has surely added up what its idle connections did, in milliseconds. */
const COUNTED_PAGES = 300;
const ADDED_UP_MS = 11_000;

/** How many blocks the database looks at for a page, in memory or not: a cost that no busy machine changes. */
async function blocksPerPage(databaseUrl: string, url: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const blocks = async (): Promise<number> => {
    await sleep(ADDED_UP_MS);
    const { rows } = await client.query(
      `select (sum(heap_blks_hit + heap_blks_read) + sum(idx_blks_hit + idx_blks_read))::float as blocks
         from pg_statio_user_tables where schemaname = 'raadsfeed'`,
    );
    return rows[0].blocks;
  };
  try {
    const before = await blocks();
    for (let i = 0; i < COUNTED_PAGES; i += 1) await (await request(url)).body.dump();
    return ((await blocks()) - before) / COUNTED_PAGES;
  } finally {
    await client.end();
  }
}

/** A cursor of the same feed at another number; generated records have epoch 0. */
function middleCursor(cursor: string, sequenceNumber: number): string {
  const bytes = Buffer.from(cursor, 'base64url');
  bytes.writeUIntBE(sequenceNumber, bytes.length - 10, 6);
  bytes.writeInt32BE(0, bytes.length - 4);
  return bytes.toString('base64url');
}
