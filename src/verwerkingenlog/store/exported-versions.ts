/** Walking the log for an export: in the order in which actions were first registered, and never much of it in memory. */
import type { Pool } from '../../database/pool.ts';
import type { Db } from '../../database/transaction.ts';
import { type Categorie, categorieOf } from '../domain/access.ts';
import { listMonths, type Month } from './months.ts';
import { fromRow, SELECT_VERSIE, type StoredVersie, type VersieRow } from './versions.ts';

/** Which actions are exported. */
export interface Selection {
  /** From, included: a UTC text, compared with `tijdstip`. */
  readonly from: string;
  /** To, not included. */
  readonly to: string;
  readonly verwerkingsactiviteitId?: string | undefined;
  readonly verwerkingId?: string | undefined;
  /** All versions, deletions too, of the actions of which any version is selected; otherwise the current one of those where that is selected. */
  readonly history: boolean;
}

/** A version that is exported. */
interface Chosen {
  readonly actieId: string;
  readonly versie: number;
  readonly categorie: Categorie;
  /** What its objects take in the database (bytes). */
  readonly size: number;
}

interface KeyRow extends Omit<Chosen, 'categorie'> {
  readonly vervallen: boolean;
  readonly vertrouwelijkheid: Categorie;
  readonly ooitVertrouwelijk: boolean;
  readonly isSelected: boolean;
}

/** Keys of one statement, and versions and compressed bytes that are read together. */
const KEYS = 2000;
const VERSIONS = 500;
const BYTES = 1_000_000;

/** Whether anything confidential is exported. */
export async function hasConfidential(pool: Pool, selection: Selection, signal: AbortSignal): Promise<boolean> {
  for await (const chosen of chosenVersions(pool, selection, signal)) {
    if (chosen.some(({ categorie }) => categorie === 'vertrouwelijk')) return true;
  }
  return false;
}

/** The versions that are exported, encrypted as they are stored. */
export async function* exportedVersions(
  pool: Pool,
  selection: Selection,
  signal: AbortSignal,
): AsyncGenerator<StoredVersie> {
  for await (const chosen of chosenVersions(pool, selection, signal)) {
    for (let from = 0; from < chosen.length; ) {
      const to = endOfPart(chosen, from);
      yield* await readVersions(pool, chosen.slice(from, to));
      from = to;
    }
  }
}

/** Where a part of these versions that is read together ends: it is one version at least. */
function endOfPart(chosen: readonly Chosen[], from: number): number {
  let bytes = 0;
  let to = from;
  do {
    bytes += chosen[to]?.size ?? 0;
    to += 1;
  } while (to < chosen.length && to - from < VERSIONS && bytes + (chosen[to]?.size ?? 0) <= BYTES);
  return to;
}

async function* chosenVersions(pool: Pool, selection: Selection, signal: AbortSignal): AsyncGenerator<Chosen[]> {
  for (const month of await listMonths(pool)) {
    // The action that the end of a statement may have cut waits for the rest of its versions.
    let held: KeyRow[] = [];
    for (let after: Pick<KeyRow, 'actieId' | 'versie'> = { actieId: month.from, versie: 0 }; ; ) {
      signal.throwIfAborted();
      const rows = await readKeys(pool, month, after, selection);
      const last = rows.at(-1);
      if (last === undefined) break;
      after = last;
      const all = [...held, ...rows];
      held = all.filter(({ actieId }) => actieId === last.actieId);
      yield choose(all.slice(0, all.length - held.length), selection);
    }
    yield choose(held, selection);
  }
}

/** @param rows all versions of some actions, in order */
function choose(rows: readonly KeyRow[], { history }: Selection): Chosen[] {
  const ofActions = [...Map.groupBy(rows, ({ actieId }) => actieId).values()];
  const wanted = history
    ? ofActions.filter((versions) => versions.some(({ isSelected }) => isSelected)).flat()
    : ofActions
        .flatMap((versions) => versions.slice(-1))
        .filter(({ isSelected, vervallen }) => isSelected && !vervallen);
  return wanted.map((row) => ({ ...row, categorie: categorieOf(row) }));
}

/**
 * The next keys of a month, selected or not: a statement's work has a bound however few are selected. Nothing is joined, so that Citus can
 * send it to every machine.
 */
async function readKeys(
  db: Db,
  { to }: Month,
  after: Pick<KeyRow, 'actieId' | 'versie'>,
  selection: Selection,
): Promise<KeyRow[]> {
  const { rows } = await db.query<KeyRow>(
    `select v.actie_id as "actieId", v.versie, v.vervallen, v.vertrouwelijkheid, v.ooit_vertrouwelijk as "ooitVertrouwelijk",
       pg_column_size(v.objecten) as size,
       v.tijdstip >= $5::timestamptz and v.tijdstip < $6::timestamptz
         and ($7::uuid is null or coalesce(v.verwerkingsactiviteit_id = $7::uuid, false))
         and ($8::uuid is null or coalesce(v.verwerking_id = $8::uuid, false)) as "isSelected"
     from verwerkingenlog.versies v
     where (v.actie_id, v.versie) > ($1::uuid, $2::integer) and v.actie_id < $3::uuid
     order by v.actie_id, v.versie limit $4::integer`,
    [
      ...[after.actieId, after.versie, to, KEYS],
      ...[selection.from, selection.to, selection.verwerkingsactiviteitId ?? null, selection.verwerkingId ?? null],
    ],
  );
  return rows;
}

/** Versions by their keys, in that order. One that retention removed in between is left out. */
async function readVersions(db: Db, keys: readonly Chosen[]): Promise<StoredVersie[]> {
  const ids = keys.map(({ actieId }) => actieId);
  const { rows } = await db.query<VersieRow>(
    `select ${SELECT_VERSIE}, v.objecten
     from unnest($1::uuid[], $2::integer[]) as k(actie_id, versie)
       join verwerkingenlog.versies v on v.actie_id = k.actie_id and v.versie = k.versie and v.actie_id = any($1::uuid[])
     order by v.actie_id, v.versie`,
    [ids, keys.map(({ versie }) => versie)],
  );
  return rows.map(fromRow);
}
