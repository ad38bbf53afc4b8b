/** Ended sessions; and the times of actions on a person's data, with those that were readings of the log, by the person on these pages or by another. */
import type { Db } from '../../../database/transaction.ts';
import { READING } from '../../logged-read.ts';
import { findLocations, MAX_COUNT, type PersonFilter } from '../../store/find.ts';

/** The subject under which these pages log their readings. */
export const AUTHOR = 'inzage';
/** The name in the log of a citizen's own reading. */
export const OWN_LOOK = 'Inzage door de betrokkene zelf';
export const OWN_PROOF = 'Bewijs opgevraagd door de betrokkene zelf';

export interface Look {
  readonly actieId: string;
  readonly tijdstip: string;
  /** Whether it was the citizen's own reading. */
  readonly isOwn: boolean;
  /** Whether it was the overview or a proof. */
  readonly isProof: boolean;
}

export interface Timeline {
  /** When others acted, newest first: the newest `MAX_COUNT` moments. */
  readonly moments: readonly string[];
  /** Newest first. */
  readonly looks: readonly Look[];
  /** Whether there may be earlier moments than these. */
  readonly isCut: boolean;
}

/** Actions in one statement: their identities follow the time of registration, so each statement opens few months. */
const AT_ONCE = 1000;

/** `filter` names the person and the visible actions. */
export async function readTimeline(db: Db, filter: PersonFilter): Promise<Timeline> {
  const places = await findLocations(db, filter, undefined, MAX_COUNT);
  const ordered = places.toSorted((a, b) => (a.actieId < b.actieId ? -1 : 1));
  const names = new Map<string, string | null>();
  for (let i = 0; i < ordered.length; i += AT_ONCE) {
    for (const { actieId, name } of await readLooks(db, ordered.slice(i, i + AT_ONCE))) names.set(actieId, name);
  }
  const looks = places
    .filter(({ actieId }) => names.has(actieId))
    .map(({ actieId, tijdstip }) => {
      const name = names.get(actieId);
      return { actieId, tijdstip, isOwn: name !== null, isProof: name === OWN_PROOF };
    });
  const own = new Set(looks.filter(({ isOwn }) => isOwn).map(({ actieId }) => actieId));
  return {
    moments: places.filter(({ actieId }) => !own.has(actieId)).map(({ tijdstip }) => tijdstip),
    looks,
    isCut: places.length >= MAX_COUNT,
  };
}

/**
 * Which of these versions are readings of the log, with the name of those that the citizen made here. Only the service gives an entry a trace, and
 * the first version is as the service wrote it, so nobody can hide an entry by making it look like one of these.
 * @param places in the order of their identities
 */
async function readLooks(
  db: Db,
  places: readonly { readonly actieId: string; readonly versie: number }[],
): Promise<{ readonly actieId: string; readonly name: string | null }[]> {
  const ids = places.map(({ actieId }) => actieId);
  const { rows } = await db.query<{ actieId: string; name: string | null }>({
    name: 'inzage-looks',
    text: `
      select v.actie_id as "actieId",
             case when v.door = $5::text and v.handeling_naam = any($6::text[]) then v.handeling_naam end as name
      from unnest($1::uuid[], $2::integer[]) as k(actie_id, versie)
        join verwerkingenlog.versies v on v.actie_id = k.actie_id and v.versie = k.versie and v.actie_id = any($1::uuid[])
          -- Redundant bounds: with them months without any of these are not opened.
          and v.actie_id >= $3::uuid and v.actie_id <= $4::uuid
      where v.versie = 1 and v.trace_id is not null and v.actie_naam = $7::text`,
    values: [ids, places.map(({ versie }) => versie), ids[0], ids.at(-1), AUTHOR, [OWN_LOOK, OWN_PROOF], READING],
  });
  return rows;
}

export async function isEnded(db: Db, session: string): Promise<boolean> {
  const { rows } = await db.query({
    name: 'verwerkingenlog-session-ended',
    text: 'select 1 from verwerkingenlog.ended_sessions where session_id = $1::uuid',
    values: [session],
  });
  return rows.length > 0;
}

/** Ends a session for good, and forgets sessions that would have ended by now. @param until when the session would have ended by itself */
export async function endSession(db: Db, session: string, until: Date, now: Date): Promise<void> {
  await db.query(
    `insert into verwerkingenlog.ended_sessions (session_id, ends_at) values ($1::uuid, $2::timestamptz) on conflict do nothing`,
    [session, until],
  );
  await db.query('delete from verwerkingenlog.ended_sessions where ends_at < $1::timestamptz', [now]);
}
