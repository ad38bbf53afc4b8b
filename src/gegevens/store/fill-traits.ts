import type pg from 'pg';
import type { Pool } from '../../database/pool.ts';
import { allowLongStatements, type Db, transaction } from '../../database/transaction.ts';
import { ZaakLinker } from '../import/identifiers.ts';
import { createTraitsReader, type ReadTraits } from '../import/record-traits.ts';
import { builtInVersions, loadModel, type Model } from '../model/model.ts';
import { organisationOf } from '../model/selection.ts';
import { copyZaakSignalen, TraitRows } from './copy-rows.ts';

interface UnfilledLevering extends Record<string, unknown> {
  readonly id: number;
  readonly invoer_id: number;
  readonly nummer: number;
  readonly model_versie: string;
  readonly kop: string;
}

const BATCH = 2000;

/**
 * Reads the records of leveringen that were imported before records had traits: when each runs, by what it is recognised, and the
 * municipality that all of them name. Each levering is filled once, in one transaction, also when several processes start together.
 * @param configured the variant's model; leveringen of another version are read by the built-in model of that version
 * @returns how many leveringen were read
 */
export async function fillTraits(pool: Pool, configured: Model): Promise<number> {
  let filled = 0;
  while (await transaction(pool, (client) => fillNext(client, configured))) filled += 1;
  return filled;
}

async function fillNext(client: pg.PoolClient, configured: Model): Promise<boolean> {
  const { variant } = configured;
  // Another process may be filling the records of a large city: this one waits, and goes on with the next.
  const db = await allowLongStatements(client, 0);
  const { rows } = await db.query<UnfilledLevering>(
    `select l.id, l.invoer_id, l.nummer, i.model_versie, l.kop
     from gegevens.leveringen l
     join gegevens.invoeren i on i.id = l.invoer_id
     where l.variant = $1::text and not l.looptijden
     order by l.id limit 1 for update of l`,
    [variant],
  );
  const [levering] = rows;
  if (levering === undefined) return false;
  const model = modelOf(levering, configured);
  const key = { invoerId: levering.invoer_id, nummer: levering.nummer };
  const traitsOf = createTraitsReader(model.mapping, await readRecognitionKey(client));
  const municipalities = await readRecords(client, levering, traitsOf);
  const linker = ZaakLinker.of(model.mapping);
  if (linker !== undefined) {
    for await (const { nummer, value } of texts(client, levering, 0)) linker.addRecord(value, nummer);
    for await (const { nummer, value } of texts(client, levering, 1)) linker.addZaak(value, nummer);
    await copyZaakSignalen(client, key, linker.finish());
  }
  const head: unknown = JSON.parse(levering.kop);
  await db.query(
    `update gegevens.leveringen
     set looptijden = true, gemeente_sleutel = coalesce(gemeente_sleutel, $2::text), model_versie = $3::text
     where id = $1::bigint`,
    [levering.id, organisationOf(head, model.mapping, municipalities).gemeenteSleutel ?? null, levering.model_versie],
  );
  return true;
}

function modelOf({ model_versie: version }: UnfilledLevering, configured: Model): Model {
  const { variant, mapping } = configured;
  if (version === mapping.versie || !builtInVersions(variant).includes(version)) return configured;
  return loadModel(variant, version);
}

/** @returns the municipalities that the records name */
async function readRecords(
  client: pg.PoolClient,
  levering: UnfilledLevering,
  traitsOf: ReadTraits,
): Promise<Set<string>> {
  const municipalities = new Set<string>();
  const rows = new TraitRows(client, levering.invoer_id);
  for await (const { nummer, value } of texts(client, levering, 0)) {
    const traits = traitsOf(value);
    if (traits.gemeente !== undefined) municipalities.add(traits.gemeente);
    rows.add(levering.nummer, nummer, traits);
    if (rows.full) await rows.flush();
  }
  await rows.flush();
  return municipalities;
}

/** The parsed texts of a levering in order, in batches. */
async function* texts(
  client: pg.PoolClient,
  levering: UnfilledLevering,
  soort: 0 | 1,
): AsyncGenerator<{ readonly nummer: number; readonly value: unknown }> {
  for (let from = 0; ; ) {
    const { rows } = await client.query<{ nummer: number; tekst: string }>(
      `select nummer, tekst from gegevens.records
       where invoer_id = $1::bigint and levering = $2::int and soort = $3::smallint and nummer >= $4::int
       order by nummer limit $5::int`,
      [levering.invoer_id, levering.nummer, soort, from, BATCH],
    );
    for (const { nummer, tekst } of rows) {
      const value: unknown = JSON.parse(tekst);
      yield { nummer, value };
      from = nummer + 1;
    }
    if (rows.length < BATCH) return;
  }
}

/** The key of this database under which persons and IDs are hashed, to recognise a record in several deliveries. */
export async function readRecognitionKey(db: Db): Promise<Buffer> {
  const { rows } = await db.query<{ sleutel: Buffer }>('select sleutel from gegevens.herkenning');
  const [key] = rows;
  if (key === undefined) throw new Error('gegevens.herkenning is empty: the database is not as the migrations made it');
  return key.sleutel;
}
