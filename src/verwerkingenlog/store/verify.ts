import type { Db } from '../../kernel/database/transaction.ts';
import type { IdentityKeys } from '../domain/identity-keys.ts';
import { listMonths, type Month } from './months.ts';
import { fromRow, protect, reveal, SELECT_VERSIE, type StoredVersie, type VersieRow } from './versions.ts';

/** One thing in the stored data that should not be. */
export interface LogFault {
  readonly fault: string;
  readonly actieId: string;
}

export interface VerifyOptions {
  readonly keys: IdentityKeys;
  readonly signal: AbortSignal;
  readonly progress?: (versions: number, month: string) => void;
}

const BATCH = 2000;

/**
 * Checks what is stored against every promise of the log: versions without gaps, confidentiality that is never forgotten, each person
 * found where he is and nowhere else, identifiers that decrypt and have the stored hash.
 */
export async function* verifyLog(db: Db, options: VerifyOptions): AsyncGenerator<LogFault> {
  let seen = 0;
  for (const month of await listMonths(db)) {
    yield* versionFaults(db, month);
    yield* locationFaults(db, month);
    for (let after: readonly [string, number] = [month.from, 0]; ; ) {
      options.signal.throwIfAborted();
      const versions = await readBatch(db, month, after);
      for (const versie of versions) {
        const fault = identityFault(versie, options.keys);
        if (fault !== undefined) yield { fault, actieId: versie.actieId };
      }
      seen += versions.length;
      options.progress?.(seen, month.name);
      const last = versions.at(-1);
      if (last === undefined) break;
      after = [last.actieId, last.versie];
    }
  }
  const { rows } = await db.query<{ actieId: string }>(
    `select p.actie_id as "actieId" from verwerkingenlog.vindplaatsen p
     where not exists (select 1 from verwerkingenlog.versies v where v.actie_id = p.actie_id and v.versie = p.versie) limit 1000`,
  );
  for (const { actieId } of rows) yield { fault: 'a location leads to no version', actieId };
  const orphans = await db.query<{ actieId: string }>(
    `select s.actie_id as "actieId" from verwerkingenlog.ldv_sleutels s
     where not exists (select 1 from verwerkingenlog.versies v where v.actie_id = s.actie_id and v.versie = 1) limit 1000`,
  );
  for (const { actieId } of orphans.rows) yield { fault: 'the key of a line of LDV leads to no version', actieId };
}

async function* versionFaults(db: Db, { from, to }: Month): AsyncGenerator<LogFault> {
  const { rows } = await db.query<LogFault>(
    `with v as (
       select actie_id, versie, vertrouwelijkheid, ooit_vertrouwelijk, vervallen, tijdstip, bewaartermijn, vervalt_op, tijdstip_registratie,
         row_number() over w as nummer, lag(ooit_vertrouwelijk) over w as was, lag(vervallen) over w as was_vervallen
       from verwerkingenlog.versies where actie_id >= $1::uuid and actie_id < $2::uuid window w as (partition by actie_id order by versie)
     )
     select actie_id as "actieId", case
       when versie <> nummer then 'versions are not numbered from 1 without gaps'
       when was and not ooit_vertrouwelijk then 'was confidential once and no longer says so'
       when was_vervallen then 'has a version after its end'
       when vervalt_op <> verwerkingenlog.vervalt_op(tijdstip, bewaartermijn) then 'its end is not its moment plus its term'
       when versie = 1 and date_trunc('milliseconds', tijdstip_registratie) <> to_timestamp(
         ('x' || lpad(left(replace(actie_id::text, '-', ''), 12), 16, '0'))::bit(64)::bigint / 1000.0)
         then 'its identity is not of the moment of its registration'
       end as fault
     from v where versie <> nummer or (was and not ooit_vertrouwelijk) or was_vervallen
       or vervalt_op <> verwerkingenlog.vervalt_op(tijdstip, bewaartermijn)
       or (versie = 1 and date_trunc('milliseconds', tijdstip_registratie) <> to_timestamp(
         ('x' || lpad(left(replace(actie_id::text, '-', ''), 12), 16, '0'))::bit(64)::bigint / 1000.0))
     limit 1000`,
    [from, to],
  );
  yield* rows;
}

/** Compares the locations with those that the current versions should have, both ways. */
async function* locationFaults(db: Db, { from, to }: Month): AsyncGenerator<LogFault> {
  const { rows } = await db.query<LogFault>(
    `with laatste as (
       select distinct on (actie_id) * from verwerkingenlog.versies where actie_id >= $1::uuid and actie_id < $2::uuid
       order by actie_id, versie desc
     ), hoort as (
       select (o.object ->> 'sleutel')::uuid as sleutel, v.tijdstip, v.actie_id, v.versie,
         verwerkingenlog.categorie(v.vertrouwelijkheid, v.ooit_vertrouwelijk) as categorie, v.verwerkingsactiviteit_id,
         array_agg(o.nummer::integer - 1 order by o.nummer) as posities
       from laatste v, json_array_elements(v.objecten) with ordinality as o(object, nummer) where not v.vervallen
       group by 1, 2, 3, 4, 5, 6
     ), staat as (
       select sleutel, tijdstip, actie_id, versie, categorie, verwerkingsactiviteit_id, posities
       from verwerkingenlog.vindplaatsen where actie_id >= $1::uuid and actie_id < $2::uuid
     )
     (select 'a person is not found, or not as the version says' as fault, actie_id as "actieId" from (table hoort except table staat) as a limit 1000)
     union all
     (select 'a person is found where he is not', actie_id from (table staat except table hoort) as b limit 1000)`,
    [from, to],
  );
  yield* rows;
}

async function readBatch(db: Db, { to }: Month, [actieId, versie]: readonly [string, number]): Promise<StoredVersie[]> {
  const { rows } = await db.query<VersieRow>(
    `select ${SELECT_VERSIE}, v.objecten from verwerkingenlog.versies v
     where (v.actie_id, v.versie) > ($1::uuid, $2::integer) and v.actie_id < $3::uuid order by v.actie_id, v.versie limit $4::integer`,
    [actieId, versie, to, BATCH],
  );
  return rows.map(fromRow);
}

function identityFault(versie: StoredVersie, keys: IdentityKeys): string | undefined {
  if (!keys.has(versie.sleutelnaam)) return `is encrypted with a key that is not configured: ${versie.sleutelnaam}`;
  try {
    const again = protect(reveal(versie, keys), { ...keys, current: versie.sleutelnaam });
    const same = again.objecten.every(({ sleutel }, i) => sleutel === versie.objecten[i]?.sleutel);
    return same ? undefined : 'an identifier does not have the hash that is stored with it';
  } catch {
    return 'an identifier cannot be decrypted';
  }
}
