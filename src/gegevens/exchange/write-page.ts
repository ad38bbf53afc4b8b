import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type pg from 'pg';
import { isRecord, type JsonObject, valueAt, withValueAt } from '../../lib/json/json-value.ts';
import { eventLoopBudget } from '../../lib/scheduling.ts';
import type { Model } from '../model/model.ts';
import type { Paginering, Period, Slice, TextsPart } from '../model/selection.ts';
import { type SelectOptions, streamList, streamSelected } from '../store/selected-records.ts';

/** An answer in parts: text, and lists of stored texts. */
type AnswerPart = string | TextsPart;

interface FrameOptions {
  readonly model: Model;
  readonly slices: readonly Slice[];
  readonly paginering: Paginering | undefined;
  readonly leverancierscode: string;
  /** The bounds that the answer names. */
  readonly period: Period;
  /** When the newest levering of all pages was delivered, so that every page says the same. */
  readonly moment: Date;
}

/** Placeholders that no delivered text can contain. */
const NONCE = randomUUID();
const RECORDS = `records ${NONCE}`;
const ZAKEN = `zaken ${NONCE}`;
const LEVERINGEN = `leveringen ${NONCE}`;
const PLACEHOLDERS = new RegExp(`"((?:records|zaken|leveringen) ${NONCE})"`);

/** The text around the records of an answer. */
export function answerFrame(options: FrameOptions): AnswerPart[] {
  const { model, slices, paginering, period, moment } = options;
  const { envelop } = model.mapping;
  let message: JsonObject = {};
  message = withValueAt(message, envelop.startdatum, period.start);
  message = withValueAt(message, envelop.einddatum, period.end);
  message = withValueAt(message, envelop.aanleverdatumEnTijd, momentText(moment));
  message = withValueAt(message, envelop.leverancierscode, options.leverancierscode);
  const listed = slices.length > 0 || model.leveringenRequired;
  if (listed) message = withValueAt(message, envelop.leveringen, LEVERINGEN);
  const [before = '', , after = ''] = JSON.stringify(message).split(PLACEHOLDERS);
  const closing = paginering === undefined ? '}' : `,"paginering":${JSON.stringify(paginering)}}`;
  if (!listed) return [`{"gegevens":${before}${closing}`];
  const parts: AnswerPart[] = [`{"gegevens":${before}[`];
  if (slices.length === 0) parts.push(...emptyLevering(model));
  slices.forEach((slice, index) => {
    if (index > 0) parts.push(',');
    parts.push(...leveringParts(slice, index + 1, model));
  });
  parts.push(`]${after}${closing}`);
  return parts;
}

function leveringParts(slice: Slice, teller: number, { mapping: { levering: paths } }: Model): AnswerPart[] {
  const stored: unknown = JSON.parse(slice.levering.head);
  if (!isRecord(stored)) throw new TypeError(`levering ${slice.levering.id} has no readable head`);
  let head = withValueAt(stored, paths.teller, teller);
  head = withValueAt(head, paths.records, RECORDS);
  const { zaken } = paths;
  if (zaken !== undefined && valueAt(head, zaken.lijst) !== undefined) head = withValueAt(head, zaken.lijst, ZAKEN);
  // Splitting includes what the expression captures: text, placeholder, text, placeholder, text.
  return JSON.stringify(head)
    .split(PLACEHOLDERS)
    .flatMap((piece): AnswerPart[] => {
      if (piece === RECORDS) return ['[', { slice, list: 'records' }, ']'];
      if (piece === ZAKEN) return ['[', { slice, list: 'zaken' }, ']'];
      return [piece];
    });
}

/** A levering of an unnamed organisation, for a model that requires one when there are none. */
function emptyLevering({ mapping: { levering: paths } }: Model): AnswerPart[] {
  let levering: JsonObject = withValueAt({}, paths.teller, 1);
  levering = withValueAt(levering, paths.organisatie.object, {});
  levering = withValueAt(levering, paths.records, []);
  return [JSON.stringify(levering)];
}

/** RFC 3339 in UTC; without a fraction when it has none. */
function momentText(moment: Date): string {
  return moment.toISOString().replace('.000Z', 'Z');
}

/** Bytes of an answer, in pieces, so that nothing large is ever joined or hashed in one go. */
export interface PageBytes {
  readonly pieces: readonly Buffer[];
  readonly bytes: number;
  /** `SHA-256=<base64>`. */
  readonly digest: string;
}

/** Most answers are small, and allocating large buffers outside the heap for each would trigger the garbage collector often. */
const FIRST_BYTES = 8 * 1024;
const PIECE_BYTES = 256 * 1024;
/** A character of a JavaScript string takes at most three bytes in UTF-8. */
const MAX_BYTES_PER_CHARACTER = 3;

/**
 * Writes an answer from its frame and the stored texts.
 * @throws {Error} when records are missing that were there when the page was planned
 */
export async function writePage(
  client: pg.ClientBase,
  parts: readonly AnswerPart[],
  select: SelectOptions,
): Promise<PageBytes> {
  const writer = new PieceWriter();
  let next = 0;
  const writeUpTo = (index: number): void => {
    for (; next < index; next += 1) {
      const part = parts[next];
      if (typeof part === 'string') writer.add(part);
    }
  };
  for (const group of groupLists(parts)) {
    const counts = new Map<number, number>();
    const take = (text: string, nth: number): void => {
      const index = group[nth]?.index ?? next;
      writeUpTo(index);
      const count = counts.get(index) ?? 0;
      if (count > 0) writer.add(',');
      counts.set(index, count + 1);
      writer.add(text);
    };
    const lists = group.map(({ part }) => part);
    const [first] = lists;
    if (first?.slice.selection !== undefined) await streamSelected(client, lists, take, select);
    else if (first !== undefined) await streamList(client, first, take);
    for (const { part, index } of group) checkCount(part, counts.get(index) ?? 0);
  }
  writeUpTo(parts.length);
  return writer.finish();
}

/** What to send: the pieces of a large answer as a stream that yields to the event loop. */
export function sendPage({ pieces }: PageBytes): Buffer | Readable {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined && only.length <= PIECE_BYTES
    ? only
    : Readable.from(yieldingPieces(pieces));
}

/** A fast connection takes megabytes at once, and copying them takes time of the event loop too. */
async function* yieldingPieces(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    // One text can be much larger than a piece. Divided, a slow reader shows between the parts.
    for (let from = 0; from < piece.length; from += PIECE_BYTES) {
      yield piece.subarray(from, from + PIECE_BYTES);
      await eventLoopBudget.yield();
    }
  }
}

interface IndexedPart {
  readonly part: TextsPart;
  /** Among the parts of the answer. */
  readonly index: number;
}

/** Neighbouring lists of selected records are read together, because what is delivered of one depends on the others; whole lists alone. */
function groupLists(parts: readonly AnswerPart[]): IndexedPart[][] {
  const groups: IndexedPart[][] = [];
  for (const [index, part] of parts.entries()) {
    if (typeof part === 'string' || isEmpty(part)) continue;
    const last = groups.at(-1);
    if (part.slice.selection !== undefined && last?.[0]?.part.slice.selection !== undefined) last.push({ part, index });
    else groups.push([{ part, index }]);
  }
  return groups;
}

function isEmpty({ slice, list }: TextsPart): boolean {
  return list === 'records' ? slice.to === slice.from : !slice.zaken || slice.levering.zaken === 0;
}

function checkCount({ slice: { levering, from, to }, list }: TextsPart, count: number): void {
  if (list === 'records' && count !== to - from) {
    throw new Error(`levering ${levering.id}: ${count} records instead of ${to - from}`);
  }
}

/** Encodes text into pieces, and hashes each when it is full. */
class PieceWriter {
  readonly #pieces: Buffer[] = [];
  readonly #hash = createHash('sha256');
  #piece = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #used = 0;
  #bytes = 0;

  add(text: string): void {
    const worst = text.length * MAX_BYTES_PER_CHARACTER;
    if (this.#used + worst > this.#piece.length) this.#next(worst);
    this.#used += this.#piece.write(text, this.#used);
  }

  finish(): PageBytes {
    this.#close();
    return { pieces: this.#pieces, bytes: this.#bytes, digest: `SHA-256=${this.#hash.digest('base64')}` };
  }

  #next(needed: number): void {
    this.#close();
    const size = Math.min(PIECE_BYTES, this.#piece.length * 4);
    this.#piece = Buffer.allocUnsafeSlow(Math.max(size, needed));
  }

  #close(): void {
    if (this.#used === 0) return;
    const filled = this.#piece.subarray(0, this.#used);
    this.#hash.update(filled);
    // Do not keep a buffer alive that is mostly empty.
    this.#pieces.push(this.#used * 2 < this.#piece.length ? Buffer.from(filled) : filled);
    this.#bytes += this.#used;
    this.#used = 0;
  }
}
