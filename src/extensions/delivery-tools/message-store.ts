import { type ItemList, listsOf, type Mapping } from '../../gegevens/model/mapping.ts';
import { type JsonObject, textAround } from '../../lib/json/json-value.ts';
import { Scratch } from './scratch.ts';

/** A message of the exchange model that grows item by item: its items are on disk, and each gets a line of the text. */
export class MessageStore {
  /** With their lists, of any content: items are written where a levering has them. */
  readonly leveringen: JsonObject[] = [];
  readonly #mapping: Mapping;
  readonly #items = new Scratch('items (levering integer, list text, row integer, text text)', 4);
  #isIndexed = false;

  constructor(mapping: Mapping) {
    this.#mapping = mapping;
  }

  /**
   * Adds the JSON text of a record or case. Those of a list are in the order of their rows, then as they were added.
   * @throws {ScratchFull}
   */
  add(levering: number, list: ItemList, text: string, row = 0): void {
    this.#items.insert(levering, list, row, text);
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
