import type { ErrorObject } from 'ajv';
import { isRecord, pointerSteps } from '../lib/json/json-value.ts';
import { type InvalidParam, Problem } from '../lib/problem.ts';
import { platformProblems } from './problems.ts';

/** Maximum of faults in one answer; a body of a megabyte can have a million, and the first thousand show the pattern. */
const MAX_FAULTS = 1000;
const MAX_NAME = 200;

/** By place, at most `MAX_FAULTS`, without those that repeat another in vaguer words. Linear in the number of errors, which a caller controls. */
export function invalidParams(errors: ErrorObject[]): InvalidParam[] {
  const formats = new Set(errors.filter(({ keyword }) => keyword === 'format').map(({ instancePath }) => instancePath));
  const named: InvalidParam[] = [];
  for (const error of errors) {
    if (named.length >= MAX_FAULTS) break;
    if (!isSaid(error, formats)) named.push(fault(error));
  }
  return distinct(named);
}

function fault(error: ErrorObject): InvalidParam {
  return {
    name: shortened([...pointerSteps(error.instancePath), ...ownMember(error)].join('.')),
    code:
      error.keyword === 'additionalProperties' || error.keyword === 'unevaluatedProperties' ? 'unknown' : error.keyword,
    reason: faultReason(error),
  };
}

/** A caller controls the length of unknown member names; an answer repeats enough to recognise one. */
function shortened(name: string): string {
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME).toWellFormed()}…`;
}

/** The branches of a failed combination tell its fault, unless several match; the name of a format tells its pattern's. */
function isSaid({ keyword, params, instancePath }: ErrorObject, formats: ReadonlySet<string>): boolean {
  if (keyword === 'oneOf') return params.passingSchemas === null;
  if (keyword === 'pattern') return formats.has(instancePath);
  return keyword === 'if' || keyword === 'anyOf';
}

/** Deeper than any body of a contract. */
const MAX_DEPTH = 16;

/** Names every text with half a surrogate pair: JSON can write it (`\ud800`), UTF-8 cannot, and a database could not return it. */
export function illFormedTexts(value: unknown, name = '', depth = 0): InvalidParam[] {
  if (typeof value === 'string')
    return value.isWellFormed() ? [] : [{ name, code: 'unicode', reason: 'is geen geldige Unicode-tekst' }];
  if (typeof value !== 'object' || value === null || depth === MAX_DEPTH) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    illFormedTexts(part, shortened(name === '' ? key : `${name}.${key}`), depth + 1),
  );
}

/** Two branches of one schema may find the same fault, or name a format each: then the value must have one of them. */
export function distinct(faults: readonly InvalidParam[]): InvalidParam[] {
  const found = new Map<string, InvalidParam>();
  for (const fault of faults) {
    const { name, code, reason } = fault;
    // Only the names of formats, from the first backtick on, are joined.
    const format = code === 'format' && reason.includes('`') ? reason.slice(reason.indexOf('`')) : undefined;
    const key = format === undefined ? `${name} ${code} ${reason}` : `${name} ${code}`;
    const before = found.get(key);
    const isKnown = before === undefined || format === undefined || before.reason.includes(format);
    if (!isKnown) found.set(key, { ...before, reason: `${before.reason} of ${format}` });
    else found.set(key, before ?? fault);
  }
  return [...found.values()];
}

/** A missing or unknown member is reported on its parent; callers look for the member itself. */
function ownMember(error: ErrorObject): string[] {
  const { missingProperty, additionalProperty, unevaluatedProperty } = isRecord(error.params) ? error.params : {};
  const member = missingProperty ?? additionalProperty ?? unevaluatedProperty;
  return typeof member === 'string' ? [member] : [];
}

type Reason = (value: unknown, error: ErrorObject) => string;

const TYPES: Readonly<Record<string, string>> = {
  string: 'tekst',
  integer: 'een geheel getal',
  number: 'een getal',
  boolean: '`true` of `false`',
  object: 'een object',
  array: 'een lijst',
  null: '`null`',
};

const REASONS: Readonly<Record<string, Reason>> = {
  type: (types) =>
    `moet ${[types]
      .flat()
      .map((type) => TYPES[String(type)] ?? String(type))
      .join(' of ')} zijn`,
  required: () => 'ontbreekt',
  additionalProperties: () => 'is niet bekend',
  unevaluatedProperties: () => 'is niet bekend',
  enum: (values) => `moet een van deze waarden zijn: ${[values].flat().join(', ')}`,
  const: (value) => `moet ${JSON.stringify(value)} zijn`,
  minimum: (limit) => `moet minstens ${limit} zijn`,
  maximum: (limit) => `mag hoogstens ${limit} zijn`,
  exclusiveMinimum: (limit) => `moet groter dan ${limit} zijn`,
  exclusiveMaximum: (limit) => `moet kleiner dan ${limit} zijn`,
  minLength: (limit) => `moet minstens ${limit} teken(s) hebben`,
  maxLength: (limit) => `mag hoogstens ${limit} tekens hebben`,
  minItems: (limit) => `moet minstens ${limit} onderdeel of onderdelen hebben`,
  maxItems: (limit) => `mag hoogstens ${limit} onderdelen hebben`,
  minProperties: (limit) => `moet minstens ${limit} gegeven(s) hebben`,
  maxProperties: (limit) => `mag hoogstens ${limit} gegevens hebben`,
  uniqueItems: () => 'mag geen onderdeel tweemaal hebben',
  pattern: (pattern) => `heeft niet de juiste vorm (${pattern})`,
  format: (format) => `is geen geldige waarde van de soort \`${format}\``,
  dependentRequired: (_value, { params }) => `vraagt ook om ${params.missingProperty}`,
  not: () => 'is hier niet toegestaan',
  false: () => 'is hier niet toegestaan',
  'false schema': () => 'is hier niet toegestaan',
  oneOf: () => 'past niet bij precies een van de toegestane vormen',
};

/** Describes a validator's fault in Dutch. The value is not repeated: it may be personal. */
function faultReason(error: ErrorObject): string {
  return REASONS[error.keyword]?.(error.schema ?? limitOf(error), error) ?? 'is niet geldig';
}

function limitOf({ params }: ErrorObject): unknown {
  return params.limit ?? params.type ?? params.allowedValues ?? params.allowedValue ?? params.pattern ?? params.format;
}

export function invalidRequest(found: readonly InvalidParam[]): Problem {
  const faults = found.slice(0, MAX_FAULTS);
  const detail = faults.map(({ name, reason }) => (name === '' ? reason : `${name}: ${reason}`)).join('; ');
  return new Problem(platformProblems.invalidRequest, { detail, invalidParams: faults });
}

/** @throws {Problem} 400 with the faults; returns when there are none */
export function refuse(found: readonly InvalidParam[]): void {
  if (found.length > 0) throw invalidRequest(found);
}
