/** What may not fit in memory goes to a database of this process alone, on disk. */
import { DatabaseSync } from 'node:sqlite';

const PAGE_BYTES = 4096;
const MAX_DISK_BYTES = 16 * 1024 ** 3;

/** There is more to keep than there may be on disk. */
export class ScratchFull extends Error {}

/** SQLite deletes a database without a name as soon as it is open: nothing of it remains, however the process ends. */
export function openScratch(diskBytes = MAX_DISK_BYTES): DatabaseSync {
  const database = new DatabaseSync('');
  database.exec(`pragma page_size = ${PAGE_BYTES};
    pragma max_page_count = ${Math.ceil(diskBytes / PAGE_BYTES)};
    pragma cache_size = -8192;
    pragma journal_mode = off;`);
  return database;
}

const SQLITE_FULL = 13;

function insertInto(database: DatabaseSync, table: string): (key: string | number, text: string) => void {
  database.exec('begin');
  const statement = database.prepare(`insert into ${table} values (?, ?)`);
  return (key, text) => {
    try {
      statement.run(key, text);
    } catch (error) {
      if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_FULL) throw new ScratchFull();
      throw error;
    }
  };
}

/** Sorts texts by their keys. Entries with the same key keep their order. */
export class DiskSorter {
  readonly #database: DatabaseSync;
  /** @throws {ScratchFull} */
  readonly add: (key: string, text: string) => void;

  constructor(diskBytes: number = MAX_DISK_BYTES) {
    this.#database = openScratch(diskBytes);
    this.#database.exec('create table entries (key text, text text)');
    this.add = insertInto(this.#database, 'entries');
  }

  /** All entries in the order of their keys. */
  *sorted(): Generator<{ readonly key: string; readonly text: string }> {
    const entries = this.#database.prepare('select key, text from entries order by key, rowid').iterate();
    for (const { key, text } of entries) yield { key: String(key), text: String(text) };
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }
}

/** A list of texts. */
export class TextList {
  readonly #database = openScratch();
  readonly #insert: (index: number, text: string) => void;
  readonly #select;
  length = 0;

  constructor() {
    this.#database.exec('create table texts (id integer primary key, text text)');
    this.#insert = insertInto(this.#database, 'texts');
    this.#select = this.#database.prepare('select text from texts where id = ?');
  }

  /** @throws {ScratchFull} */
  push(text: string): void {
    this.#insert(this.length, text);
    this.length += 1;
  }

  at(index: number): string | undefined {
    const found = Number.isInteger(index) ? this.#select.get(index)?.text : undefined;
    return found === undefined ? undefined : String(found);
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }
}
