/** Kills an aggregator at random moments while its sources publish; in the end its feed must be the merge of theirs. */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, startChild } from '../../../bench/support/children.ts';
import { createPool, type Pool } from '../../../src/database/pool.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { saveSources } from '../../../src/raadsfeed/aggregator/store/sources.ts';
import { prepareChange } from '../../../src/raadsfeed/domain/change.ts';
import { createLineValidator } from '../../../src/raadsfeed/writer/line-validator.ts';
import { createPublisher } from '../../../src/raadsfeed/writer/publisher.ts';

export interface DrillOptions {
  /** Migrated databases, one for each source and one for the aggregator. */
  readonly sourceUrls: readonly string[];
  readonly aggregatorUrl: string;
  readonly kills: number;
  /** Longest life of the aggregator, in milliseconds. */
  readonly longestLifeMs: number;
  /** Longest time between two batches of a source, in milliseconds. */
  readonly longestPauseMs: number;
  readonly report: (line: string) => void;
}

export interface DrillResult {
  /** Records of the sources, and of the aggregator. */
  readonly published: number;
  readonly recorded: number;
  readonly faults: readonly string[];
}

const AGGREGATOR = new URL('../../../bench/support/aggregator-server.ts', import.meta.url);
const SOURCE = new URL('../../../bench/support/feed-server.ts', import.meta.url);
const QUICK = {
  NODE_ENV: 'test',
  'aggregator.pollMs': '50',
  'aggregator.backoffMs': '20',
  'aggregator.backoffMaxMs': '200',
  'aggregator.leaseSeconds': '1',
  'raadsfeed.headMaxAgeSeconds': '0',
};
/** Milliseconds in which the aggregator catches up, once it is left alone. */
const CATCH_UP_MS = 120_000;

export async function runAggregatorDrill(options: DrillOptions): Promise<DrillResult> {
  const pools = options.sourceUrls.map(openPool);
  const own = openPool(options.aggregatorUrl);
  const children: Child[] = [];
  try {
    for (const DATABASE_URL of options.sourceUrls) {
      const child = await startChild(SOURCE, { ...QUICK, DATABASE_URL });
      children.push(child);
      const adres = `${Object(await child.ask({})).url}/ori/v1`;
      await saveSources(own, [{ adres, soort: 'feed', organisatiecodes: [] }]);
    }
    const busy = new AbortController();
    const publishing = Promise.all(
      pools.map((pool, source) => publishOn(pool, source, options.longestPauseMs, busy.signal)),
    );
    for (let kill = 1; kill <= options.kills; kill += 1) {
      const aggregator = await startChild(AGGREGATOR, { ...QUICK, DATABASE_URL: options.aggregatorUrl });
      await sleep(randomInt(options.longestLifeMs));
      await aggregator.kill();
      options.report(`killed ${kill} of ${options.kills}`);
    }
    busy.abort();
    await publishing;
    const last = await startChild(AGGREGATOR, { ...QUICK, DATABASE_URL: options.aggregatorUrl });
    children.push(last);
    const faults = await waitUntilEqual(own, pools);
    return { published: await count(pools), recorded: await count([own]), faults };
  } finally {
    for (const child of children) await child.stop();
    for (const pool of [...pools, own]) await pool.end();
  }
}

function openPool(url: string): Pool {
  const limits = { size: 2, connectTimeoutMs: 20_000, statementTimeoutMs: 60_000 };
  return createPool({ url, ...limits, pooler: 'none', applicationName: 'drill', log: createLogger('error') });
}

async function publishOn(pool: Pool, source: number, longestPauseMs: number, signal: AbortSignal): Promise<void> {
  const publisher = createPublisher({ pool, clock: systemClock });
  const validate = createLineValidator();
  for (let round = 0; !signal.aborted; round += 1) {
    const changes = Array.from({ length: randomInt(1, 30) }, () => {
      const checked = validate(line(source, randomInt(100), round));
      if ('faults' in checked) throw new Error(checked.faults.join('; '));
      return prepareChange(checked.line);
    });
    await publisher.publish(changes);
    await sleep(randomInt(longestPauseMs));
  }
}

/** Mostly something new; occasionally it is removed, rarely redacted. */
function line(source: number, number: number, round: number): object {
  const gemeente = `gm${String(source + 1).padStart(4, '0')}`;
  const bronidentificatie = `vergadering-${number}`;
  const chance = randomInt(100);
  if (chance < 15) {
    const [op, verwijderreden] = chance < 2 ? ['redact', 'persoonsgegevens'] : ['delete', 'ingetrokken'];
    return {
      op,
      resourceType: 'Vergadering',
      resource: { organisatiecode: gemeente, bronidentificatie },
      verwijderreden,
    };
  }
  const organisatie = { gemeente, naam: `Gemeente ${source}` };
  const data = { bronidentificatie, dossiertype: 'vergadering', organisatie, naam: `Ronde ${round}` };
  return { op: 'upsert', resourceType: 'Vergadering', data };
}

async function waitUntilEqual(own: Pool, pools: readonly Pool[]): Promise<string[]> {
  const end = performance.now() + CATCH_UP_MS;
  for (;;) {
    const faults = await compare(own, pools);
    if (faults.length === 0 || performance.now() > end) return faults;
    await sleep(200);
  }
}

async function compare(own: Pool, pools: readonly Pool[]): Promise<string[]> {
  const theirs = (await Promise.all(pools.map(readState))).flat().toSorted();
  const ours = (await readState(own)).toSorted();
  const faults: string[] = [];
  const missing = theirs.filter((one) => !ours.includes(one));
  const extra = ours.filter((one) => !theirs.includes(one));
  if (missing.length > 0) faults.push(`${missing.length} resources are not as at their source: ${missing[0]}`);
  if (extra.length > 0) faults.push(`${extra.length} resources that no source has: ${extra[0]}`);
  const { rows } = await own.query<{ head: number; records: number; last: number; twice: number }>(
    `select (select head from raadsfeed.feed) as head, count(*) as records, coalesce(max(sequence_number), 0) as last,
            count(*) filter (where op = 'upsert')
              - count(distinct (herkomst_feed, herkomst_number)) filter (where op = 'upsert') as twice
       from raadsfeed.records`,
  );
  const [row] = rows;
  if (row === undefined || row.head !== row.records || row.head !== row.last) faults.push('the numbers have a gap');
  if (row !== undefined && row.twice > 0) faults.push(`${row.twice} records are in the feed twice`);
  return faults;
}

async function readState(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ one: string }>(
    `select organisatiecode || '/' || resource_type || '/' || bronidentificatie || ' ' || content_hash as one from raadsfeed.current_records`,
  );
  return rows.map(({ one }) => one);
}

async function count(pools: readonly Pool[]): Promise<number> {
  const heads = await Promise.all(pools.map((pool) => pool.query<{ head: number }>('select head from raadsfeed.feed')));
  return heads.reduce((sum, { rows }) => sum + (rows[0]?.head ?? 0), 0);
}
