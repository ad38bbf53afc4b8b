import type pg from 'pg';
import type { RecordTraits } from '../domain/import/record-traits.ts';
import type { ZaakLinks } from '../domain/import/zaak-places.ts';
import { CopyRows } from './copy-rows.ts';

/** A levering by its place in an import. */
export interface LeveringKey {
  readonly invoerId: number;
  readonly nummer: number;
}

interface TraitRow {
  readonly levering: number;
  readonly nummer: number;
  readonly traits: RecordTraits;
}

/** A connection does one `copy` at a time, so traits wait until there are this many: some megabytes. */
const BATCH = 50_000;

/** Traits of records on their way into the database. */
export class TraitRows {
  readonly #client: pg.ClientBase;
  readonly #invoerId: number;
  #waiting: TraitRow[] = [];

  constructor(client: pg.ClientBase, invoerId: number) {
    this.#client = client;
    this.#invoerId = invoerId;
  }

  add(levering: number, nummer: number, traits: RecordTraits): void {
    this.#waiting.push({ levering, nummer, traits });
  }

  /** Whether they should be written before more are added. */
  get full(): boolean {
    return this.#waiting.length >= BATCH;
  }

  /** Writes what waits; nothing else may be under way on the connection. */
  async flush(): Promise<void> {
    const rows = this.#waiting;
    this.#waiting = [];
    await copyAll(
      this.#client,
      'copy gegevens.looptijden (invoer_id, levering, nummer, begin, einde, sleutel) from stdin (format binary)',
      [8, 4, 4, 4, 4, 'text'],
      rows.map(({ levering, nummer, traits: { begin, einde, sleutel } }) => [
        ...[this.#invoerId, levering, nummer, begin ?? null, einde ?? null],
        sleutel ?? null,
      ]),
    );
  }
}

/** Writes with which record each case of a levering goes when all of its records are delivered. */
export async function copyZaakPlaces(client: pg.ClientBase, key: LeveringKey, { bij }: ZaakLinks): Promise<void> {
  await copyAll(
    client,
    'copy gegevens.zaken_bij (invoer_id, levering, bij, zaak) from stdin (format binary)',
    [8, 4, 4, 4],
    placeRows(key, bij),
  );
}

/** Writes which records the cases of a levering name. */
export async function copyZaakSignalen(
  client: pg.ClientBase,
  key: LeveringKey,
  { signalen }: ZaakLinks,
): Promise<void> {
  await copyAll(
    client,
    'copy gegevens.zaak_signalen (invoer_id, levering, zaak, signaal) from stdin (format binary)',
    [8, 4, 4, 4],
    signalRows(key, signalen),
  );
}

function* signalRows({ invoerId, nummer }: LeveringKey, signalen: Int32Array): Generator<readonly number[]> {
  for (let at = 0; at < signalen.length; at += 2) yield [invoerId, nummer, signalen[at] ?? 0, signalen[at + 1] ?? 0];
}

function* placeRows({ invoerId, nummer }: LeveringKey, bij: Int32Array): Generator<readonly number[]> {
  for (const [zaak, record] of bij.entries()) yield [invoerId, nummer, record, zaak];
}

async function copyAll(
  client: pg.ClientBase,
  statement: string,
  columns: ConstructorParameters<typeof CopyRows>[2],
  values: Iterable<readonly (number | Buffer | null)[]>,
): Promise<void> {
  let rows: CopyRows | undefined;
  let count = 0;
  try {
    for (const row of values) {
      rows ??= new CopyRows(client, statement, columns);
      rows.add(row);
      count += 1;
      if (count % 10_000 === 0) await rows.drained();
    }
    await rows?.end();
  } catch (error) {
    await rows?.cancel();
    throw error;
  }
}
