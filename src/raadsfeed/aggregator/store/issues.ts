import type { Db } from '../../../kernel/database/db.ts';
import type { KeptIssue } from '../kept-issue.ts';
import type { SourceIssue } from '../source-adapter.ts';
import { trimIssues } from './trim-issues.ts';

/** Characters that are stored of a text at most. */
const MAX_TEXT = 1000;

/** Keeps issues of a source that is a feed: counted when they are met again, and no more than there is room for. */
export async function addIssues(db: Db, sourceId: number, issues: readonly SourceIssue[], at: Date): Promise<void> {
  if (issues.length === 0) return;
  const rows = storable(issues);
  await db.query({
    name: 'aggregator-add-issues',
    text: `insert into aggregator.melding as m (bron_id, wat, waar, detail, aantal, blokkeert, sinds, laatst)
           select $1::integer, wat, waar, detail, aantal, blokkeert, $7::timestamptz, $7::timestamptz
             from unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::boolean[]) as n (wat, waar, detail, aantal, blokkeert)
               on conflict (bron_id, wat, waar, detail, venster_van, venster_tot) do update
              set aantal = m.aantal + excluded.aantal, laatst = excluded.laatst, opgelost = null`,
    values: [
      sourceId,
      rows.map(({ what }) => what),
      rows.map(({ where }) => where),
      rows.map(({ detail }) => detail),
      rows.map(({ times }) => times),
      rows.map(({ blocking }) => blocking),
      at.toISOString(),
    ],
  });
  await trimIssues(db, sourceId, at);
}

/** What kept a source from being read is over. */
export async function resolveIssues(db: Db, sourceId: number, at: Date): Promise<void> {
  await db.query({
    name: 'aggregator-resolve-issues',
    text: `update aggregator.melding set opgelost = $2::timestamptz
            where bron_id = $1::integer and blokkeert and opgelost is null and venster_van is null`,
    values: [sourceId, at.toISOString()],
  });
}

/** Records that were refused have been followed by better ones. */
export async function resolveRefusals(db: Db, sourceId: number, at: Date): Promise<void> {
  await db.query({
    name: 'aggregator-resolve-refusals',
    text: `update aggregator.melding set opgelost = $2::timestamptz
            where bron_id = $1::integer and wat = 'record-refused' and opgelost is null and venster_van is null`,
    values: [sourceId, at.toISOString()],
  });
}

/** The issues of a source, those that last first, then the newest. */
export async function readIssues(
  db: Db,
  sourceId: number,
  limit: number,
): Promise<(Omit<KeptIssue, 'window'> & { readonly window: KeptIssue['window'] | null })[]> {
  const { rows } = await db.query<
    SourceIssue & { van: string | null; tot: string | null; since: Date; last: Date; over: Date | null }
  >(
    `select wat as what, waar as where, detail, aantal as times, blokkeert as blocking, venster_van::text as van, venster_tot::text as tot,
            sinds as since, laatst as last, opgelost as over
       from aggregator.melding
      where bron_id = $1::integer
      order by (opgelost is null) desc, laatst desc, wat, waar
      limit $2::integer`,
    [sourceId, limit],
  );
  return rows.map(({ van, tot, since, last, over, ...issue }) => ({
    ...issue,
    window: van === null || tot === null ? null : { from: van, to: tot },
    since: since.toISOString(),
    lastSeen: last.toISOString(),
    resolved: over?.toISOString() ?? null,
  }));
}

/** The issues with texts that the database can hold; those that are the same then are one: no row may be written twice in a statement. */
export function storable(issues: readonly SourceIssue[]): readonly SourceIssue[] {
  const found = new Map<string, SourceIssue>();
  for (const issue of issues) {
    const stored = { ...issue, what: text(issue.what), where: text(issue.where), detail: text(issue.detail) };
    const key = JSON.stringify([stored.what, stored.where, stored.detail]);
    found.set(key, { ...stored, times: stored.times + (found.get(key)?.times ?? 0) });
  }
  return [...found.values()];
}

function text(value: string): string {
  return value.replaceAll('\0', '').slice(0, MAX_TEXT).toWellFormed();
}
