import { randomUUID } from 'node:crypto';
import { isRecord } from '../../kernel/json-value.ts';

import { type JsonObject, valueAt, withValueAt } from './json-pointer.ts';
import type { Paginering, Period, Slice } from './leveringen.ts';
import type { ItemList } from './mapping.ts';
import type { Model } from './model.ts';

/** A list in an answer, filled with stored texts. */
export interface TextsPart {
  readonly slice: Slice;
  readonly list: ItemList;
}

/** An answer in parts: text, and lists of stored texts. */
export type AnswerPart = string | TextsPart;

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
