import { finished } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { ZaakLinks } from '../import/identifiers.ts';
import type { RecordTraits } from '../import/record-traits.ts';

/** Signature, no flags, no extension (Postgres documentation of COPY, "Binary Format"). */
const HEADER = Buffer.from([...Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), 0, 0, 0, 0, 0, 0, 0, 0]);
const TRAILER = Buffer.from([0xff, 0xff]);
const BLOCK_BYTES = 512 * 1024;
/** The pool's limit is for statements of requests; an import takes as long as its file. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** The width in bytes of a column: an integer or date of that size, or text or bytes. */
type Column = 2 | 4 | 8 | 'text';
/** `null` is an SQL null. */
type Value = number | Buffer | null;

/** Writes rows into a table by binary `copy`: the bytes of a text are sent as they are. */
export class CopyRows {
  readonly #columns: readonly Column[];
  readonly #stream: ReturnType<typeof copyFrom>;
  #block = Buffer.allocUnsafe(BLOCK_BYTES);
  #used = 0;
  /** Full blocks. The stream gets one at a time: it would write what it buffers to a closed connection. */
  readonly #full: Buffer[] = [];
  #writing = false;
  #failed: Error | undefined;
  #onDrained: (() => void) | undefined;

  /** @param statement `copy table (columns) from stdin (format binary)` */
  constructor(client: pg.ClientBase, statement: string, columns: readonly Column[]) {
    this.#columns = columns;
    this.#stream = client.query(Object.assign(copyFrom(statement), { query_timeout: NO_TIMEOUT_MS }));
    // Thrown by `drained` or `end`; the statement has ended then, and nothing may be written any more.
    this.#stream.on('error', (error) => this.#fail(error));
    this.#full.push(HEADER);
    this.#writeNext();
  }

  /** Adds a row; await `drained` now and then. */
  add(values: readonly Value[]): void {
    let size = 2;
    for (const value of values) size += 12 + (value instanceof Buffer ? value.length : 0);
    if (this.#used + size > this.#block.length) this.#flush(size);
    let at = this.#block.writeInt16BE(values.length, this.#used);
    for (let index = 0; index < values.length; index += 1) {
      at = this.#write(values[index] ?? null, this.#columns[index], at);
    }
    this.#used = at;
  }

  /** Resolves when all full blocks are written. @throws the server's error */
  async drained(): Promise<void> {
    if (this.#failed === undefined && (this.#writing || this.#full.length > 0)) {
      await new Promise<void>((resolve) => {
        this.#onDrained = resolve;
      });
    }
    if (this.#failed !== undefined) throw this.#failed;
  }

  /** Ends the rows; the server has all of them then, uncommitted. */
  async end(): Promise<void> {
    this.#flush(0);
    await this.drained();
    this.#stream.end(TRAILER);
    await finished(this.#stream);
  }

  /** Gives up: the statement fails, and the connection can be used to roll back. */
  async cancel(): Promise<void> {
    if (this.#stream.closed || this.#failed !== undefined) return;
    const closed = new Promise((resolve) => this.#stream.once('close', resolve));
    this.#full.length = 0;
    this.#stream.destroy();
    // The error that comes first is the expected one.
    await closed;
  }

  #write(value: Value, column: Column | undefined, from: number): number {
    const block = this.#block;
    if (value === null) return block.writeInt32BE(-1, from);
    if (typeof value !== 'number') {
      const at = block.writeInt32BE(value.length, from);
      return at + value.copy(block, at);
    }
    if (column === 8) return block.writeBigInt64BE(BigInt(value), block.writeInt32BE(8, from));
    if (column === 2) return block.writeInt16BE(value, block.writeInt32BE(2, from));
    return block.writeInt32BE(value, block.writeInt32BE(4, from));
  }

  #flush(needed: number): void {
    if (this.#used > 0) this.#full.push(this.#block.subarray(0, this.#used));
    this.#block = Buffer.allocUnsafe(Math.max(BLOCK_BYTES, needed));
    this.#used = 0;
    this.#writeNext();
  }

  #writeNext(): void {
    if (this.#writing || this.#failed !== undefined) return;
    const block = this.#full.shift();
    if (block === undefined) {
      this.#onDrained?.();
      return;
    }
    this.#writing = true;
    this.#stream.write(block, (error) => {
      this.#writing = false;
      if (error) this.#fail(error);
      else this.#writeNext();
    });
  }

  #fail(error: Error): void {
    this.#failed ??= error;
    this.#onDrained?.();
  }
}

/** A levering by its index in an import. */
interface LeveringKey {
  readonly invoerId: number;
  readonly nummer: number;
}

interface TraitRow {
  readonly levering: number;
  readonly nummer: number;
  readonly traits: RecordTraits;
}

/** A connection runs one `copy` at a time, so traits are collected up to this number: some megabytes. */
const BATCH = 10_000;

/** Traits of records on their way into the database. */
export class TraitRows {
  readonly #client: pg.ClientBase;
  readonly #invoerId: number;
  #pending: TraitRow[] = [];

  constructor(client: pg.ClientBase, invoerId: number) {
    this.#client = client;
    this.#invoerId = invoerId;
  }

  add(levering: number, nummer: number, traits: RecordTraits): void {
    this.#pending.push({ levering, nummer, traits });
  }

  /** Whether they should be written before more are added. */
  get full(): boolean {
    return this.#pending.length >= BATCH;
  }

  /** Writes the collected traits; no other statement may be running on the connection. */
  async flush(): Promise<void> {
    const rows = this.#pending;
    this.#pending = [];
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

/** Writes the record that each case of a levering goes with when all records are delivered. */
export async function copyZaakRecords(client: pg.ClientBase, key: LeveringKey, { bij }: ZaakLinks): Promise<void> {
  await copyAll(
    client,
    'copy gegevens.zaken_bij (invoer_id, levering, bij, zaak) from stdin (format binary)',
    [8, 4, 4, 4],
    zaakRows(key, bij),
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

function* zaakRows({ invoerId, nummer }: LeveringKey, bij: Int32Array): Generator<readonly number[]> {
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
