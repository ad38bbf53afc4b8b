import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Db } from '../../database/transaction.ts';
import { type ItemList, KIND } from '../../lib/exchange-model/mapping.ts';
import type { RecordTraits } from '../import/record-traits.ts';

/** Rows are written in batches of at least this size: one is collected while the other is written. */
const BATCH_CHARACTERS = 4 * 1024 * 1024;
const BLOCK_CHARACTERS = 512 * 1024;
/** The pool's limit is meant for requests; an import takes as long as its file. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;
type Cell = number | string | Buffer | undefined;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Rows for one table, as the text of COPY (Postgres documentation of COPY, "Text Format"). */
class TableRows {
  readonly statement: string;
  #full: string[] = [];
  #block = '';
  characters = 0;

  constructor(table: string, columns: string) {
    this.statement = `copy ${table} (${columns}) from stdin`;
  }

  add(...cells: readonly Cell[]): void {
    this.#block += `${cells.map(cellText).join('\t')}\n`;
    if (this.#block.length >= BLOCK_CHARACTERS) this.#endBlock();
  }

  take(): readonly string[] {
    if (this.#block !== '') this.#endBlock();
    const blocks = this.#full;
    this.#full = [];
    this.characters = 0;
    return blocks;
  }

  #endBlock(): void {
    this.#full.push(this.#block);
    this.characters += this.#block.length;
    this.#block = '';
  }
}

function cellText(cell: Cell): string {
  if (cell === undefined) return '\\N';
  if (cell instanceof Buffer) return `\\\\x${cell.toString('hex')}`;
  return String(cell).replace(/[\\\n\r\t]/g, (character) => ESCAPES[character] ?? character);
}

const NAMED_SIGNALS = 'pg_temp.named_signals';

/** The stored form of an import's records and cases, written in batches while more is read. */
export class ImportRows {
  readonly #client: pg.ClientBase;
  readonly #invoerId: number;
  readonly #records = new TableRows('gegevens.records', 'import_id, levering, kind, number, text');
  readonly #traits = new TableRows(
    'gegevens.record_periods',
    'import_id, levering, number, start_date, end_date, identity_hash',
  );
  readonly #named = new TableRows(NAMED_SIGNALS, 'levering, zaak, identity_hash');
  #writing: Promise<void> = Promise.resolve();

  /** @param client runs no other statements until `finish` or `idle` */
  constructor(client: pg.ClientBase, invoerId: number) {
    this.#client = client;
    this.#invoerId = invoerId;
  }

  text(levering: number, list: ItemList, nummer: number, text: string): void {
    this.#records.add(this.#invoerId, levering, KIND[list], nummer, text);
  }

  traits(levering: number, nummer: number, { begin, einde, sleutel }: RecordTraits): void {
    this.#traits.add(this.#invoerId, levering, nummer, julianDay(begin), julianDay(einde), sleutel);
  }

  named(levering: number, zaak: number, sleutel: Buffer): void {
    this.#named.add(levering, zaak, sleutel);
  }

  /** Begins to write a complete batch, after the previous one; await it now and then. @throws the server's error */
  async write(atLeast = BATCH_CHARACTERS): Promise<void> {
    const tables = [this.#records, this.#traits, this.#named];
    if (tables.reduce((sum, { characters }) => sum + characters, 0) < atLeast) return;
    await this.#writing;
    const batch = tables.map((table) => ({ statement: table.statement, blocks: table.take() }));
    this.#writing = this.#copy(batch.filter(({ blocks }) => blocks.length > 0));
    // A failure is thrown by the next `write`, or `finish`.
    this.#writing.catch(() => undefined);
  }

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

  async #copy(batch: readonly { readonly statement: string; readonly blocks: readonly string[] }[]): Promise<void> {
    for (const { statement, blocks } of batch) {
      const copy = this.#client.query(Object.assign(copyFrom(statement), { query_timeout: NO_TIMEOUT_MS }));
      await pipeline(inTurns(blocks), copy);
    }
  }
}

/** The form of a date that also holds the year 0, which a model allows. @param day since 2000-01-01 */
function julianDay(day: number | undefined): string | undefined {
  return day === undefined ? undefined : `J${day + 2_451_545}`;
}

/** Between blocks the event loop reads the server's messages: when the server ends the connection, its reason arrives before our failure to write. */
async function* inTurns(blocks: readonly string[]): AsyncGenerator<Buffer> {
  for (const block of blocks) {
    yield Buffer.from(block);
    await setImmediate();
  }
}
