import { type ItemList, listsOf, type Mapping } from '../../lib/exchange-model/mapping.ts';
import { type JsonObject, textAround } from '../../lib/json/json-value.ts';
import { inPieces } from './delivery-files.ts';
import { Scratch } from './scratch.ts';

/** A record or case: its levering, list and place in the list. */
export interface Item {
  readonly levering: number;
  readonly list: ItemList;
  readonly nummer: number;
}

/** The row of a table that made a record or case, or the first of them. */
export interface ItemRow {
  readonly row: number;
  /** Texts of its key, as JSON; absent: rows have none. */
  readonly key: string | undefined;
}

/** A message of the exchange model that grows item by item: each item on disk becomes a line of the text. */
export class MessageStore {
  /** With their lists, of any content: items are written where a levering has them. */
  readonly leveringen: JsonObject[] = [];
  readonly #mapping: Mapping;
  readonly #items = new Scratch('items (levering integer, list text, row integer, text text, key text)', 5);

  constructor(mapping: Mapping) {
    this.#mapping = mapping;
  }

  /** Adds the JSON text of a record or case. Those of a list are in the order of their rows, then as they were added. @throws {ScratchFull} */
  add(levering: number, list: ItemList, text: string, { row = 0, key }: Partial<ItemRow> = {}): void {
    this.#items.insert(levering, list, row, text, key ?? null);
  }

  /** Finds where items came from. Only the lists that they are in are numbered. @returns tells it of each of them */
  rowsOf(items: readonly Item[]): (item: Item) => ItemRow | undefined {
    const found = this.#items.query(
      `with wanted as (
         select value ->> 'levering' as levering, value ->> 'list' as list, value ->> 'nummer' as nummer from json_each(?)),
       numbered as (
         select levering, list, row_number() over (partition by levering, list order by row, rowid) - 1 as nummer, row, key
         from items where (levering, list) in (select levering, list from wanted))
       select * from numbered where (levering, list, nummer) in (select * from wanted)`,
      JSON.stringify(items),
    );
    const rows = new Map(
      [...found].map(({ levering, list, nummer, row, key }): [string, ItemRow] => [
        `${levering} ${list} ${nummer}`,
        { row: Number(row), key: typeof key === 'string' ? key : undefined },
      ]),
    );
    return ({ levering, list, nummer }) => rows.get(`${levering} ${list} ${nummer}`);
  }

  /** The text of the whole message, in small pieces. @param envelop with a list of leveringen, of any content */
  *text(envelop: JsonObject): Generator<string> {
    this.#items.execute('create index if not exists by_place on items (levering, list, row)');
    const lists = listsOf(this.#mapping);
    for (const part of textAround(envelop, new Map([['leveringen', this.#mapping.envelop.leveringen]]))) {
      if (part.list === undefined) yield part.text;
      else {
        yield '[\n';
        for (const [index, levering] of this.leveringen.entries()) {
          if (index > 0) yield ',\n';
          for (const inner of textAround(levering, lists)) {
            if (inner.list === undefined) yield inner.text;
            else yield* this.#itemsOf(index, inner.list);
          }
        }
        yield '\n]';
      }
    }
    yield '\n';
  }

  /** The same, in the form that an import reads. */
  *bytes(envelop: JsonObject): Generator<Buffer> {
    for (const piece of inPieces(this.text(envelop))) yield Buffer.from(piece);
  }

  *#itemsOf(levering: number, list: ItemList): Generator<string> {
    let before = '';
    yield '[\n';
    const sql = 'select text from items where levering = ? and list = ? order by row, rowid';
    for (const { text } of this.#items.query(sql, levering, list)) {
      yield `${before}${text}`;
      before = ',\n';
    }
    yield '\n]';
  }

  close(): void {
    this.#items.close();
  }
}
