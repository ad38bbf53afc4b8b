/** Reads a file of one model through, and says what would become of it in another model. Nothing is written. */
import { open } from 'node:fs/promises';
import { DeliveryReader, type ReadDelivery } from '../../../gegevens/import/delivery-reader.ts';
import { describeError, Faults, type ImportFault, ImportStopped } from '../../../gegevens/import/faults.ts';
import type { ItemList } from '../../../gegevens/model/mapping.ts';
import type { Model, PartCheck } from '../../../gegevens/model/model.ts';
import { isRecord, toPointer, valueAt } from '../../../lib/json/json-value.ts';
import { type Converted, convertValue, type Loss, type LossReason } from './convert-value.ts';
import { type Equivalents, knownMembers, type ModelShapes, readEquivalents, shapesOf } from './shape.ts';

/** Two models, and how a part of the one becomes a part of the other. */
export interface Converter {
  readonly from: Model;
  readonly to: Model;
  readonly item: (list: ItemList, value: unknown) => Converted;
  readonly levering: (value: unknown) => Converted;
  readonly envelop: (value: unknown) => Converted;
  /** Whether a member of this name may be shown: one that no model describes may itself be personal. */
  readonly isKnown: (member: string) => boolean;
}

export function createConverter(from: Model, to: Model): Converter {
  const [own, other]: [ModelShapes, ModelShapes] = [shapesOf(from), shapesOf(to)];
  const equivalents: Equivalents = readEquivalents();
  const known = knownMembers();
  const records = { from: own.record, to: other.record };
  const zaken = other.zaak === undefined ? undefined : { from: own.zaak, to: other.zaak };
  return {
    from,
    to,
    item: (list, value) => convertValue(value, list === 'records' ? records : (zaken ?? records), equivalents),
    levering: (value) => convertValue(value, { from: own.levering, to: other.levering }, equivalents),
    envelop: (value) => convertValue(value, { from: own.envelop, to: other.envelop }, equivalents),
    isKnown: (member) => known.has(member),
  };
}

/** Something lost, or an item that cannot be converted. */
export interface Named {
  /** JSON Pointer in the file. */
  readonly place: string;
  /** The key that the supplier gave the record; of a case, that of its first signal. */
  readonly key?: string;
}

export interface NamedLoss extends Named {
  /** By the names of the file's model, from the record: `client/Achternaam`. */
  readonly member: string;
  readonly reason: LossReason;
  readonly value?: string;
}

export interface Refusal extends Named {
  /** A record or case, which can be left out; else the message or a levering itself. */
  readonly isItem: boolean;
  readonly faults: readonly string[];
}

/** What would become of a file. */
export interface Judgement {
  readonly delivery: ReadDelivery;
  readonly records: number;
  readonly zaken: number;
  /** Records and cases that are rewritten; the others stay to the byte as they are. */
  readonly changed: number;
}

interface JudgeOptions {
  readonly path: string;
  readonly converter: Converter;
  readonly signal: AbortSignal;
  readonly lost: (loss: NamedLoss) => void;
  readonly refused: (refusal: Refusal) => void;
  /** Awaited between pieces of the file. */
  readonly progress: (bytesRead: number, records: number) => Promise<void>;
}

const CHUNK_BYTES = 1024 * 1024;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const SHOWN_FAULTS = 3;
const NO_TRAITS = { begin: undefined, einde: undefined, sleutel: undefined, gemeente: undefined };

/** A file is not of the model that it was said to be of. */
export class NotOfModel extends Error {
  readonly faults: readonly ImportFault[];
  constructor(faults: readonly ImportFault[]) {
    super('the file does not fit its model');
    this.name = 'NotOfModel';
    this.faults = faults.toSorted((a, b) => a.line - b.line);
  }
}

/** @throws {NotOfModel}; the signal's reason; what the file system says */
export async function judgeFile(options: JudgeOptions): Promise<Judgement> {
  const { converter, lost, refused } = options;
  const { from, to } = converter;
  const { envelop, levering } = from.mapping;
  const lists = { records: levering.records, zaken: levering.zaken?.lijst ?? [] };
  const counts = { records: 0, zaken: 0 };
  let changed = 0;
  const report = (at: readonly (string | number)[], key: string | undefined, losses: readonly Loss[]): void => {
    const named = key === undefined ? {} : { key };
    for (const { path, reason, value } of losses) {
      const shown = path.map((step) => (typeof step === 'number' || converter.isKnown(step) ? step : UNKNOWN));
      const member = shown.filter((step) => typeof step === 'string').join('/');
      lost({
        place: toPointer([...at, ...shown]),
        ...named,
        member,
        reason,
        ...(value === undefined ? {} : { value }),
      });
    }
  };
  const check = (at: readonly (string | number)[], part: PartCheck, value: unknown, item?: { key?: string }): void => {
    if (part.ok(value)) return;
    const faults = part.faults(value).map((error) => `${error.instancePath || '/'} ${describeError(error)}`);
    const isItem = item !== undefined;
    refused({ place: toPointer(at), ...item, isItem, faults: [...new Set(faults)].slice(0, SHOWN_FAULTS) });
  };
  const judgeItem = (index: number, list: ItemList, nummer: number, bytes: Buffer): void => {
    const value: unknown = JSON.parse(bytes.toString());
    const converted = converter.item(list, value);
    const part = list === 'records' ? to.record : to.zaak;
    const at = [...envelop.leveringen, index, ...lists[list], nummer];
    const key = keyOf(from, list, value);
    counts[list] += 1;
    if (converted.isChanged) changed += 1;
    report(at, key, converted.losses);
    if (part !== undefined) check(at, part, converted.value, key === undefined ? {} : { key });
  };
  const faults = new Faults();
  const reader = new DeliveryReader({
    model: from,
    faults,
    traitsOf: () => NO_TRAITS,
    sink: { text: judgeItem, traits: () => undefined },
  });
  try {
    await readPieces(options.path, options.signal, async (piece, bytesRead) => {
      reader.feed(piece);
      await options.progress(bytesRead, reader.records);
    });
    const delivery = reader.finish();
    if (delivery === undefined) throw new ImportStopped();
    for (const { nummer, head } of delivery.leveringen) {
      const { value, losses } = converter.levering(head);
      const at = [...envelop.leveringen, nummer];
      report(at, undefined, losses);
      check(at, to.levering, value);
    }
    const whole = converter.envelop(delivery.envelop);
    report([], undefined, whole.losses);
    check([], to.envelop, whole.value);
    return { delivery, ...counts, changed };
  } catch (error) {
    throw error instanceof ImportStopped ? new NotOfModel(faults.list) : error;
  }
}

/** Stands for the name of a member that no model describes. */
const UNKNOWN = '(unknown member)';

/** Reads a file piece by piece; a piece is valid only during the call. */
export async function readPieces(
  path: string,
  signal: AbortSignal,
  take: (piece: Buffer, bytesRead: number) => Promise<void>,
): Promise<void> {
  const file = await open(path);
  try {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let bytesRead = 0; ; ) {
      signal.throwIfAborted();
      const { bytesRead: got } = await file.read(buffer, 0, CHUNK_BYTES);
      if (got === 0) return;
      const start = bytesRead === 0 && buffer.subarray(0, 3).equals(BOM) ? 3 : 0;
      bytesRead += got;
      await take(buffer.subarray(start, got), bytesRead);
    }
  } finally {
    await file.close();
  }
}

const MAX_KEY = 80;

/** The supplier's own key of a record, or of the first signal of a case; none where it may be a citizen service number. */
function keyOf({ mapping: { levering } }: Model, list: ItemList, value: unknown): string | undefined {
  const { recordId, zaken } = levering;
  let key: unknown;
  if (list === 'records') key = recordId === undefined ? undefined : valueAt(value, recordId);
  else if (zaken !== undefined) {
    const signalen = valueAt(value, zaken.signalen);
    key = Array.isArray(signalen) && isRecord(signalen[0]) ? valueAt(signalen[0], zaken.signaalId) : undefined;
  }
  if (typeof key !== 'string' || key === '') return undefined;
  if ((key.match(/\d{9}/g) ?? []).some(passesElevenTest)) return undefined;
  return key.slice(0, MAX_KEY).replaceAll(/\p{Cc}/gu, '?');
}

function passesElevenTest(digits: string): boolean {
  const weights = [9, 8, 7, 6, 5, 4, 3, 2, -1];
  return [...digits].reduce((sum, digit, index) => sum + Number(digit) * (weights[index] ?? 0), 0) % 11 === 0;
}
