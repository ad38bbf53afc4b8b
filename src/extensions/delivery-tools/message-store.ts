import { randomUUID } from 'node:crypto';
import type { ItemList, Mapping } from '../../gegevens/model/mapping.ts';
import { type JsonObject, valueAt, withValueAt } from '../../lib/json/json-value.ts';
import { DiskSorter } from './scratch.ts';

/** Where the items of a list of a levering belong in the text of a message. */
interface ListPlace {
  readonly levering: number;
  readonly list: ItemList;
}

/** Where a record comes from. */
export interface RecordOrigin {
  readonly table: number;
  readonly row: number;
}

interface StoredItem extends ListPlace {
  readonly text: string;
  readonly origin: RecordOrigin;
}

const LISTS: readonly ItemList[] = ['records', 'zaken'];
const NO_ORIGIN: RecordOrigin = { table: 0, row: 0 };

/** A message of the exchange model that grows item by item: its items are on disk, and each gets a line of the text. */
export class MessageStore {
  readonly leveringen: JsonObject[] = [];
  readonly #mapping: Mapping;
  readonly #sorter = new DiskSorter();

  constructor(mapping: Mapping) {
    this.#mapping = mapping;
  }

  /**
   * Adds the JSON text of a record or case.
   * @param order by which all items of the message are sorted; items with the same one stay in the order in which they were added
   * @throws {ScratchFull}
   */
  add({ levering, list }: ListPlace, text: string, order = '', { table, row } = NO_ORIGIN): void {
    this.#sorter.add(order, `${levering} ${LISTS.indexOf(list)} ${table} ${row} ${text}`);
  }

  /** The text of the whole message, in small pieces. @param envelop with a list of leveringen, of any content */
  *text(envelop: JsonObject): Generator<string> {
    const frame = new MessageFrame(this.#mapping, envelop, this.leveringen);
    for (const { levering, list, text } of this.#items()) {
      yield frame.upTo({ levering, list }) || ',\n';
      yield text;
    }
    yield `${frame.upTo()}\n`;
  }

  /** Where the records on some lines of the text come from. */
  originsOf(lines: ReadonlySet<number>): ReadonlyMap<number, RecordOrigin> {
    const found = new Map<number, RecordOrigin>();
    if (lines.size === 0) return found;
    const envelop = withValueAt({}, this.#mapping.envelop.leveringen, []);
    const frame = new MessageFrame(this.#mapping, envelop, this.leveringen);
    let line = 1;
    for (const { origin, ...place } of this.#items()) {
      line += (frame.upTo(place) || '\n').split('\n').length - 1;
      if (lines.has(line)) found.set(line, origin);
    }
    return found;
  }

  *#items(): Generator<StoredItem> {
    for (const { text: stored } of this.#sorter.sorted()) {
      const [head = '', levering, list, table, row] = /^(\d+) (\d) (\d+) (\d+) /.exec(stored) ?? [];
      const origin = { table: Number(table), row: Number(row) };
      const text = stored.slice(head.length);
      yield { levering: Number(levering), list: LISTS[Number(list)] ?? 'records', text, origin };
    }
  }

  close(): void {
    this.#sorter.close();
  }
}

/** The text of a message around the items of its lists. */
class MessageFrame {
  readonly #tokens: readonly (string | ListPlace)[];
  #next = 0;

  constructor(
    { envelop: paths, levering: { records, zaken } }: Mapping,
    envelop: JsonObject,
    heads: readonly JsonObject[],
  ) {
    const lists = [records, ...(zaken === undefined ? [] : [zaken.lijst])];
    const leveringen = heads.flatMap((head, levering) => {
      const tokens = textAround(head, lists).map((piece) =>
        typeof piece === 'string' ? piece : { levering, list: LISTS[piece] ?? 'records' },
      );
      return levering === 0 ? tokens : [',\n', ...tokens];
    });
    this.#tokens = textAround(envelop, [paths.leveringen]).flatMap((piece) =>
      typeof piece === 'string' ? [piece] : leveringen,
    );
  }

  /** The text from where it was to the place of a list; empty when it is there. @param place absent: the end */
  upTo(place?: ListPlace): string {
    let text = '';
    for (; this.#next < this.#tokens.length; this.#next += 1) {
      const token = this.#tokens[this.#next];
      if (typeof token === 'string') text += token;
      else if (token?.levering === place?.levering && token?.list === place?.list) break;
    }
    return text;
  }
}

/** The JSON text of an object around some of its lists, where it has them. @returns texts, and the indexes of the lists between them */
export function textAround(object: JsonObject, lists: readonly (readonly string[])[]): (string | number)[] {
  const nonce = randomUUID();
  const marked = lists.reduce(
    (whole, path, index) =>
      valueAt(whole, path) === undefined ? whole : withValueAt(whole, path, `${nonce} ${index}`),
    object,
  );
  return JSON.stringify(marked)
    .split(new RegExp(`"${nonce} (\\d)"`))
    .flatMap((piece, index) => (index % 2 === 0 ? [piece] : ['[\n', Number(piece), '\n]']));
}
