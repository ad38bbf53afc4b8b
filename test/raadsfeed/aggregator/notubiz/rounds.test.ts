/** Which window of a supplier is read next: current ones often, all of history in a slow round. */
import { beforeEach, describe, expect, it } from 'vitest';
import { findSource, saveSources } from '../../../../src/raadsfeed/aggregator/store/sources.ts';
import {
  completeSince,
  type DueWindow,
  ensureWindows,
  nextWindow,
  saveWindow,
} from '../../../../src/raadsfeed/aggregator/store/windows.ts';
import { roundWindows } from '../../../../src/raadsfeed/aggregator/supplier/windows.ts';
import { pool, serviceDatabase } from '../../service-database.ts';

const NOW = new Date('2025-02-01T12:00:00Z');
const QUARTER_HOUR = 15 * 60_000;
const WEEK = 7 * 24 * 3_600_000;
const { all, current } = roundWindows('2024-01-01', NOW);
const CURRENT = current.map(({ from }) => from);

let source = 0;

serviceDatabase();
beforeEach(async () => {
  await pool.query('delete from aggregator.source_organisations');
  await pool.query('delete from aggregator.sources');
  const adres = 'notubiz:281';
  await saveSources(pool, [{ adres, soort: 'leveranciers-api', organisatiecodes: ['gm0363'], naam: 'X' }]);
  source = (await findSource(pool, adres))?.id ?? 0;
  await ensureWindows(pool, source, all);
});

async function read(window: DueWindow, complete = true): Promise<void> {
  const rounds = { quickAgainMs: QUARTER_HOUR, fullAgainMs: WEEK };
  await saveWindow(pool, source, { ...window, complete, withheld: 0, ...rounds }, NOW);
}

/** Reads windows until none is due. */
async function readAll(complete: (window: DueWindow) => boolean = () => true): Promise<string[]> {
  const seen: string[] = [];
  for (let due = await nextWindow(pool, source, CURRENT); due; due = await nextWindow(pool, source, CURRENT)) {
    seen.push(`${due.from} ${due.depth}`);
    await read(due, complete(due));
  }
  return seen;
}

it('does not touch existing windows: sources are checked twice a minute for due ones', async () => {
  const versions = () =>
    pool.query('select ctid, xmin, xmax from aggregator.windows where source_id = $1 order by first_day', [source]);
  const before = await versions();
  await ensureWindows(pool, source, all);
  expect((await versions()).rows).toEqual(before.rows);
});

const pass = (ms: number) =>
  pool.query(
    `update aggregator.windows set next_quick_at = next_quick_at - make_interval(secs => $1::double precision / 1000),
                                   next_full_at = next_full_at - make_interval(secs => $1::double precision / 1000)`,
    [ms],
  );

describe('the rounds', () => {
  it('begin with everything that was never read, completely, the newest first', async () => {
    expect(await readAll()).toEqual(all.map(({ from }) => `${from} full`).toReversed());
    expect(await nextWindow(pool, source, CURRENT)).toBeUndefined();
  });

  it('reread the quarters around today after a quarter of an hour, in a quick round', async () => {
    await readAll();
    await pass(QUARTER_HOUR + 1000);
    const seen = await readAll();
    expect(seen.toSorted()).toEqual(CURRENT.map((from) => `${from} quick`).toSorted());
  });

  it('reread all of history after a week, whatever was modified', async () => {
    await readAll();
    await pass(WEEK + 1000);
    const seen = await readAll();
    expect(seen.toSorted()).toEqual(all.map(({ from }) => `${from} full`).toSorted());
  });

  it('reread an incomplete window within the week, and nothing is up to date before', async () => {
    const [odd = { from: '' }] = all;
    await readAll(({ from }) => from !== odd.from);
    expect(await completeSince(pool, source, CURRENT)).toBeUndefined();
    await pass(QUARTER_HOUR + 1000);
    expect(await readAll()).toContain(`${odd.from} full`);
    expect(await completeSince(pool, source, CURRENT)).toEqual(NOW);
  });
});
