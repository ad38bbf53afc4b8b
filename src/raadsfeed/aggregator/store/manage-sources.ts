/** What an operator does with sources. Each change takes the lease away from who is at work, so nothing is published after it. */

import type { Pool } from '../../../kernel/database/pool.ts';
import { type Db, transaction } from '../../../kernel/database/transaction.ts';
import type { Source } from '../source.ts';
import { SOURCE_COLUMNS } from './source-columns.ts';

export interface NewSource {
  readonly adres: string;
  readonly soort: Source['soort'];
  readonly organisatiecodes: readonly string[];
  readonly naam?: string | undefined;
  readonly portaal?: string | undefined;
  readonly vanaf?: string | undefined;
}

/** An organisation that the source is to be bound to has another one already. */
export class OrganisationTakenError extends Error {
  override readonly name = 'OrganisationTakenError';
  constructor(organisatiecode: string, adres: string) {
    super(`${organisatiecode} has a source already: ${adres}`);
  }
}

/**
 * Adds a source; one of a supplier is bound to its organisation at once.
 * @returns false when the address is known already
 * @throws {OrganisationTakenError}
 */
export async function addSource(pool: Pool, source: NewSource): Promise<boolean> {
  return await transaction(pool, async (client) => {
    const { rows } = await client.query<{ id: number }>(
      `insert into aggregator.bron (adres, soort, organisatiecodes, naam, portaal, vanaf)
       values ($1::text, $2::text, $3::text[], $4::text, $5::text, $6::date)
           on conflict (adres) do nothing
    returning id`,
      [
        source.adres,
        source.soort,
        source.organisatiecodes,
        source.naam ?? null,
        source.portaal ?? null,
        source.vanaf ?? null,
      ],
    );
    const [added] = rows;
    if (added === undefined) return false;
    if (source.soort === 'leveranciers-api') await bind(client, added.id, source);
    return true;
  });
}

async function bind(db: Db, id: number, { organisatiecodes, naam }: NewSource): Promise<void> {
  for (const organisatiecode of organisatiecodes) {
    const { rowCount } = await db.query(
      `insert into aggregator.bron_organisatie (organisatiecode, bron_id, naam)
       select $1::text, $2::integer, $3::text
        where not exists (select from raadsfeed.organisatie where organisatiecode = $1::text and herkomst_soort = 'eigen')
           on conflict (organisatiecode) do nothing`,
      [organisatiecode, id, naam ?? organisatiecode],
    );
    if (rowCount === 1) continue;
    const { rows } = await db.query<{ adres: string }>(
      `select b.adres from aggregator.bron_organisatie o join aggregator.bron b on b.id = o.bron_id
        where o.organisatiecode = $1::text`,
      [organisatiecode],
    );
    throw new OrganisationTakenError(organisatiecode, rows[0]?.adres ?? 'this feed itself');
  }
}

/** The source with this address. */
export async function findSource(db: Db, adres: string): Promise<Source | undefined> {
  const { rows } = await db.query<Source>(`select ${SOURCE_COLUMNS} from aggregator.bron where adres = $1::text`, [
    adres,
  ]);
  return rows[0];
}

/** Pauses a source, or lets it go on at once. */
export async function setPaused(db: Db, id: number, paused: boolean): Promise<void> {
  await db.query(
    `update aggregator.bron
        set toestand = $2::text, volgende = now(), huur_nummer = huur_nummer + 1, huurder = null, huur_tot = null
      where id = $1::integer`,
    [id, paused ? 'gepauzeerd' : 'actief'],
  );
}

/** Forgets a source. What was published of it stays in the feed, and its organisations may be taken from another. */
export async function removeSource(pool: Pool, id: number): Promise<void> {
  await transaction(pool, async (client) => {
    // First the row that workers lock: whoever publishes comes before or after, not between.
    await client.query(
      'update aggregator.bron set huur_nummer = huur_nummer + 1, huurder = null, huur_tot = null where id = $1::integer',
      [id],
    );
    await client.query('delete from aggregator.bron_organisatie where bron_id = $1::integer', [id]);
    await client.query('delete from aggregator.bron where id = $1::integer', [id]);
  });
}

/** Asks for a comparison of the whole state at the next turn; `mayMassDelete`: however much is gone. */
export async function requestComparison(db: Db, id: number, mayMassDelete: boolean): Promise<void> {
  await db.query(
    `update aggregator.bron set hervergelijken = now(), mag_massaal = mag_massaal or $2::boolean, volgende = now()
      where id = $1::integer`,
    [id, mayMassDelete],
  );
}
