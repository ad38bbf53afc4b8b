/** What is offered and what is left out, and why; for operators. */
import type { Db } from '../../database/transaction.ts';
import type { Reason } from './offer.ts';

/** Why a document of the feed is not offered. */
export type LeftOutReason = Reason | 'removed' | 'redacted';

/** What each reason means. */
export const REASONS: Readonly<Record<LeftOutReason, string>> = {
  'no-file': 'no bestandsurl',
  'not-https': 'the bestandsurl is not https',
  'bad-address': 'the bestandsurl is no address that a sitemap may hold',
  'unknown-category': 'the wooinformatiecategorie is not in the value list',
  'no-date': 'no day on which it was submitted',
  'closed-items-only': 'only on closed agenda items',
  'same-address': 'another document offers the same file',
  removed: 'removed from the feed',
  redacted: 'redacted',
};

export interface CategoryCount {
  readonly organisatiecode: string;
  readonly categorie: number;
  readonly documents: number;
  readonly sitemaps: number;
}

export interface LeftOutCount {
  readonly reason: LeftOutReason;
  readonly documents: number;
}

export async function countOffered(db: Db): Promise<CategoryCount[]> {
  const { rows } = await db.query<CategoryCount>(
    `select organisatiecode, categorie, sum(aantal)::integer as documents, count(*)::integer as sitemaps
       from diwoo.sitemap where aantal > 0
      group by organisatiecode, categorie order by categorie, organisatiecode`,
  );
  return rows;
}

/** Documents by the reason why they are left out; those that are gone as far as the history of the feed goes. */
export async function countLeftOut(db: Db): Promise<LeftOutCount[]> {
  const { rows } = await db.query<LeftOutCount>(
    `select reden as reason, count(*)::integer as documents from diwoo.documents where reden is not null group by reden
     union all
     select case op when 'redact' then 'redacted' else 'removed' end, count(*)::integer
       from (select distinct on (organisatiecode, bronidentificatie) op, organisatiecode, bronidentificatie
               from raadsfeed.record r
              where resource_type = 'Informatieobject' and op <> 'upsert'
                and not exists (select from raadsfeed.current_records s
                                 where s.organisatiecode = r.organisatiecode and s.resource_type = r.resource_type
                                   and s.bronidentificatie = r.bronidentificatie)
              order by organisatiecode, bronidentificatie, sequence_number desc) g
      group by 1
      order by 2 desc, 1`,
  );
  return rows;
}

export interface HostCount {
  readonly host: string;
  readonly categorie: number;
  readonly documents: number;
}

/** The hosts of the files that are offered. */
export async function countHosts(db: Db): Promise<HostCount[]> {
  const { rows } = await db.query<HostCount>(
    `select substring(loc from '^https://([^/?#]+)') as host, categorie, count(*)::integer as documents
       from diwoo.documents where plaats is not null
      group by 1, 2 order by 1, 2`,
  );
  return rows;
}
