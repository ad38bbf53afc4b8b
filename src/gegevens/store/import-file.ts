import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import type pg from 'pg';
import type { Pool } from '../../kernel/database/pool.ts';
import { allowLongStatements, type Db, transaction } from '../../kernel/database/transaction.ts';
import { DeliveryReader } from '../domain/import/delivery-reader.ts';
import { Faults, type ImportFault, TooFaulty } from '../domain/import/faults.ts';
import type { ReadDelivery } from '../domain/import/read-delivery.ts';
import { createTraitsReader } from '../domain/import/record-traits.ts';
import type { Replacement } from '../domain/import/replacement.ts';
import type { Model } from '../domain/model/model.ts';
import { CopyRows } from './copy-rows.ts';
import { fillTraits } from './fill-traits.ts';
import { readRecognitionKey } from './recognition-key.ts';
import { replaceDeliveries } from './replace-deliveries.ts';
import { copyZaakPlaces, copyZaakSignalen, TraitRows } from './trait-rows.ts';

export interface ImportOptions {
  readonly path: string;
  readonly model: Model;
  /** Fires to give up: nothing of the file is stored then. */
  readonly signal: AbortSignal;
  /** Replace also where more than a tenth of the records goes, the name differs, or the municipality or KvK number conflicts. */
  readonly replace?: boolean;
  readonly progress?: (bytesRead: number, records: number) => void;
}

/** What an import stored. */
export interface Imported {
  readonly invoerId: number;
  readonly delivery: ReadDelivery;
  /** What became an earlier version. */
  readonly replacements: readonly Replacement[];
  readonly bytes: number;
}

/** A file has faults and nothing of it was stored. */
export class FaultyFile extends Error {
  readonly faults: readonly ImportFault[];
  constructor(path: string, faults: readonly ImportFault[]) {
    super(`${path} has faults`);
    this.name = 'FaultyFile';
    // An envelope is judged when the file has ended; its faults belong where they stand.
    this.faults = faults.toSorted((a, b) => a.line - b.line);
  }
}

const CHUNK_BYTES = 1024 * 1024;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Imports one file of the exchange model, in one transaction: either all of it becomes current at once, or nothing is stored, also
 * when the process is killed half-way.
 * @throws {FaultyFile} with up to 100 faults; {ReplacementRefused} when `replace` is needed; the signal's reason when it fired; what
 *   the file system or database says
 */
export async function importFile(pool: Pool, options: ImportOptions): Promise<Imported> {
  const file = await open(options.path);
  try {
    // What is there is compared by municipality: that of an older import may not have been read yet.
    await fillTraits(pool, options.model);
    return await transaction(pool, async (client) => {
      const db = await allowLongStatements(client, 0);
      await client.query('set local idle_in_transaction_session_timeout = 0');
      return await importInto(client, db, file, options);
    });
  } finally {
    await file.close();
  }
}

async function importInto(client: pg.PoolClient, db: Db, file: FileHandle, options: ImportOptions): Promise<Imported> {
  const { path, model, signal } = options;
  const { size } = await file.stat();
  const { rows } = await client.query<{ id: number }>(
    `insert into gegevens.invoeren (variant, model_versie, bestand, bytes) values ($1::text, $2::text, $3::text, $4::bigint)
     returning id`,
    [model.variant, model.mapping.versie, basename(path), size],
  );
  const invoerId = rows[0]?.id ?? 0;
  const delivery = await copyRecords(client, file, invoerId, options);
  await copyZaken(client, invoerId, delivery);
  signal.throwIfAborted();
  const replacements = await replaceDeliveries(db, {
    variant: model.variant,
    model: model.mapping.versie,
    invoerId,
    delivery,
    force: options.replace ?? false,
  });
  return { invoerId, delivery, replacements, bytes: size };
}

async function copyRecords(
  client: pg.PoolClient,
  file: FileHandle,
  invoerId: number,
  { path, model, signal, progress }: ImportOptions,
): Promise<ReadDelivery> {
  const begin = (): CopyRows =>
    new CopyRows(
      client,
      'copy gegevens.records (invoer_id, levering, soort, nummer, tekst) from stdin (format binary)',
      [8, 4, 2, 4, 'text'],
    );
  const traitsOf = createTraitsReader(model.mapping, await readRecognitionKey(client));
  let rows = begin();
  const traits = new TraitRows(client, invoerId);
  const faults = new Faults();
  const reader = new DeliveryReader({
    model,
    faults,
    traitsOf,
    sink: {
      text: (levering, list, nummer, bytes) =>
        rows.add([invoerId, levering, list === 'records' ? 0 : 1, nummer, bytes]),
      traits: (levering, nummer, found) => traits.add(levering, nummer, found),
    },
  });
  try {
    let bytesRead = 0;
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead: got } = await file.read(buffer, 0, CHUNK_BYTES);
      if (got === 0) break;
      const start = bytesRead === 0 && buffer.subarray(0, 3).equals(BOM) ? 3 : 0;
      reader.feed(buffer.subarray(start, got));
      bytesRead += got;
      progress?.(bytesRead, reader.records);
      await rows.drained();
      if (traits.full) {
        await rows.end();
        await traits.flush();
        rows = begin();
      }
    }
    const delivery = reader.finish();
    if (delivery === undefined) throw new TooFaulty();
    await rows.end();
    await traits.flush();
    return delivery;
  } catch (error) {
    await rows.cancel();
    throw error instanceof TooFaulty ? new FaultyFile(path, faults.list) : error;
  }
}

async function copyZaken(client: pg.PoolClient, invoerId: number, { leveringen }: ReadDelivery): Promise<void> {
  for (const { nummer, zaakLinks } of leveringen) {
    if (zaakLinks === undefined || zaakLinks.bij.length === 0) continue;
    await copyZaakPlaces(client, { invoerId, nummer }, zaakLinks);
    await copyZaakSignalen(client, { invoerId, nummer }, zaakLinks);
  }
}
