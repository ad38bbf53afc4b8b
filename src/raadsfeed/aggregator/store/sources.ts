/** An operator's changes of sources. Each invalidates the lease, so that nothing is published after it. */

import type { Pool } from '../../../database/pool.ts';
import { type Db, lock, transaction } from '../../../database/transaction.ts';
import type { SourceCompleteness } from '../../store/state.ts';
import { type NewSource, type NumberedAddress, type PlannedSource, planSources } from '../plan-sources.ts';
import {
  hasOwnNumbers,
  isSupplierScheme,
  parseSourceAddress,
  type Source,
  SUPPLIERS,
  type SupplierVersion,
} from '../source.ts';
import { UNCONFIRMED } from './issues.ts';
import { SOURCE_COLUMNS } from './leased-source.ts';
import { saveOfferedOrganisations } from './organisations.ts';

/** Of a source: its lease ends. A publishing transaction locks the same row, so it comes before or after the change. */
const REVOKED = 'lease_number = lease_number + 1, lease_holder = null, lease_until = null';

export async function readSources(db: Db): Promise<Source[]> {
  return (await db.query<Source>(`select ${SOURCE_COLUMNS} from aggregator.sources order by id`)).rows;
}

export async function findSource(db: Db, adres: string): Promise<Source | undefined> {
  const text = `select ${SOURCE_COLUMNS} from aggregator.sources where address = $1::text`;
  return (await db.query<Source>(text, [adres])).rows[0];
}

export async function readNumberedAddresses(db: Db): Promise<NumberedAddress[]> {
  const { rows } = await db.query<NumberedAddress>(
    `select organisatiecode, address as adres from aggregator.numbered_addresses n
      where exists (select from raadsfeed.current_records r
                     where r.organisatiecode = n.organisatiecode and starts_with(r.bronidentificatie, n.scheme || '-'))`,
  );
  return rows;
}

/** All or none. @throws {Error} for operators */
export async function saveSources(pool: Pool, sources: readonly NewSource[]): Promise<readonly PlannedSource[]> {
  return await transaction(pool, async (db) => {
    await lockSources(db);
    const plan = planSources(sources, await readSources(db), await readNumberedAddresses(db));
    const refused = plan.find(({ what }) => what === 'refused');
    if (refused !== undefined) throw new Error(refused.why);
    for (const { source } of plan.filter(({ what }) => what === 'changed')) await changeSource(db, source);
    for (const { source } of plan.filter(({ what }) => what === 'new')) await insertSource(db, source);
    return plan;
  });
}

/** @throws {Error} for operators, when the source was removed meanwhile */
export async function changeVersion(pool: Pool, adres: string, version: SupplierVersion): Promise<void> {
  await transaction(pool, async (db) => {
    await lockSources(db);
    const source = await findSource(db, adres);
    if (source === undefined) throw new Error(`${adres} was removed meanwhile`);
    await changeSource(db, { ...source, options: { ...source.options, version } });
  });
}

/** No source is added between check and change; readings continue. */
async function lockSources(db: Db): Promise<void> {
  await lock(db, 'aggregator sources');
}

function parametersOf({ adres, naam, portaal, vanaf, tot, options = {} }: NewSource): unknown[] {
  return [adres, naam, portaal, vanaf, tot, JSON.stringify(options)];
}

async function changeSource(db: Db, source: NewSource): Promise<void> {
  // As a reading locks: the window, then the source.
  await db.query(
    `select from aggregator.windows where source_id = (select id from aggregator.sources where address = $1::text) order by first_day for update`,
    [source.adres],
  );
  await db.query(
    `with changed as (
       update aggregator.sources
          set name = $2::text, portal = $3::text, first_day = $4::date, last_day = $5::date, options = $6::jsonb, next_at = now(),
              compare_again_at = now(), ${REVOKED}
        where address = $1::text
    returning id
     ), due as (
       -- Other days, bodies or a portal may change every record.
       update aggregator.windows set next_full_at = now() where source_id in (select id from changed)
     )
     -- The operator may have given a value that had to be guessed.
     delete from aggregator.issues where source_id in (select id from changed) and kind = $7::text`,
    [...parametersOf(source), UNCONFIRMED],
  );
}

/** A supplier's source gets its organisation at once. @throws {Error} for operators, when another source has it */
async function insertSource(db: Db, source: NewSource): Promise<void> {
  const { adres, soort, organisatiecodes, naam } = source;
  const { rows } = await db.query<{ id: number }>(
    `insert into aggregator.sources (address, name, portal, first_day, last_day, options, kind, organisatiecodes)
     values ($1::text, $2::text, $3::text, $4::date, $5::date, $6::jsonb, $7::text, $8::text[])
  returning id`,
    [...parametersOf(source), soort, organisatiecodes],
  );
  const [organisatiecode] = organisatiecodes;
  const id = rows[0]?.id;
  if (soort === 'feed' || organisatiecode === undefined || id === undefined) return;
  const organisation = { organisatiecode, naam: naam ?? organisatiecode, laatstBijgewerkt: null };
  const { added, elsewhere } = await saveOfferedOrganisations(db, id, [organisation]);
  const address = parseSourceAddress(adres);
  if (address?.kind === 'leveranciers-api' && hasOwnNumbers(address.scheme)) {
    await db.query(
      `insert into aggregator.numbered_addresses (organisatiecode, scheme, address) values ($1::text, $2::text, $3::text)
           on conflict (organisatiecode, scheme) do update set address = excluded.address`,
      [organisatiecode, address.scheme, adres],
    );
  }
  const [other] = elsewhere;
  // Another supplier may have other days: each source claims the organisation in its own period.
  if (added.length === 0 && other?.soort !== 'leveranciers-api') {
    throw new Error(`${organisatiecode} has a source already: ${other?.adres ?? 'this feed itself'}`);
  }
}

export async function setPaused(db: Db, id: number, paused: boolean): Promise<void> {
  await db.query(
    `update aggregator.sources set paused = $2::boolean, next_at = now(), ${REVOKED} where id = $1::integer`,
    [id, paused],
  );
}

/** Published resources stay in the feed, and another source may take its organisations. */
export async function removeSource(pool: Pool, id: number): Promise<void> {
  await transaction(pool, async (client) => {
    await lockForRemoval(client, id);
    await client.query('delete from aggregator.source_organisations where source_id = $1::integer', [id]);
    await client.query('delete from aggregator.sources where id = $1::integer', [id]);
  });
}

export async function requestComparison(db: Db, id: number): Promise<void> {
  await db.query(
    'update aggregator.sources set compare_again_at = now(), allow_mass_delete = true, next_at = now() where id = $1::integer',
    [id],
  );
}

interface TakeOver {
  readonly from: number;
  readonly to: string;
  readonly codes: readonly string[];
  readonly allowMassDelete: boolean;
}

/** The new source begins with a comparison; a source without organisations is removed. Both lose their leases. */
export async function takeOverOrganisations(pool: Pool, takeOver: TakeOver): Promise<void> {
  const { from, to, codes, allowMassDelete } = takeOver;
  await transaction(pool, async (client) => {
    await lockSources(client);
    await lockForRemoval(client, from);
    const { rows } = await client.query<{ id: number }>(
      `insert into aggregator.sources as b (address, kind, allow_mass_delete, is_comparing)
       values ($1::text, 'feed', $2::boolean, true)
           on conflict (address) do update
          set allow_mass_delete = b.allow_mass_delete or excluded.allow_mass_delete, compare_again_at = now(), next_at = now(),
              organisatiecodes = case when b.organisatiecodes = '{}' then '{}' else b.organisatiecodes || $3::text[] end
    returning id`,
      [to, allowMassDelete, codes],
    );
    const id = rows[0]?.id;
    await client.query(`update aggregator.sources set ${REVOKED} where id = any ($1::integer[])`, [[id, from]]);
    // Absent until the new source's document names them: nothing is published before that.
    await client.query(
      `update aggregator.source_organisations set source_id = $1::integer, is_present = false, source_updated_at = null, withheld = 0
        where source_id = $2::integer and organisatiecode = any ($3::text[])`,
      [id, from, codes],
    );
    await client.query(
      `delete from aggregator.sources
        where (id = $1::integer and not exists (select from aggregator.source_organisations where source_id = $1::integer))
           -- A feed has all of an organisation, whatever the days: the suppliers of earlier days go too.
           or (kind = 'leveranciers-api' and organisatiecodes && $2::text[])`,
      [from, codes],
    );
  });
}

/** Waits for a publishing transaction. Its rows refer to the source and lock it weakly; a weaker lock here would let both wait for each other. */
async function lockForRemoval(db: Db, id: number): Promise<void> {
  await db.query('select from aggregator.sources where id = $1::integer for update', [id]);
}

export interface SourceState extends Pick<Source, 'id' | 'adres' | 'soort' | 'vanaf' | 'tot'> {
  readonly toestand: 'actief' | 'gepauzeerd';
  /** How far a feed is read; `null` for a supplier, which has days instead. */
  readonly fase: 'stand' | 'historie' | 'feed' | null;
  readonly openGeweigerd: number;
  readonly organisaties: readonly string[];
  readonly bijgewerkt: Date | null;
  readonly lagSeconds: number;
  readonly behind: number | null;
  readonly gelezen: number;
  readonly gepubliceerd: number;
  readonly geweigerd: number;
  readonly mislukt: number;
  readonly fout: string | null;
  readonly foutSoort: string | null;
  readonly foutSinds: Date | null;
  readonly achtergehouden: number;
  readonly meldingen: number;
  /** Rounded down to a tenth. */
  readonly dekking: number | null;
  readonly volgende: Date;
}

const BEHIND = 'case when b.last_number is null then null else greatest(b.head - b.last_number, 0) end';
const REFUSED = '(select count(*) from aggregator.refused w where w.source_id = b.id)';
const COVERAGE = `(select case when sum(shown) = 0 then 100 else floor(sum(held)::double precision / sum(shown) * 1000) / 10 end
                     from aggregator.coverage where source_id = b.id having count(*) > 0)`;

export async function readSourceStates(db: Db): Promise<SourceState[]> {
  const { rows } = await db.query<SourceState>({
    name: 'aggregator-source-states',
    text: `select b.id, b.address as adres, b.kind as soort, case when b.paused then 'gepauzeerd' else 'actief' end as toestand,
                  case when b.kind = 'feed' then case b.phase when 'snapshot' then 'stand' when 'history' then 'historie' else b.phase end end as fase,
                  b.caught_up_at as bijgewerkt,
                  ${REFUSED} as "openGeweigerd", ${BEHIND} as behind, ${COVERAGE} as dekking,
                  extract(epoch from now() - coalesce(b.caught_up_at, b.added_at))::double precision as "lagSeconds",
                  b.records_read as gelezen, b.records_published as gepubliceerd, b.records_refused as geweigerd, b.failures as mislukt,
                  b.failure_message as fout, b.failure_kind as "foutSoort", b.failing_since as "foutSinds",
                  b.next_at as volgende, b.first_day::text as vanaf, b.last_day::text as tot,
                  coalesce(o.codes, b.organisatiecodes) as organisaties,
                  coalesce(o.withheld, 0) + coalesce(v.withheld, 0) as achtergehouden,
                  (select count(*) from aggregator.issues where source_id = b.id) as meldingen
             from aggregator.sources b
             left join lateral (select array_agg(organisatiecode order by organisatiecode) as codes, sum(withheld) as withheld
                                  from aggregator.source_organisations where source_id = b.id) o on true
             left join lateral (select sum(withheld) as withheld from aggregator.windows where source_id = b.id) v on true
            order by b.id`,
  });
  return rows;
}

export async function readCompletenessOf(db: Db, organisatiecode: string): Promise<SourceCompleteness | undefined> {
  const { rows } = await db.query<SourceCompleteness>({
    name: 'aggregator-completeness-of',
    text: `select b.caught_up_at as "readAt", b.failing_since as "failingSince",
                  ${BEHIND} as behind, ${REFUSED} as refused, ${COVERAGE} as coverage,
                  (select coalesce(json_agg(json_build_object('name', split_part(l.address, ':', 1), 'from', l.first_day, 'to', l.last_day)
                                            order by l.first_day desc nulls last), '[]')
                     from aggregator.sources l
                    where l.kind = 'leveranciers-api' and $1::text = any (l.organisatiecodes)) as suppliers
             from aggregator.source_organisations o
             join aggregator.sources b on b.id = o.source_id
            where o.organisatiecode = $1::text`,
    values: [organisatiecode],
  });
  const [row] = rows;
  const titleOf = (name: string): string => (isSupplierScheme(name) ? SUPPLIERS[name].title : name);
  return row && { ...row, suppliers: row.suppliers.map((one) => ({ ...one, name: titleOf(one.name) })) };
}
