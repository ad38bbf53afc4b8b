/** Data that may not fit in memory goes to a private database on disk. */
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';

const PAGE_BYTES = 4096;
const MAX_DISK_BYTES = 16 * 1024 ** 3;
const SQLITE_FULL = 13;

export class ScratchFull extends Error {}

export class Scratch {
  // SQLite deletes a database without a name as soon as it is open, so nothing remains however the process ends.
  readonly #database = new DatabaseSync('');
  readonly #insert;

  /** @param table its name with its columns, as `create table` takes them */
  constructor(table: string, columns: number, diskBytes = MAX_DISK_BYTES) {
    this.#database.exec(`pragma page_size = ${PAGE_BYTES};
      pragma max_page_count = ${Math.ceil(diskBytes / PAGE_BYTES)};
      pragma cache_size = -8192;
      pragma journal_mode = off;
      create table ${table};
      begin`);
    const [name] = table.split(' ');
    this.#insert = this.#database.prepare(
      `insert or ignore into ${name} values (${Array(columns).fill('?').join(', ')})`,
    );
  }

  /** @returns whether it was new, for a table with a key. @throws {ScratchFull} */
  insert(...values: SQLInputValue[]): boolean {
    try {
      return this.#insert.run(...values).changes > 0;
    } catch (error) {
      if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_FULL) throw new ScratchFull();
      throw error;
    }
  }

  execute(sql: string): void {
    this.#database.exec(sql);
  }

  query(sql: string, ...values: SQLInputValue[]) {
    return this.#database.prepare(sql).iterate(...values);
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }
}
