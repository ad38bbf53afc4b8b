/** Documents published and indexed normally, and the size of the index. */
import pg from 'pg';
import { createPool, type Pool } from '../../src/database/pool.ts';
import { createLogger } from '../../src/lib/log.ts';
import { systemClock } from '../../src/lib/time.ts';
import { prepareChange } from '../../src/raadsfeed/domain/change.ts';
import { followFeed } from '../../src/raadsfeed/follow-index.ts';
import { PAGES_INDEX } from '../../src/raadsfeed/pages/search/follow-feed.ts';
import { createLineValidator } from '../../src/raadsfeed/writer/line-validator.ts';
import { createPublisher } from '../../src/raadsfeed/writer/publisher.ts';
import { documentData, meetingData, PER_MEETING } from './council-texts.ts';
import { FIRST_NUMBER } from './fill-index.ts';

const BATCH = 2000;

/** A pool with the rights of the service. */
export function servicePool(url: string): Pool {
  const shared = {
    connectTimeoutMs: 10_000,
    statementTimeoutMs: 60_000,
    pooler: 'none',
    role: 'koppelvlak_dienst',
  } as const;
  return createPool({ ...shared, url, size: 10, applicationName: 'bench pages', log: createLogger('error') });
}

/** Publishes documents with these numbers, and their meetings. */
export async function growPages(url: string, first: number, last: number): Promise<void> {
  const own = servicePool(url);
  const validate = createLineValidator();
  const publisher = createPublisher({ pool: own, clock: systemClock });
  const change = (resourceType: string, data: object) => {
    const checked = validate({ op: 'upsert', resourceType, data });
    if ('faults' in checked) throw new Error(checked.faults.join('; '));
    return prepareChange(checked.line);
  };
  try {
    for (let at = first; at < last; at += BATCH) {
      const numbers = Array.from({ length: Math.min(last, at + BATCH) - at }, (_, i) => at + i);
      await publisher.publish(
        numbers.flatMap((i) => [
          ...(i % PER_MEETING === 0 ? [change('Vergadering', meetingData(i / PER_MEETING))] : []),
          change('Informatieobject', documentData(i)),
        ]),
      );
    }
  } finally {
    await own.end();
  }
}

/** Brings the index up to the feed's head. */
export async function indexAll(url: string): Promise<{ records: number; ms: number }> {
  const own = servicePool(url);
  try {
    const positionOf = async (): Promise<number> =>
      Number((await own.query('select number from pages.position')).rows[0]?.number);
    const before = await positionOf();
    const since = performance.now();
    while ((await followFeed(own, PAGES_INDEX)) !== 'done');
    const ms = performance.now() - since;
    return { records: (await positionOf()) - before, ms };
  } finally {
    await own.end();
  }
}

/** Bytes of the index and of the bulk-filled rows, after a vacuum. */
export async function indexSize(url: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    for (const table of ['pages.items', 'pages.links', 'raadsfeed.current_records'])
      await client.query(`vacuum analyze ${table}`);
    const { rows } = await client.query(`
      select pg_size_pretty(pg_table_size('pages.items')) as rows, pg_size_pretty(pg_relation_size('pages.items_words')) as words,
             pg_size_pretty(pg_indexes_size('pages.items') - pg_relation_size('pages.items_words')) as others,
             pg_size_pretty(pg_total_relation_size('pages.links')) as refs,
             (select count(*) from pages.items where number < ${FIRST_NUMBER}) as published,
             (select sum(pg_total_relation_size(c.oid)) from pg_class c join pg_namespace n on n.oid = c.relnamespace
               where n.nspname = 'raadsfeed' and c.relkind = 'r' and c.relname <> 'current_records') as feed,
             pg_total_relation_size('pages.items') / greatest(1, (select count(*) from pages.items)) as each`);
    const { rows: content, words, others, refs, feed, published, each } = rows[0];
    return `rows ${content}, words ${words}, other indexes ${others}, references ${refs}: ${each} bytes a record, beside ${Math.round(feed / published)} bytes of the feed`;
  } finally {
    await client.end();
  }
}
