import { type ItemList, listsOf, type Mapping } from '../../lib/exchange-model/mapping.ts';
import { type JsonObject, textAround } from '../../lib/json/json-value.ts';
import { Scratch } from './scratch.ts';

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
  #isIndexed = false;

  constructor(mapping: Mapping) {
    this.#mapping = mapping;
  }

  /** Adds the JSON text of a record or case. Those of a list are in the order of their rows, then as they were added. @throws {ScratchFull} */
  add(levering: number, list: ItemList, text: string, { row = 0, key }: Partial<ItemRow> = {}): void {
    this.#items.insert(levering, list, row, text, key ?? null);
  }

  /** Where items of a list came from. @param nummers their places in the list, from 0 */
  rowsOf(levering: number, list: ItemList, nummers: readonly number[]): ReadonlyMap<number, ItemRow> {
    const found = this.#items.query(
      `select nummer, row, key from (
         select row_number() over (order by row, rowid) - 1 as nummer, row, key from items where levering = ? and list = ?)
       where nummer in (select value from json_each(?))`,
      levering,
      list,
      JSON.stringify(nummers),
    );
    return new Map(
      [...found].map(({ nummer, row, key }) => [
        Number(nummer),
        { row: Number(row), key: typeof key === 'string' ? key : undefined },
      ]),
    );
  }

  /** The text of the whole message, in small pieces. @param envelop with a list of leveringen, of any content */
  *text(envelop: JsonObject): Generator<string> {
    if (!this.#isIndexed) this.#items.execute('create index by_place on items (levering, list, row)');
    this.#isIndexed = true;
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
