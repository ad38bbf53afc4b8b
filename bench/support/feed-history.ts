/**
 * Uncached history: every page is read from the database, compared with a bare program that reads the same rows with
 * `pg`.
 */
import pg from 'pg';
import { request } from 'undici';
import { generateHistory } from '../../test/raadsfeed/generate-history.ts';
import { startChild } from './children.ts';
import { inTurns, tellComparison } from './compare.ts';
import { CONNECTIONS, type PagesOptions } from './feed-pages.ts';
import { asked } from './measured-child.ts';

const FULL = '/ori/v1/feed?limit=500';
const NO_CACHE = { 'raadsfeed.cacheMb': '0' };

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
        tellComparison('full page, uncached', connections, found, 0.8);
      }
    }
  } finally {
    await server.stop();
    await floor.stop();
  }
}

/** Adds generated records up to a total. */
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
    // Vacuums now, because autovacuum would otherwise run during the measurement.
    await client.query('vacuum analyze');
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
}
