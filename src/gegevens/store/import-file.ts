import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type pg from 'pg';
import type { Pool } from '../../database/pool.ts';
import { allowLongStatements, type Db, transaction } from '../../database/transaction.ts';
import type { Variant } from '../../lib/exchange-model/mapping.ts';
import { builtInVersions, loadModel, type Model } from '../../lib/exchange-model/model.ts';
import {
  type DeliveryConsumer,
  DeliveryReader,
  type DeliveryReaderOptions,
  type ReadDelivery,
} from '../import/delivery-reader.ts';
import { Faults, type ImportFault, ImportStopped } from '../import/faults.ts';
import { createTraitsReader } from '../import/record-traits.ts';
import { type BlockingFinding, writeForcedImport } from './forced-imports.ts';
import { ImportRows } from './import-rows.ts';
import { type Replacement, replaceDeliveries } from './replace-deliveries.ts';

/** The bytes of a delivery in large pieces, each valid until the next. */
export type DeliveryBytes = AsyncIterable<Buffer> | Iterable<Buffer>;

export interface ImportOptions {
  readonly path: string;
  readonly bytes?: DeliveryBytes | undefined;
  readonly model: Model;
  readonly signal: AbortSignal;
  /** Replace even if more than a tenth of the records would be lost, the name differs, or the municipality or KvK number conflicts. */
  readonly replace?: boolean;
  /** Also receives all records, and decides before anything becomes current. */
  readonly judge?: ImportJudge | undefined;
  readonly progress?: (bytesRead: number, records: number) => void;
}

export interface ImportJudge {
  readonly consumer: DeliveryConsumer;
  /** Called once everything has been read and fits the model. @returns blocking findings that are stored nevertheless @throws to store nothing */
  approve(): readonly BlockingFinding[];
}

export interface Imported {
  readonly invoerId: number;
  readonly delivery: ReadDelivery;
  readonly replacements: readonly Replacement[];
  readonly bytes: number;
}

/** The file has faults, and nothing of it was stored. */
export class FaultyFile extends Error {
  override readonly name = 'FaultyFile';
  readonly faults: readonly ImportFault[];
  constructor(path: string, faults: readonly ImportFault[]) {
    super(`${path} has faults`);
    // The envelope is checked last, but its faults belong at their lines.
    this.faults = faults.toSorted((a, b) => a.line - b.line);
  }
}

const PIECE_BYTES = 1024 * 1024;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Imports one file of the exchange model in one transaction: all of it becomes current, or nothing is stored.
 * @throws {FaultyFile} with up to 100 faults; errors of the judge; {ReplacementRefused} when `replace` is needed
 */
export async function importFile(pool: Pool, options: ImportOptions): Promise<Imported> {
  const { path, signal, replace: force = false } = options;
  const { variant, mapping } = options.model;
  const { size } = await stat(path);
  return await transaction(pool, async (client) => {
    const db = await allowLongStatements(client, 0);
    await client.query('set local idle_in_transaction_session_timeout = 0');
    const { rows } = await client.query<{ id: number }>(
      `insert into gegevens.imports (variant, model_version, file_name, bytes) values ($1::text, $2::text, $3::text, $4::bigint)
       returning id`,
      [variant, mapping.versie, basename(path), size],
    );
    const invoerId = rows[0]?.id ?? 0;
    const delivery = await copyRecords(client, db, invoerId, options);
    signal.throwIfAborted();
    const forced = options.judge?.approve() ?? [];
    const replacements = await replaceDeliveries(db, { variant, model: mapping.versie, invoerId, delivery, force });
    if (forced.length > 0) await writeForcedImport(db, invoerId, forced);
    return { invoerId, delivery, replacements, bytes: size };
  });
}

async function copyRecords(
  client: pg.PoolClient,
  db: Db,
  invoerId: number,
  { path, bytes, model, signal, progress, judge }: ImportOptions,
): Promise<ReadDelivery> {
  const reader = createTraitsReader(model.mapping, await readRecognitionKey(client));
  const rows = new ImportRows(client, invoerId);
  await rows.begin();
  const faults = new Faults();
  const store: DeliveryConsumer = {
    item({ levering, list, nummer, value, fits }, text) {
      // After a fault nothing is stored, but the rest is still checked.
      if (!fits || faults.list.length > 0) return;
      rows.text(levering, list, nummer, text);
      if (list === 'records') rows.traits(levering, nummer, reader.traits(value));
      else for (const sleutel of reader.signals(value)) rows.named(levering, nummer, sleutel);
    },
  };
  try {
    const delivery = await readDelivery(bytes ?? path, {
      model,
      faults,
      signal,
      consumers: judge === undefined ? [store] : [judge.consumer, store],
      progress: async (bytesRead, records) => {
        progress?.(bytesRead, records);
        await rows.write();
      },
    });
    if (delivery === undefined) throw new FaultyFile(path, faults.list);
    await rows.finish(db);
    return delivery;
  } catch (error) {
    await rows.idle();
    throw error;
  }
}

/** The key of this database under which persons and IDs are hashed, to recognise a record in several deliveries. */
async function readRecognitionKey(db: Db): Promise<Buffer> {
  const { rows } = await db.query<{ key: Buffer }>('select key from gegevens.recognition_key');
  const [row] = rows;
  if (row !== undefined) return row.key;
  throw new Error('gegevens.recognition_key is empty: the database is not as the migrations made it');
}

/** The version of the newest built-in model that a file fits. @param except a version that it is known not to fit */
export async function recogniseModel(
  path: string,
  { variant, except }: { readonly variant: Variant; readonly except?: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const version of builtInVersions(variant).toReversed()) {
    if (version === except) continue;
    const options = { model: loadModel(variant, version), faults: new Faults(1), signal };
    if ((await readDelivery(path, options)) !== undefined) return version;
  }
  return undefined;
}

/** Reads a file, or the bytes of one. @returns its contents; `undefined` when it has faults @throws the signal's reason; errors of the file system */
export async function readDelivery(
  from: string | DeliveryBytes,
  {
    signal,
    progress,
    ...options
  }: DeliveryReaderOptions & {
    readonly signal: AbortSignal;
    readonly progress?: ((bytesRead: number, records: number) => Promise<void> | void) | undefined;
  },
): Promise<ReadDelivery | undefined> {
  const reader = new DeliveryReader(options);
  let bytesRead = 0;
  try {
    for await (const piece of typeof from === 'string' ? bytesOf(from) : from) {
      signal.throwIfAborted();
      reader.feed(bytesRead === 0 && piece.subarray(0, 3).equals(BOM) ? piece.subarray(3) : piece);
      bytesRead += piece.length;
      await progress?.(bytesRead, reader.records);
    }
    return reader.finish();
  } catch (error) {
    if (error instanceof ImportStopped) return undefined;
    throw error;
  }
}

async function* bytesOf(path: string): AsyncGenerator<Buffer> {
  await using file = await open(path);
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, PIECE_BYTES);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}
