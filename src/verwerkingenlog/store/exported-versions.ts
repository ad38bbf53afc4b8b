import type { Pool } from '../../database/pool.ts';
import type { Db } from '../../database/transaction.ts';
import type { StoredVersie } from '../domain/encryption.ts';
import { listMonths, type Month } from './months.ts';
import { fromRow, SELECT_VERSIE, type VersieRow } from './versions.ts';

export interface Selection {
  /** UTC texts, compared with `tijdstip`; `to` is not included. */
  readonly from: string;
  readonly to: string;
  readonly verwerkingsactiviteitId?: string | undefined;
  readonly verwerkingId?: string | undefined;
  /** All versions, including deletions, of actions with any selected version; otherwise the current version, if selected. */
  readonly history: boolean;
}

interface Chosen {
  readonly actieId: string;
  readonly versie: number;
  readonly confidential: boolean;
  /** Of its objects in the database (bytes). */
  readonly size: number;
}

/** Versions that one statement scans, and versions and compressed bytes that are read together. */
const SCAN = 2000;
const VERSIONS = 500;
const BYTES = 1_000_000;

export async function hasConfidential(pool: Pool, selection: Selection, signal: AbortSignal): Promise<boolean> {
  for await (const { confidential } of chosenVersions(pool, selection, signal)) if (confidential) return true;
  return false;
}

/** In order of first registration. */
export async function* exportedVersions(
  pool: Pool,
  selection: Selection,
  signal: AbortSignal,
): AsyncGenerator<StoredVersie> {
  let part: Chosen[] = [];
  let bytes = 0;
  for await (const chosen of chosenVersions(pool, selection, signal)) {
    if (part.length === VERSIONS || (part.length > 0 && bytes + chosen.size > BYTES)) {
      yield* await readVersions(pool, part);
      [part, bytes] = [[], 0];
    }
    part.push(chosen);
    bytes += chosen.size;
  }
  yield* await readVersions(pool, part);
}

/** In steps of whole actions, selected or not: a statement's work is bounded even if few are selected. */
async function* chosenVersions(pool: Pool, selection: Selection, signal: AbortSignal): AsyncGenerator<Chosen> {
  for (const month of await listMonths(pool)) {
    for (let from = month.from; ; ) {
      signal.throwIfAborted();
      const upTo = await lastActie(pool, from, month);
      if (upTo === undefined) break;
      yield* await choose(pool, from, upTo, selection);
      from = upTo;
    }
  }
}

async function lastActie(db: Db, from: string, { to }: Month): Promise<string | undefined> {
  const { rows } = await db.query<{ actieId: string }>(
    `select actie_id as "actieId" from (
       select actie_id from verwerkingenlog.versies where actie_id > $1::uuid and actie_id < $2::uuid
       order by actie_id limit $3::integer
     ) as step order by actie_id desc limit 1`,
    [from, to, SCAN],
  );
  return rows[0]?.actieId;
}

/** Nothing is joined, so that Citus can send it to every machine. */
async function choose(db: Db, from: string, upTo: string, selection: Selection): Promise<Chosen[]> {
  const { rows } = await db.query<Chosen & Record<string, unknown>>(
    `select actie_id as "actieId", versie, size, confidential from (
       select judged.*, bool_or(selected) over (partition by actie_id) as any_selected,
         row_number() over (partition by actie_id order by versie desc) = 1 as is_current
       from (
         select v.actie_id, v.versie, v.vervallen, pg_column_size(v.objecten) as size,
           v.ooit_vertrouwelijk and v.vertrouwelijkheid <> 'opgeheven' as confidential,
           v.tijdstip >= $3::timestamptz and v.tijdstip < $4::timestamptz
             and ($5::uuid is null or coalesce(v.verwerkingsactiviteit_id = $5::uuid, false))
             and ($6::uuid is null or coalesce(v.verwerking_id = $6::uuid, false)) as selected
         from verwerkingenlog.versies v where v.actie_id > $1::uuid and v.actie_id <= $2::uuid
       ) as judged
     ) as whole
     where case when $7::boolean then any_selected else is_current and selected and not vervallen end
     order by actie_id, versie`,
    [
      ...[from, upTo, selection.from, selection.to],
      ...[selection.verwerkingsactiviteitId ?? null, selection.verwerkingId ?? null, selection.history],
    ],
  );
  return rows;
}

/** In the order of the keys. A version that retention removed in between is left out. */
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
