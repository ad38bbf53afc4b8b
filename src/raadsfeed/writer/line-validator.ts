import type { ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { addStandardFormats } from '../../lib/json/formats.ts';
import { pointerSteps, schemaCheck, useLinearUniqueItems } from '../../lib/json/json-value.ts';
import { hasDoubleNames, unwritable } from '../../lib/json/parse-untrusted.ts';
import { readValidation } from '../../lib/openapi-document.ts';
import type { PubliceerRegel } from '../domain/change.ts';

const CONTRACT = new URL('../../../openapi/raadsfeed.yaml', import.meta.url);

/** A valid line, or its faults: an English sentence each, without values. */
export type CheckedLine = { readonly line: PubliceerRegel } | { readonly faults: readonly string[] };
/** @param text that the value was parsed from, if any: it shows what parsing loses, and which checks are not needed */
export type LineValidator = (value: unknown, text?: string) => CheckedLine;

type Form = 'contract' | 'draft';

const validators = new Map<Form, LineValidator>();

/**
 * Checks lines against `PubliceerRegel` of `openapi/validation/raadsfeed.yaml`.
 * @param form `draft`: the published draft, for records of other feeds, without the further demands of our contract
 */
export function createLineValidator(form: Form = 'contract'): LineValidator {
  const validator = validators.get(form) ?? compileLineValidator(form);
  validators.set(form, validator);
  return validator;
}

function compileLineValidator(form: Form): LineValidator {
  const contract = readValidation(CONTRACT);
  const document = form === 'draft' ? asDraft(contract) : contract;
  if (typeof document !== 'object' || document === null) throw new TypeError('the contract is not an object');
  const compiler = (allErrors: boolean): Ajv2020 => {
    const ajv = new Ajv2020({ allErrors, strict: false, validateSchema: false });
    addStandardFormats(ajv);
    useLinearUniqueItems(ajv);
    return ajv.addSchema(document, 'doc:');
  };
  const check = schemaCheck<PubliceerRegel>(compiler(false), compiler(true), {
    $ref: 'doc:#/components/schemas/PubliceerRegel',
  });
  return (value, text) => {
    // First: the checks below are recursive.
    const fault = unwritable(value);
    if (fault !== undefined) return { faults: [`the line ${fault}`] };
    const verdict = check(value);
    if ('faults' in verdict) return { faults: describe(verdict.faults) };
    // A lone surrogate has no UTF-8 and no canonical form (RFC 8785): the hash could not be checked.
    if ((text === undefined || SURROGATE.test(text)) && !allWellFormed(value))
      return { faults: ['a text holds half of a surrogate pair'] };
    if (text !== undefined && hasDoubleNames(text, value)) return { faults: ['a name occurs twice in one object'] };
    return { line: verdict.value };
  };
}

/** Keywords of our contract that the draft does not have. */
const BEYOND_DRAFT = new Set(['additionalProperties', 'unevaluatedProperties', 'dependentRequired', 'minProperties']);
const NOT_EMPTY = new Set(['Bronidentificatie', 'gremiumidentificatie', 'gremiumnaam', 'bronidentificatie']);
const FREE = new Set(['formaat', 'omvang']);

function asDraft(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => asDraft(item, name));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(
    ([keyword]) =>
      !BEYOND_DRAFT.has(keyword) &&
      (keyword !== 'minLength' || NOT_EMPTY.has(name)) &&
      (!FREE.has(name) || !['pattern', 'minimum', 'maximum'].includes(keyword)),
  );
  return Object.fromEntries(members.map(([keyword, member]) => [keyword, asDraft(member, keyword)]));
}

/** Strictly decoded text can hold half of a pair only as an escape. */
const SURROGATE = /\\u[dD]/;

function allWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && allWellFormed(member));
}

/** Faults of one line that are listed; a line can have a million. */
const LISTED_FAULTS = 100;

function describe(errors: readonly ErrorObject[]): string[] {
  // The combining keywords only report that one of the faults beside them made them fail.
  const telling = errors.filter(({ keyword }) => !['if', 'allOf'].includes(keyword));
  const sentences = [...new Set(telling.map(sentence))];
  const more = sentences.length - LISTED_FAULTS;
  return more > 0 ? [...sentences.slice(0, LISTED_FAULTS), `and ${more} more faults`] : sentences;
}

const SAID: Readonly<Record<string, string>> = {
  'false schema': 'may not be there with this op',
  unevaluatedProperties: 'must NOT have additional properties',
};

function sentence({ instancePath, message, params, keyword }: ErrorObject): string {
  const member = pointerSteps(instancePath).join('.');
  const other: unknown = params.additionalProperty ?? params.unevaluatedProperty;
  const extra = other === undefined ? '' : ` (${String(other)})`;
  const allowed = Array.isArray(params.allowedValues) ? `: ${params.allowedValues.join(', ')}` : '';
  const said = SAID[keyword] ?? message ?? keyword;
  return `${member === '' ? 'the line' : member} ${said}${extra}${allowed}`;
}
