import type { Db } from '../../../kernel/database/db.ts';
import type { SourceIssue, WindowReading } from '../source-adapter.ts';
import { storable } from './issues.ts';
import { trimIssues } from './trim-issues.ts';

/**
 * Keeps the issues of a reading: counted when they are met again, over when a full reading of their window does not meet them. A
 * quick reading does not look at what did not change, so it ends none.
 */
export async function keepWindowIssues(
  db: Db,
  sourceId: number,
  { window, depth, issues }: Pick<WindowReading, 'window' | 'depth' | 'issues'>,
  at: Date,
): Promise<void> {
  const [from, to, moment] = [window.from, window.to, at.toISOString()];
  if (depth === 'full') {
    await db.query({
      name: 'aggregator-end-window-issues',
      text: `update aggregator.melding set opgelost = $4::timestamptz
              where bron_id = $1::integer and opgelost is null and venster_van >= $2::date and venster_tot <= $3::date`,
      values: [sourceId, from, to, moment],
    });
  }
  const rows = storable(issues);
  await db.query({
    name: 'aggregator-keep-window-issues',
    text: `insert into aggregator.melding as m
                  (bron_id, venster_van, venster_tot, wat, waar, detail, aantal, blokkeert, sinds, laatst)
           select $1::integer, $2::date, $3::date, wat, waar, detail, aantal, blokkeert, $4::timestamptz, $4::timestamptz
             from unnest($5::text[], $6::text[], $7::text[], $8::bigint[], $9::boolean[]) as n (wat, waar, detail, aantal, blokkeert)
               on conflict (bron_id, wat, waar, detail, venster_van, venster_tot) do update
              set aantal = m.aantal + excluded.aantal, laatst = excluded.laatst, blokkeert = excluded.blokkeert, opgelost = null`,
    values: [
      sourceId,
      from,
      to,
      moment,
      rows.map(({ what }) => what),
      rows.map(({ where }) => where),
      rows.map(({ detail }) => detail),
      rows.map(({ times }) => times),
      rows.map(({ blocking }) => blocking),
    ],
  });
  await trimIssues(db, sourceId, at);
}

