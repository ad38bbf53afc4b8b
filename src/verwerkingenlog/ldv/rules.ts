/** Which lines are refused, and why. A reason never repeats received values: it goes into the answer and the client's own logs. */
import { isBsn } from '../../lib/patterns.ts';
import type { Config } from '../../settings/config.ts';
import { bsnDigits, isBsnKind } from '../domain/verwerkingsactie.ts';
import { MAX_TEXT, MAX_URL } from './mapping.ts';
import { nameInMessage } from './request.ts';
import {
  activityOf,
  DPL,
  EXCEPTION,
  hasLargeInteger,
  isOfLdv,
  isTime,
  type Span,
  subjectOf,
  textOf,
  UNKNOWN_KIND,
} from './span.ts';

interface LineRules extends Pick<Config['ldv'], 'otherSpans' | 'plainBsn'> {
  readonly checkBsn: boolean;
  /** Nanoseconds since 1970. */
  readonly latest: bigint;
}

/** Characters of the identity of a person. Pseudonyms are longer than identities; the answers of area B allow as many. */
const MAX_SUBJECT = 1024;
const MAX_NAME = 4096;
export const MAX_LINE = 32_768;
/** 2000-01-01Z: a clock in milliseconds or seconds is far before it. */
const FIRST_START = 946_684_800_000_000_000n;

export const IGNORED = Symbol('ignored');

/** @returns why the line is refused */
export function judge(span: Span, rules: LineRules): string | typeof IGNORED | undefined {
  const activity = activityOf(span) ?? '';
  const reason =
    (activity === '' ? withoutActivity(span, rules) : undefined) ??
    idFault(span) ??
    timeFault(span, rules) ??
    // It could be stored, but not forwarded.
    (hasLargeInteger(span) ? 'een geheel getal past niet in 64 bits' : undefined) ??
    textFault(span, activity) ??
    subjectFault(span, rules);
  return typeof reason === 'string' ? `${reason}${unknownNames(span)}` : reason;
}

/** LDV requires an activity where personal data are processed: not in a line about objects, nor in one that only reports an error. */
function withoutActivity(span: Span, { otherSpans }: LineRules): string | typeof IGNORED | undefined {
  const names = [...span.attributes.keys()];
  const isOther = !names.some(isOfLdv);
  // A line whose activity was dropped in transit must not be lost silently.
  if (isOther && otherSpans === 'ignore' && span.droppedAttributes === undefined) return IGNORED;
  const isError = isOther && names.some((name) => EXCEPTION.includes(name));
  const isAboutObjects = names.some((name) => name.startsWith('dpl.objects.'));
  return droppedFault(span) ?? (isError || isAboutObjects ? undefined : `${DPL.activity} ontbreekt`);
}

const CORE = 'dpl.core.';
const NAMED = 3;

/** Core attributes that this service does not know: one may be misspelled. */
function unknownNames({ attributes }: Span): string {
  const known: readonly string[] = Object.values(DPL);
  const unknown = [...attributes.keys()].filter((name) => name.startsWith(CORE) && !known.includes(name));
  const named = unknown.slice(0, NAMED).map(nameInMessage).join(', ');
  return unknown.length === 0 ? '' : ` (onbekend: ${named}${unknown.length > NAMED ? ' en andere' : ''})`;
}

/** A sender that dropped attributes may have dropped the missing ones of LDV. */
function droppedFault({ attributes, droppedAttributes }: Span): string | undefined {
  if (droppedAttributes === undefined) return undefined;
  const missing = [DPL.activity, DPL.subject, DPL.subjectType].filter((name) => !attributes.has(name));
  return missing.length === 0 ? undefined : `attributen zijn weggelaten, en ${missing.join(', ')} ontbreekt`;
}

export function isId(id: string, digits: 16 | 32): boolean {
  return id.length === digits && /^[0-9a-f]*$/.test(id) && !/^0*$/.test(id);
}

function idFault({ traceId, spanId, parentSpanId }: Span): string | undefined {
  if (!isId(traceId, 32)) return 'trace_id is niet geldig';
  if (!isId(spanId, 16)) return 'span_id is niet geldig';
  return parentSpanId === undefined || isId(parentSpanId, 16) ? undefined : 'parent_span_id is niet geldig';
}

function timeFault({ start, end }: Span, { latest }: LineRules): string | undefined {
  if (start < FIRST_START) return 'start_time ligt voor 2000: staat de klok in milliseconden?';
  if (!isTime(start) || end >= 2n ** 64n) return 'een tijd past niet in 64 bits';
  if (end < start) return 'end_time ligt voor start_time';
  return end > latest ? 'een tijd ligt meer dan 24 uur in de toekomst' : undefined;
}

function textFault(span: Span, activity: string): string | undefined {
  const limits: readonly (readonly [name: string, text: string, most: number])[] = [
    ['name', span.name, MAX_NAME],
    [DPL.activity, activity, MAX_URL],
    [DPL.subject, textOf(span.attributes, DPL.subject) ?? '', MAX_SUBJECT],
    [DPL.subjectType, textOf(span.attributes, DPL.subjectType) ?? '', MAX_TEXT],
    ['service.name', textOf(span.resource, 'service.name') ?? '', MAX_NAME],
    ['service.version', textOf(span.resource, 'service.version') ?? '', MAX_NAME],
  ];
  for (const [name, text, most] of limits) {
    if (text.length > most) return `${name} heeft meer dan ${most} tekens`;
    if (text.includes('\0') || !text.isWellFormed()) return `${name} is geen geldige tekst`;
  }
  const { attributes } = span;
  const odd = Object.values(DPL).find((name) => attributes.has(name) && textOf(attributes, name) === undefined);
  return odd && `${odd} is geen tekst`;
}

function subjectFault(span: Span, { plainBsn, checkBsn }: LineRules): string | undefined {
  const subject = subjectOf(span);
  const dropped = droppedFault(span);
  if (dropped !== undefined || subject === undefined) return dropped;
  const { soortObjectId, objectId } = subject;
  const digits = bsnDigits(objectId);
  const isPlain =
    digits !== undefined && (isBsnKind(soortObjectId) || (soortObjectId === UNKNOWN_KIND && isBsn(digits)));
  if (isPlain && plainBsn === 'refuse') return `${DPL.subject} is een BSN en geen pseudoniem`;
  if (isPlain && checkBsn && !isBsn(digits)) return `${DPL.subject} is geen burgerservicenummer (elfproef)`;
  return undefined;
}
