import { describe, expect, it } from 'vitest';
import { addIssues, readIssues, saveWindowIssues } from '../../../../src/raadsfeed/aggregator/store/issues.ts';
import { findSource, saveSources } from '../../../../src/raadsfeed/aggregator/store/sources.ts';
import { measureReading, saveCoverage } from '../../../../src/raadsfeed/aggregator/store/windows.ts';
import type { Coverage } from '../../../../src/raadsfeed/aggregator/supplier/coverage.ts';
import { pool, serviceDatabase } from '../../service-database.ts';
import { publishLines } from '../../support.ts';
import { NEXT_QUARTER, QUARTER } from './supplier/memory-feed.ts';

let made = 0;

serviceDatabase();

async function newSource(): Promise<number> {
  made += 1;
  const organisatiecode = `gm${String(made).padStart(4, '0')}`;
  const adres = `notubiz:${made}`;
  await saveSources(pool, [{ adres, soort: 'leveranciers-api', organisatiecodes: [organisatiecode], naam: 'X' }]);
  return (await findSource(pool, adres))?.id ?? 0;
}

describe('issues', () => {
  const issue = { what: 'call-failed', where: '/events/meetings/20', detail: 'status 500', times: 1, blocking: true };
  const first = new Date('2025-02-01T12:00:00Z');
  const later = new Date('2025-02-02T12:00:00Z');
  const full = { window: QUARTER, depth: 'full' } as const;
  const quick = { window: QUARTER, depth: 'quick' } as const;

  it('are stored with what, where, since when and how often', async () => {
    const source = await newSource();
    await saveWindowIssues(pool, source, { ...full, issues: [issue] }, first);
    await saveWindowIssues(pool, source, { ...quick, issues: [{ ...issue, times: 2 }] }, later);
    expect(await readIssues(pool, source)).toEqual([
      {
        ...issue,
        times: 3,
        window: QUARTER,
        since: first.toISOString(),
        lastSeen: later.toISOString(),
      },
    ]);
  });

  it('are deleted when a full reading of the same window does not find them', async () => {
    const source = await newSource();
    await saveWindowIssues(pool, source, { ...full, issues: [issue] }, first);
    await saveWindowIssues(pool, source, { ...quick, issues: [] }, later);
    await saveWindowIssues(pool, source, { ...full, window: NEXT_QUARTER, issues: [] }, later);
    expect(await readIssues(pool, source)).toHaveLength(1);
    await saveWindowIssues(pool, source, { ...full, issues: [issue] }, later);
    expect(await readIssues(pool, source)).toMatchObject([{ times: 2, since: first.toISOString() }]);
    await saveWindowIssues(pool, source, { ...full, issues: [] }, day(2));
    expect(await readIssues(pool, source)).toEqual([]);
  });

  it('are stored as text that the database accepts', async () => {
    const source = await newSource();
    const detail = `a\0b\ud800${'x'.repeat(2000)}`;
    await saveWindowIssues(pool, source, { ...full, issues: [{ ...issue, detail }] }, first);
    const [kept] = await readIssues(pool, source);
    expect(kept?.detail).toHaveLength(1000);
    expect(kept?.detail.slice(0, 3)).toBe('ab\ufffd');
  });

  it('that differ only beyond the stored length are one, for a feed too', async () => {
    const source = await newSource();
    const where = `/${'x'.repeat(2000)}`;
    await addIssues(pool, source, [issue, { ...issue, where }, { ...issue, where: `${where}#2` }], first);
    expect(await readIssues(pool, source)).toMatchObject([{ times: 1 }, { times: 2 }]);
  });

  const day = (n: number): Date => new Date(first.getTime() + n * 86_400_000);
  const many = (count: number, prefix: string) =>
    Array.from({ length: count }, (_, i) => ({ ...issue, where: `/${prefix}/${i}` }));
  const kept = async (source: number) => (await readIssues(pool, source)).map(({ where }) => where);

  it('are no more than a thousand per supplier: the newest', async () => {
    const source = await newSource();
    await saveWindowIssues(pool, source, { ...full, issues: many(600, 'old') }, day(0));
    await saveWindowIssues(pool, source, { ...full, window: NEXT_QUARTER, issues: many(700, 'new') }, day(1));
    expect(await kept(source)).toHaveLength(1000);
    expect((await kept(source)).filter((where) => where.startsWith('/new/'))).toHaveLength(700);
  });

  it('are no more than a thousand per feed, and another source keeps its own', async () => {
    const [source, other] = [await newSource(), await newSource()];
    await addIssues(pool, other, many(10, 'other'), day(0));
    for (let n = 0; n < 6; n += 1) await addIssues(pool, source, many(200, `day-${n}`), day(n));
    expect(await kept(source)).toHaveLength(1000);
    expect((await kept(source)).some((where) => where.startsWith('/day-0/'))).toBe(false);
    expect(await kept(other)).toHaveLength(10);
  });
});

describe('coverage', () => {
  const month = (name: string, held: number, missing: string[] = []) => ({
    month: name,
    shown: held + missing.length,
    held,
    missing,
    unnamed: 0,
  });
  const coverage = (...months: ReturnType<typeof month>[]): Coverage => ({ months, shown: 0, held: 0, percentage: 0 });

  it('keeps the last figure of each month, of whole months only', async () => {
    const source = await newSource();
    const months = async () =>
      (
        await pool.query('select month, shown, held from aggregator.coverage where source_id = $1 order by month', [
          source,
        ])
      ).rows;
    const stored = (name: string, held: number, shown = held) => ({ month: name, shown, held });
    await saveCoverage(pool, source, coverage(month('2025-01', 3), month('2025-02', 1, ['Vergadering/a'])), {
      window: QUARTER,
    });
    await saveCoverage(pool, source, coverage(month('2025-04', 9)), { window: NEXT_QUARTER });
    expect(await months()).toEqual([stored('2025-01', 3), stored('2025-02', 1, 2), stored('2025-04', 9)]);
    const stretch = { from: '2025-01-15', to: '2025-02-28' };
    await saveCoverage(pool, source, coverage(month('2025-01', 1), month('2025-02', 2)), { window: stretch });
    expect(await months()).toEqual([stored('2025-01', 3), stored('2025-02', 2), stored('2025-04', 9)]);
  });

  it('knows which resources the feed has', async () => {
    const organisatie = { gemeente: 'gm0363', naam: 'X' };
    const data = { bronidentificatie: 'meeting-1/a', dossiertype: 'vergadering', organisatie, naam: 'Raad' };
    await publishLines(pool, [{ op: 'upsert', resourceType: 'Vergadering', data }]);
    const parts = [
      { resourceType: 'Vergadering', bronidentificatie: 'meeting-1/a' },
      { resourceType: 'Agendapunt', bronidentificatie: 'meeting-1/a' },
      { resourceType: 'Vergadering', bronidentificatie: 'meeting-2' },
    ] as const;
    const item = { key: 'meeting-1', day: '2025-01-05', parent: null, lastModified: null, readAgainAfter: null };
    const reading = { items: [{ ...item, parts, records: [] }], unchanged: [], unread: [] };
    const missing = async (organisatiecode: string) =>
      (await measureReading(pool, organisatiecode, reading, [])).months.flatMap((one) => one.missing);
    expect(await missing('gm0363')).toEqual(['Agendapunt/meeting-1/a', 'Vergadering/meeting-2']);
    expect(await missing('gm0001')).toHaveLength(3);
  });
});
