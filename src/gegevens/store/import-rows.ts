import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Db } from '../../database/transaction.ts';
import { type ItemList, KIND } from '../../lib/exchange-model/mapping.ts';
import type { RecordTraits } from '../import/record-traits.ts';

/** Signature, no flags, no extension (Postgres documentation of COPY, "Binary Format"). */
const HEADER = Buffer.from([...Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), 0, 0, 0, 0, 0, 0, 0, 0]);
const TRAILER = Buffer.from([0xff, 0xff]);
const BLOCK_BYTES = 512 * 1024;
/** Rows are written in batches of at least this size: one is collected while the other is written. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** The pool's limit is meant for requests; an import takes as long as its file. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** The width in bytes of a column: an integer or date of that size, or text or bytes. */
type Column = 2 | 4 | 8 | 'text';

class TableRows {
  readonly statement: string;
  readonly #columns: readonly Column[];
  #full: Buffer[] = [];
  #block = Buffer.allocUnsafe(0);
  #used = 0;
  /** Size of the full blocks. */
  bytes = 0;

  constructor(table: string, columns: Readonly<Record<string, Column>>) {
    this.statement = `copy ${table} (${Object.keys(columns).join(', ')}) from stdin (format binary)`;
    this.#columns = Object.values(columns);
  }

  /** @param values `null` is an SQL null; bytes are copied */
  add(values: readonly (number | Buffer | null)[]): void {
    let size = 2;
    for (const value of values) size += 12 + (value instanceof Buffer ? value.length : 0);
    if (this.#used + size > this.#block.length) this.#nextBlock(size);
    let at = this.#block.writeInt16BE(values.length, this.#used);
    for (let index = 0; index < values.length; index += 1) {
      at = this.#write(values[index] ?? null, this.#columns[index], at);
    }
    this.#used = at;
  }

  /** @returns the blocks collected so far, and drops them */
  take(): readonly Buffer[] {
    this.#nextBlock(0);
    const blocks = this.#full;
    this.#full = [];
    this.bytes = 0;
    return blocks;
  }

  #write(value: number | Buffer | null, column: Column | undefined, from: number): number {
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

  #nextBlock(needed: number): void {
    if (this.#used > 0) this.#full.push(this.#block.subarray(0, this.#used));
    this.bytes += this.#used;
    this.#block = Buffer.allocUnsafe(needed === 0 ? 0 : Math.max(BLOCK_BYTES, needed));
    this.#used = 0;
  }
}

/** Temporary: the signals named by the cases of this import, by key. */
const NAMED_SIGNALS = 'pg_temp.named_signals';

/** The stored form of an import's records and cases, written in batches while more is read. */
export class ImportRows {
  readonly #client: pg.ClientBase;
  readonly #invoerId: number;
  readonly #records = new TableRows('gegevens.records', {
    import_id: 8,
    levering: 4,
    kind: 2,
    number: 4,
    text: 'text',
  });
  readonly #traits = new TableRows('gegevens.record_periods', {
    import_id: 8,
    levering: 4,
    number: 4,
    start_date: 4,
    end_date: 4,
    identity_hash: 'text',
  });
  readonly #named = new TableRows(NAMED_SIGNALS, { levering: 4, zaak: 4, identity_hash: 'text' });
  #writing: Promise<void> = Promise.resolve();

  /** @param client runs no other statements until `finish` or `idle` */
  constructor(client: pg.ClientBase, invoerId: number) {
    this.#client = client;
    this.#invoerId = invoerId;
  }

  text(levering: number, list: ItemList, nummer: number, bytes: Buffer): void {
    this.#records.add([this.#invoerId, levering, KIND[list], nummer, bytes]);
  }

  traits(levering: number, nummer: number, { begin, einde, sleutel }: RecordTraits): void {
    this.#traits.add([this.#invoerId, levering, nummer, begin ?? null, einde ?? null, sleutel ?? null]);
  }

  /** A case names a signal of its levering. */
  named(levering: number, zaak: number, sleutel: Buffer): void {
    this.#named.add([levering, zaak, sleutel]);
  }

  /** Begins to write a complete batch, after the previous one; await it now and then. @throws the server's error */
  async write(atLeast = BATCH_BYTES): Promise<void> {
    const tables = [this.#records, this.#traits, this.#named];
    if (tables.reduce((sum, { bytes }) => sum + bytes, 0) < atLeast) return;
    await this.#writing;
    const batch = tables.map((table) => ({ statement: table.statement, blocks: table.take() }));
    this.#writing = this.#copy(batch.filter(({ blocks }) => blocks.length > 0));
    // A failure is thrown by the next `write`, or `finish`.
    this.#writing.catch(() => undefined);
  }

  /** Await it before any row is added. */
  async begin(): Promise<void> {
    await this.#client.query(
      `create temporary table ${NAMED_SIGNALS} (levering integer, zaak integer, identity_hash bytea) on commit drop`,
    );
  }

  /**
   * Writes the rest, and links each case to the records that it names. Of records with one ID the first counts; a case is delivered with its first
   * record, or with record 0 when the levering has none of them. Afterwards the server has all rows, uncommitted.
   * @param db runs statements of any duration, on the same connection
   */
  async finish(db: Db): Promise<void> {
    await this.write(0);
    await this.#writing;
    // The planner has no statistics of newly written rows yet; nested loops over them would take hours.
    await db.query('set local enable_nestloop = off');
    await db.query(
      `insert into gegevens.case_signals (import_id, levering, zaak, signaal)
       select $1::bigint, n.levering, n.zaak, s.number
       from ${NAMED_SIGNALS} n
       join (select levering, identity_hash, min(number) as number from gegevens.record_periods
         where import_id = $1::bigint group by levering, identity_hash) s
         on s.levering = n.levering and s.identity_hash = n.identity_hash`,
      [this.#invoerId],
    );
    await db.query(
      `insert into gegevens.case_records (import_id, levering, record, zaak)
       select $1::bigint, r.levering, coalesce(min(s.signaal), 0), r.number
       from gegevens.records r
       left join gegevens.case_signals s on s.import_id = r.import_id and s.levering = r.levering and s.zaak = r.number
       where r.import_id = $1::bigint and r.kind = ${KIND.zaken}
       group by r.levering, r.number`,
      [this.#invoerId],
    );
    await db.query('set local enable_nestloop = on');
  }

  /** Resolves when the connection can be used to roll back. */
  async idle(): Promise<void> {
    await this.#writing.catch(() => undefined);
  }

  async #copy(batch: readonly { readonly statement: string; readonly blocks: readonly Buffer[] }[]): Promise<void> {
    for (const { statement, blocks } of batch) {
      const copy = this.#client.query(Object.assign(copyFrom(statement), { query_timeout: NO_TIMEOUT_MS }));
      await pipeline(inTurns([HEADER, ...blocks, TRAILER]), copy);
    }
  }
}

/** Between blocks the event loop reads the server's messages: when the server ends the connection, its reason arrives before our failure to write. */
async function* inTurns(blocks: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const block of blocks) {
    yield block;
    await setImmediate();
  }
}
