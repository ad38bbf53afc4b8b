import { randomUUID } from 'node:crypto';
import type { ItemList } from '../../../gegevens/model/mapping.ts';
import type { Model } from '../../../gegevens/model/model.ts';
import type { JsonObject } from '../../../lib/jades/protected-header.ts';
import { valueAt, withValueAt } from '../../../lib/json/json-value.ts';
import { DiskSorter } from './disk-sorter.ts';

/** The row that a record begins in. */
export interface RecordPlace {
  readonly table: number;
  readonly row: number;
}

/** Placeholders that no text of a table can contain. */
const NONCE = randomUUID();
const LISTS: readonly ItemList[] = ['records', 'zaken'];
const START_LINES = 1024;

/** The message of the exchange model that tables make: its records wait on disk, each on a line of its own. */
export class DeliveryMessage {
  readonly #model: Model;
  readonly #heads: JsonObject[] = [];
  readonly #sorter = new DiskSorter();
  readonly #hasZaken: boolean;
  #count = 0;
  /** By line of the message, from 1: table and row of its record. */
  #places = new Uint32Array(2 * START_LINES);

  /** @param hasZaken whether each levering has a list of cases, if an empty one */
  constructor(model: Model, hasZaken: boolean) {
    this.#model = model;
    this.#hasZaken = hasZaken;
  }

  get leveringen(): readonly JsonObject[] {
    return this.#heads;
  }

  /** Adds a levering. @param head without number and lists. @returns its number, from 0 */
  addLevering(head: JsonObject): number {
    this.#heads.push(this.headOf(head, this.#heads.length));
    return this.#heads.length - 1;
  }

  /** A levering with empty lists, as the model judges it. */
  headOf(head: JsonObject, nummer: number): JsonObject {
    const { teller, records, zaken } = this.#model.mapping.levering;
    // The lists come last, in the order in which their records are sorted.
    const filled = withValueAt(withValueAt(head, teller, nummer + 1), records, []);
    return zaken === undefined || !this.#hasZaken ? filled : withValueAt(filled, zaken.lijst, []);
  }

  /** @param order by which the records of a levering are sorted */
  add(levering: number, list: ItemList, order: string, { table, row }: RecordPlace, record: unknown): void {
    this.#count += 1;
    this.#sorter.add(prefixOf(levering, list) + order, `${table} ${row} ${JSON.stringify(record)}`);
  }

  get count(): number {
    return this.#count;
  }

  /** Where the record on a line of the message comes from; known of lines that were read. */
  placeOf(line: number): RecordPlace | undefined {
    const [table = 0, row = 0] = this.#places.subarray(2 * line, 2 * line + 2);
    return row === 0 ? undefined : { table, row };
  }

  close(): void {
    this.#sorter.close();
  }

  /** The text of the whole message, in small pieces; it can be read once. @param envelop without leveringen */
  *pieces(envelop: JsonObject): Generator<string> {
    const records = this.#sorter.sorted();
    let next = records.next();
    let line = 1;
    const leveringen = `leveringen ${NONCE}`;
    const message = withValueAt(envelop, this.#model.mapping.envelop.leveringen, leveringen);
    const [before = '', after = ''] = JSON.stringify(message).split(JSON.stringify(leveringen));
    yield `${before}[`;
    for (const [nummer, head] of this.#heads.entries()) {
      yield nummer === 0 ? '\n' : ',\n';
      line += 1;
      for (const part of this.#headParts(head)) {
        if (typeof part === 'string') {
          yield part;
          continue;
        }
        const prefix = prefixOf(nummer, part.list);
        for (let isFirst = true; !next.done && next.value.key.startsWith(prefix); isFirst = false) {
          const { text } = next.value;
          const row = text.indexOf(' ') + 1;
          const record = text.indexOf(' ', row) + 1;
          line += 1;
          this.#remember(line, Number(text.slice(0, row)), Number(text.slice(row, record)));
          yield isFirst ? '\n' : ',\n';
          yield text.slice(record);
          next = records.next();
        }
      }
    }
    yield `\n]${after}\n`;
  }

  /** The text of a levering around its lists. */
  #headParts(head: JsonObject): (string | { readonly list: ItemList })[] {
    const { records, zaken } = this.#model.mapping.levering;
    let marked = withValueAt(head, records, `records ${NONCE}`);
    if (zaken !== undefined && valueAt(head, zaken.lijst) !== undefined) {
      marked = withValueAt(marked, zaken.lijst, `zaken ${NONCE}`);
    }
    return JSON.stringify(marked)
      .split(new RegExp(`("(?:records|zaken) ${NONCE}")`))
      .flatMap((piece) => {
        const list = LISTS.find((each) => piece === JSON.stringify(`${each} ${NONCE}`));
        return list === undefined ? [piece] : ['[', { list }, ']'];
      });
  }

  #remember(line: number, table: number, row: number): void {
    if (2 * line + 2 > this.#places.length) {
      const grown = new Uint32Array(this.#places.length * 2);
      grown.set(this.#places);
      this.#places = grown;
    }
    this.#places[2 * line] = table;
    this.#places[2 * line + 1] = row;
  }
}

/** Sorts by levering, and in it the records before the cases. */
function prefixOf(levering: number, list: ItemList): string {
  return `${String(levering).padStart(6, '0')}${LISTS.indexOf(list)}`;
}

/** A number so that texts sort as numbers do. */
export function sortable(number: number): string {
  return String(number).padStart(10, '0');
}
