/** What our own feed has of a source: which of its records, and what stands of them now. */
import { arrayOf } from '../../../kernel/database/array-of.ts';
import type { Db } from '../../../kernel/database/transaction.ts';
import { isRecord } from '../../../kernel/json-value.ts';
import type { Upsert } from '../../domain/change.ts';
import { dataOf } from '../../domain/record-text.ts';
import type { Resource, ResourceType } from '../../domain/resource.ts';

export interface TakenRecord {
  readonly op: 'upsert' | 'delete' | 'redact';
  readonly resourceType: ResourceType;
  readonly resource: Resource;
}

interface Named {
  readonly resource_type: ResourceType;
  readonly organisatiecode: string;
  readonly bronidentificatie: string;
}

function toResource({ organisatiecode, bronidentificatie }: Named): Resource {
  return { organisatiecode, bronidentificatie };
}

/** The records that were taken of these numbers of a feed, by number; of one that was taken twice the last. */
export async function readTaken(
  db: Db,
  feedUrl: string,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, TakenRecord>> {
  const { rows } = await db.query<Named & { readonly number: number; readonly op: TakenRecord['op'] }>({
    name: 'aggregator-taken',
    text: `select herkomst_nummer as number, op, resource_type, organisatiecode, bronidentificatie
             from raadsfeed.record
            where herkomst_feed = $1::text and herkomst_nummer = any ($2::bigint[])
            order by sequence_number`,
    values: [feedUrl, numbers],
  });
  return new Map(
    rows.map(({ number, op, ...row }) => [number, { op, resourceType: row.resource_type, resource: toResource(row) }]),
  );
}

/** What stands of a resource, as it can be published again; with the number by which the snapshot shows it. */
export interface StandingRecord {
  readonly change: Upsert;
  readonly seenNumber: number;
}

/** What stands of these resources, as far as the snapshot that is being compared shows them too. */
export async function readStanding(
  db: Db,
  sourceId: number,
  resources: readonly Pick<Upsert, 'resourceType' | 'resource'>[],
): Promise<StandingRecord[]> {
  const { rows } = await db.query<
    Named & { readonly nummer: number; readonly kop: string; readonly rest: string; readonly hash: string }
  >({
    name: 'aggregator-standing',
    text: `select s.resource_type, s.organisatiecode, s.bronidentificatie, s.content_hash as hash, g.nummer, t.kop, t.rest
             from unnest($2::text[], $3::text[], $4::text[]) as n (organisatiecode, resource_type, bronidentificatie)
             join aggregator.gezien g on g.bron_id = $1::integer and g.organisatiecode = n.organisatiecode
              and g.resource_type = n.resource_type and g.bronidentificatie = n.bronidentificatie and g.nummer is not null
             join raadsfeed.stand s on s.organisatiecode = n.organisatiecode
              and s.resource_type = n.resource_type and s.bronidentificatie = n.bronidentificatie
             join raadsfeed.tekst t on t.sequence_number = s.sequence_number`,
    values: [
      sourceId,
      arrayOf.text(resources.map(({ resource }) => resource.organisatiecode)),
      arrayOf.text(resources.map(({ resourceType }) => resourceType)),
      arrayOf.text(resources.map(({ resource }) => resource.bronidentificatie)),
    ],
  });
  return rows.map(({ nummer, kop, rest, hash, ...row }) => {
    const named = { resourceType: row.resource_type, resource: toResource(row) };
    return { seenNumber: nummer, change: toUpsert(named, { kop, dataText: dataOf(rest, named), contentHash: hash }) };
  });
}

function toUpsert(
  named: Pick<Upsert, 'resourceType' | 'resource'>,
  { kop, dataText, contentHash }: { kop: string; dataText: string; contentHash: string },
): Upsert {
  // The stored text stops where the address of this service comes.
  const said: unknown = JSON.parse(`${kop}"}`);
  const data: unknown = JSON.parse(dataText);
  if (!isRecord(said)) throw new TypeError('a stored record is no object');
  const { sequenceNumber: _n, op: _o, resourceType: _t, resource: _r, storedAt: _s, resourceUrl: _u, ...kept } = said;
  const { contentHash: published, gewijzigdOp, herkomst, aggregatorId, ...other } = kept;
  const organisatie = isRecord(data) && isRecord(data.organisatie) ? data.organisatie : {};
  return {
    op: 'upsert',
    ...named,
    dataText,
    contentHash,
    ...(typeof published === 'string' && published !== contentHash ? { sourceHash: published } : {}),
    organisatienaam: typeof organisatie.naam === 'string' ? organisatie.naam : named.resource.organisatiecode,
    ...(typeof gewijzigdOp === 'string' ? { gewijzigdOp } : {}),
    ...(isRecord(herkomst) && typeof herkomst.feedUrl === 'string' && typeof herkomst.sequenceNumber === 'number'
      ? { herkomst: { feedUrl: herkomst.feedUrl, sequenceNumber: herkomst.sequenceNumber } }
      : {}),
    ...(typeof aggregatorId === 'string' ? { aggregatorId } : {}),
    other,
  };
}
