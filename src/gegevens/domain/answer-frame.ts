import { randomUUID } from 'node:crypto';
import { isRecord } from '../../kernel/json-value.ts';
import type { ItemList } from './import/cut-plan.ts';
import type { Period } from './levering.ts';
import { type JsonObject, valueAt, withValueAt } from './model/json-pointer.ts';
import type { Model } from './model/model.ts';
import type { Paginering, Slice } from './page-plan.ts';

/** A place in an answer where stored texts go, with commas between them. */
export interface TextsPart {
  readonly slice: Slice;
  readonly list: ItemList;
}

/** An answer as it will be sent: text, and places where stored texts go. */
export type AnswerPart = string | TextsPart;

export interface FrameOptions {
  readonly model: Model;
  readonly slices: readonly Slice[];
  readonly paginering: Paginering | undefined;
  readonly leverancierscode: string;
  /** The bounds that the answer names. */
  readonly period: Period;
  /** When the newest levering of all pages was delivered, so that every page says the same. */
  readonly moment: Date;
}

/** Stand-ins that no delivered text can hold. */
const MARK = randomUUID();
const RECORDS = `records ${MARK}`;
const ZAKEN = `zaken ${MARK}`;
const LEVERINGEN = `leveringen ${MARK}`;
const MARKS = new RegExp(`"((?:records|zaken|leveringen) ${MARK})"`);

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
  const [before = '', , after = ''] = JSON.stringify(message).split(MARKS);
  const closing = paginering === undefined ? '}' : `,"paginering":${JSON.stringify(paginering)}}`;
  if (!listed) return [`{"gegevens":${before}${closing}`];
  const parts: AnswerPart[] = [`{"gegevens":${before}[`];
  if (slices.length === 0) parts.push(...nobody(model));
  slices.forEach((slice, index) => {
    if (index > 0) parts.push(',');
    parts.push(...leveringParts(slice, index + 1, model));
  });
  parts.push(`]${after}${closing}`);
  return parts;
}

function leveringParts(slice: Slice, teller: number, { mapping: { levering: places } }: Model): AnswerPart[] {
  const stored: unknown = JSON.parse(slice.levering.kop);
  if (!isRecord(stored)) throw new TypeError(`levering ${slice.levering.id} has no readable head`);
  let kop = withValueAt(stored, places.teller, teller);
  kop = withValueAt(kop, places.records, RECORDS);
  const { zaken } = places;
  if (zaken !== undefined && valueAt(kop, zaken.lijst) !== undefined) kop = withValueAt(kop, zaken.lijst, ZAKEN);
  // Splitting keeps what the expression captures: text, mark, text, mark, text.
  return JSON.stringify(kop)
    .split(MARKS)
    .flatMap((piece): AnswerPart[] => {
      if (piece === RECORDS) return ['[', { slice, list: 'records' }, ']'];
      if (piece === ZAKEN) return ['[', { slice, list: 'zaken' }, ']'];
      return [piece];
    });
}

/** A model that demands a levering gets one of an organisation that is not named, when nobody ever delivered. */
function nobody({ mapping: { levering: places } }: Model): AnswerPart[] {
  let levering: JsonObject = withValueAt({}, places.teller, 1);
  levering = withValueAt(levering, places.organisatie.object, {});
  levering = withValueAt(levering, places.records, []);
  return [JSON.stringify(levering)];
}

/** RFC 3339 in UTC; without a fraction when it has none. */
function momentText(moment: Date): string {
  return moment.toISOString().replace('.000Z', 'Z');
}
