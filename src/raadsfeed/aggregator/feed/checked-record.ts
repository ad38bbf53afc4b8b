import { isRecord } from '../../../kernel/outbound/is-record.ts';
import { type Change, VERWIJDERREDENEN } from '../../domain/change.ts';
import { prepareChange } from '../../domain/prepare-change.ts';
import { normaliseOrganisatiecode } from '../../domain/resource.ts';
import type { LineValidator } from '../../writer/line-validator.ts';
import { aggregatorId } from './aggregator-id.ts';

export interface RecordContext {
  /** `feedUrl` of the source: with the number it is the origin of what is published. */
  readonly feedUrl: string;
  /** Of this feed itself. */
  readonly ownFeedUrl: string;
  readonly validate: LineValidator;
  /** Whether records get an identifier of this aggregator. */
  readonly ids: boolean;
  /** Organisations that are taken from this source. */
  readonly takes: (organisatiecode: string) => boolean;
}

/** What one record of a source comes to. */
export type CheckedRecord =
  | { readonly kind: 'change'; readonly change: Change }
  /** It is from this feed itself, or of an organisation that is not taken from this source. */
  | { readonly kind: 'passed-over'; readonly why: 'loop' | 'organisation' }
  | { readonly kind: 'refused'; readonly faults: readonly string[] };

const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;

/** The number of a record; `undefined` when it has none that can be one. */
export function sequenceNumberOf(record: unknown): number | undefined {
  if (!isRecord(record)) return undefined;
  const { sequenceNumber } = record;
  return typeof sequenceNumber === 'number' && Number.isSafeInteger(sequenceNumber) && sequenceNumber >= 1
    ? sequenceNumber
    : undefined;
}

/** Judges one record: its form by the contract, its hash by its data, its identity by both. */
export function checkRecord(record: unknown, sequenceNumber: number, context: RecordContext): CheckedRecord {
  if (!isRecord(record)) return refused('is no object');
  const { op, resourceType, resource, herkomst, gewijzigdOp } = record;
  if (isRecord(herkomst) && herkomst.feedUrl === context.ownFeedUrl) return { kind: 'passed-over', why: 'loop' };
  if (!isRecord(resource) || typeof resource.organisatiecode !== 'string') return refused('has no resource');
  const organisatiecode = normaliseOrganisatiecode(resource.organisatiecode);
  if (organisatiecode === undefined) return refused('resource.organisatiecode is no code of an organisation');
  if (!context.takes(organisatiecode)) return { kind: 'passed-over', why: 'organisation' };
  if (gewijzigdOp !== undefined && !isMoment(gewijzigdOp)) return refused('gewijzigdOp is no date and time');
  if (!isMoment(record.storedAt)) return refused('storedAt is no date and time');

  const { bronidentificatie } = resource;
  const line =
    op === 'upsert'
      ? { op, resourceType, data: record.data }
      : { op, resourceType, resource: { organisatiecode, bronidentificatie }, ...reasonOf(record) };
  const checked = context.validate(line);
  if ('faults' in checked) return { kind: 'refused', faults: checked.faults };
  const change = prepareChange(checked.line, {
    herkomst: { feedUrl: context.feedUrl, sequenceNumber },
    ...(typeof gewijzigdOp === 'string' ? { gewijzigdOp } : {}),
    ...(context.ids && typeof bronidentificatie === 'string'
      ? { aggregatorId: aggregatorId(checked.line.resourceType, { organisatiecode, bronidentificatie }) }
      : {}),
    ...(op === 'redact' ? { sourceNumbers: redactedNumbers(record) } : {}),
  });
  if (change.op === 'upsert') {
    const { resource: own } = change;
    if (own.organisatiecode !== organisatiecode || own.bronidentificatie !== bronidentificatie) {
      return refused('data is of another resource than resource names');
    }
    if (change.contentHash !== record.contentHash) return refused('contentHash does not match data');
  }
  return { kind: 'change', change };
}

function refused(fault: string): CheckedRecord {
  return { kind: 'refused', faults: [fault] };
}

function isMoment(value: unknown): boolean {
  return typeof value === 'string' && MOMENT.test(value) && !Number.isNaN(Date.parse(value));
}

/**
 * Why something was removed. A redaction is carried out even when its reason is none that we know: what must be gone there must not
 * stay here for a matter of form.
 */
function reasonOf({ op, verwijderreden, toelichting }: Record<string, unknown>): object {
  const isKnown = VERWIJDERREDENEN.some((known) => known === verwijderreden);
  if (op === 'redact' && !isKnown) return { verwijderreden: 'overig', toelichting: 'De bron gaf geen bekende reden.' };
  return { verwijderreden, ...(toelichting === undefined ? {} : { toelichting }) };
}

/** The numbers that a redaction names, as far as they are numbers: the resource itself is reached without them. */
function redactedNumbers({ geredigeerdeSequenceNumbers: numbers }: Record<string, unknown>): number[] {
  if (!Array.isArray(numbers)) return [];
  return numbers.filter((number) => Number.isSafeInteger(number) && number >= 1);
}
