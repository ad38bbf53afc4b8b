/** The schemas of an operation, by part of a request, and the faults of a request in all parts together. */

import type { ErrorObject } from 'ajv';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { FastifyRequest, FastifySchema, FastifySchemaCompiler } from 'fastify';
import { addStandardFormats } from '../lib/json/formats.ts';
import { isRecord, type SchemaVerdict, schemaCheck } from '../lib/json/json-value.ts';
import { type InvalidParam, Problem } from '../lib/problem.ts';
import type { OpenapiDocument, OpenapiOperation } from './openapi-document.ts';
import { platformProblems } from './problems.ts';

const OPENAPI_KEYWORDS = [
  'openapi',
  'info',
  'servers',
  'tags',
  'paths',
  'components',
  'security',
  'example',
  'discriminator',
];

type Place = 'path' | 'query' | 'header';

/** What an operation asks of the parts of a request, as Fastify takes it. */
export interface RequestValidator {
  readonly schema: FastifySchema;
  readonly compile: FastifySchemaCompiler<unknown>;
  /** Every fault of a request in all its parts, for one that the validators refuse: they stop at the first part. */
  readonly faults: (request: FastifyRequest) => InvalidParam[];
}

/** A part of a request is not as the contract has it; `faults` tells what is wrong with all of them. */
export class InvalidRequestError extends Error {
  constructor() {
    super('a part of the request is not as the contract has it');
    this.name = 'InvalidRequestError';
  }
}

const validators = new WeakMap<OpenapiDocument, (operation: OpenapiOperation) => RequestValidator>();

/** The validators of one document, each compiled once: `$ref`s of its operations are followed within it. */
export function createRequestValidators(document: OpenapiDocument): (operation: OpenapiOperation) => RequestValidator {
  const known = validators.get(document);
  if (known !== undefined) return known;
  const ajvs = createAjvs(document);
  const compiled = new Map<string, RequestValidator>();
  const validatorOf = (operation: OpenapiOperation): RequestValidator => {
    const validator = compiled.get(operation.operationId) ?? createValidator(operation, ajvs);
    compiled.set(operation.operationId, validator);
    return validator;
  };
  validators.set(document, validatorOf);
  return validatorOf;
}

function createAjvs(document: OpenapiDocument): Ajvs {
  const options = {
    // The contracts are ours, and checked by the tests: to compile the schema of schemas takes longer than to compile them.
    validateSchema: false,
    allErrors: true,
    strict: true,
    strictTypes: false,
    allowUnionTypes: true,
    useDefaults: true,
  } as const;
  const ajvs = {
    first: new Ajv2020({ ...options, allErrors: false, coerceTypes: false }),
    all: new Ajv2020({ ...options, coerceTypes: false }),
    text: new Ajv2020({ ...options, coerceTypes: 'array' }),
  };
  for (const ajv of Object.values(ajvs)) {
    addStandardFormats(ajv);
    ajv.addVocabulary(OPENAPI_KEYWORDS);
    ajv.addSchema(document, 'doc:');
  }
  return ajvs;
}

interface Ajvs {
  readonly first: Ajv2020;
  readonly all: Ajv2020;
  readonly text: Ajv2020;
}

function createValidator(operation: OpenapiOperation, { first, all, text }: Ajvs): RequestValidator {
  const schema = {
    params: parametersSchema(operation, 'path'),
    querystring: parametersSchema(operation, 'query'),
    headers: parametersSchema(operation, 'header'),
    ...(operation.body === undefined ? {} : { body: absolute(operation.body.schema) }),
  };
  const params = parameterCheck(operation, 'path', text.compile(schema.params));
  const querystring = parameterCheck(operation, 'query', text.compile(schema.querystring));
  const headers = parameterCheck(operation, 'header', text.compile(schema.headers));
  const body = bodyCheck(operation, schema.body === undefined ? undefined : schemaCheck(first, all, schema.body));
  const parts: Readonly<Record<string, PartCheck>> = { params, querystring, headers, body };
  return {
    schema,
    compile: ({ httpPart = '' }) => {
      const faultsOf = parts[httpPart];
      return (given: unknown) =>
        faultsOf === undefined || faultsOf(given).length === 0 ? true : { error: new InvalidRequestError() };
    },
    faults: (request) => [
      ...params(request.params),
      ...querystring(request.query),
      ...headers(request.headers),
      ...body(request.body),
    ],
  };
}

/** The faults of a part of a request; it may change the part, from texts to the values that they stand for. */
type PartCheck = (given: unknown) => InvalidParam[];

function parameterCheck(operation: OpenapiOperation, place: Place, validate: ValidateFunction): PartCheck {
  const integers = integersIn(operation, place);
  return (given) => {
    refuseOddNumbers(integers, given);
    return validate(given ?? {}) ? [] : parameterFaults(place, operation, invalidParams(validate.errors ?? []));
  };
}

function bodyCheck({ body }: OpenapiOperation, judge?: (value: unknown) => SchemaVerdict<unknown>): PartCheck {
  return (given) => {
    if (body === undefined || judge === undefined) return [];
    if (given === undefined || given === null)
      return body.required ? [{ name: '', code: 'required', reason: 'de inhoud ontbreekt' }] : [];
    const verdict = judge(given);
    return 'faults' in verdict ? invalidParams(verdict.faults) : [];
  };
}

/**
 * The problem of a request that its route refuses, with all faults.
 * @param further names the faults that the document cannot tell, one for each place
 */
export function invalidRequest(faults: readonly InvalidParam[], further: readonly InvalidParam[] = []): Problem {
  const named = new Set(faults.map(({ name }) => name));
  const every = [...faults, ...further.filter(({ name }) => !named.has(name)).slice(0, MAX_FAULTS)];
  return new Problem(platformProblems.invalidRequest, { detail: summary(every), invalidParams: every });
}

/** Coercion reads `1e2` and `0x10` as numbers too; a parameter that is a whole number has digits only. */
function refuseOddNumbers(names: readonly string[], given: unknown): void {
  if (!isRecord(given)) return;
  for (const name of names) {
    const value = given[name];
    // Something that is no number by any reading, so that the validator tells its fault among the others.
    if (typeof value === 'string' && !/^-?\d+$/.test(value)) given[name] = '-';
  }
}

function integersIn({ parameters }: OpenapiOperation, place: Place): string[] {
  return parameters
    .filter((parameter) => parameter.in === place && 'type' in parameter.schema && parameter.schema.type === 'integer')
    .map(({ name }) => keyOf(place, name));
}

/** One object schema for all parameters in one place. */
function parametersSchema(operation: OpenapiOperation, place: Place): object {
  const parameters = operation.parameters.filter((parameter) => parameter.in === place);
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [keyOf(place, name), absolute(schema)])),
    required: parameters.filter(({ required }) => required).map(({ name }) => keyOf(place, name)),
    additionalProperties: place === 'header',
  };
}

/** A copy in which references within the document lead to the document as `doc:`. */
function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' && value.startsWith('#') ? `doc:${value}` : value,
  );
}

/** A parameter is named as the contract spells it: a header too, and also when it was read as a list. */
function parameterFaults(place: Place, { parameters }: OpenapiOperation, faults: InvalidParam[]): InvalidParam[] {
  const spelled = new Map(parameters.filter((one) => one.in === place).map(({ name }) => [keyOf(place, name), name]));
  return distinct(
    faults.map((fault) => ({ ...fault, name: spelled.get(fault.name.replace(/\..*$/s, '')) ?? fault.name })),
  );
}

/** Header names in lower case, as Node gives them. */
function keyOf(place: Place, name: string): string {
  return place === 'header' ? name.toLowerCase() : name;
}

function summary(faults: readonly InvalidParam[]): string {
  return faults.map(({ name, reason }) => (name === '' ? reason : `${name}: ${reason}`)).join('; ');
}

/** What a schema validator found, as the faulty parts of a request that an answer names. */

/** Faults that one answer names; a body of a megabyte can have a million, and the first thousand show the pattern. */
export const MAX_FAULTS = 1000;
const MAX_NAME = 200;

/**
 * The faults that a validator found, named by place, at most `MAX_FAULTS`. Faults that only repeat another in vaguer words are left
 * out. The work grows with the number of errors and no faster: a caller chooses how many there are.
 */
export function invalidParams(errors: ErrorObject[]): InvalidParam[] {
  const said = whatIsSaid(errors);
  const named: InvalidParam[] = [];
  for (const error of errors) {
    if (named.length >= MAX_FAULTS) break;
    if (!isSaid(error, said)) named.push(fault(error));
  }
  return distinct(named);
}

function fault(error: ErrorObject): InvalidParam {
  return {
    name: shortened([...error.instancePath.split('/').slice(1), ...ownMember(error)].map(unescapeStep).join('.')),
    code:
      error.keyword === 'additionalProperties' || error.keyword === 'unevaluatedProperties' ? 'unknown' : error.keyword,
    reason: faultReason(error),
  };
}

/** A caller chooses how long the names of unknown members are; an answer repeats so much of them as shows which is meant. */
function shortened(name: string): string {
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME).toWellFormed()}…`;
}

interface Said {
  /** Places with a telling fault, and every place that they lie in. */
  readonly within: ReadonlySet<string>;
  /** Places where the format is wrong. */
  readonly format: ReadonlySet<string>;
}

function whatIsSaid(errors: readonly ErrorObject[]): Said {
  const within = new Set<string>();
  const format = new Set<string>();
  const chosen = errors.some(isChoice);
  for (const error of errors) {
    if (error.keyword === 'format') format.add(error.instancePath);
    if (!chosen || isChoice(error)) continue;
    for (let place = error.instancePath; !within.has(place); place = place.slice(0, place.lastIndexOf('/'))) {
      within.add(place);
      if (place === '') break;
    }
  }
  return { within, format };
}

/** A failed combination is reported by the faults of its branches, and a wrong form of text by the name of its format. */
function isSaid(error: ErrorObject, said: Said): boolean {
  if (error.keyword === 'if' || error.keyword === 'allOf') return true;
  if (isChoice(error)) return said.within.has(error.instancePath);
  return error.keyword === 'pattern' && said.format.has(error.instancePath);
}

function isChoice({ keyword }: ErrorObject): boolean {
  return keyword === 'anyOf' || keyword === 'oneOf';
}

/** Two branches of one schema may find the same fault. */
export function distinct(faults: readonly InvalidParam[]): InvalidParam[] {
  return [...new Map(faults.map((fault) => [`${fault.name} ${fault.code} ${fault.reason}`, fault])).values()];
}

/** A missing or unknown member is reported on its parent; it is the member that the caller looks for. */
function ownMember(error: ErrorObject): string[] {
  const { missingProperty, additionalProperty, unevaluatedProperty } = isRecord(error.params) ? error.params : {};
  const member = missingProperty ?? additionalProperty ?? unevaluatedProperty;
  return typeof member === 'string' ? [member.replaceAll('~', '~0').replaceAll('/', '~1')] : [];
}

function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
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
  pattern: (pattern) => `heeft niet de juiste vorm (${readable(String(pattern))})`,
  format: (format) => `is geen geldige waarde van de soort \`${format}\``,
  dependentRequired: (_value, { params }) => `vraagt ook om ${params.missingProperty}`,
  not: () => 'is hier niet toegestaan',
  false: () => 'is hier niet toegestaan',
  'false schema': () => 'is hier niet toegestaan',
  anyOf: () => 'past bij geen van de toegestane vormen',
  oneOf: () => 'past niet bij precies een van de toegestane vormen',
};

/** A letter that may be a capital too is written once, as the caller would. */
function readable(pattern: string): string {
  return pattern.replace(/\[([A-Z])([a-z])\]/g, (pair, upper: string, lower: string) =>
    upper.toLowerCase() === lower ? lower : pair,
  );
}

/** Says in Dutch what is wrong with a value, from a validator's fault. The value itself is not repeated: it may be personal. */
export function faultReason(error: ErrorObject): string {
  return REASONS[error.keyword]?.(error.schema ?? limitOf(error), error) ?? 'is niet geldig';
}

/** The bound that a fault speaks of; the schema itself is there only with Ajv's `verbose`. */
function limitOf({ params }: ErrorObject): unknown {
  return params.limit ?? params.type ?? params.allowedValues ?? params.allowedValue ?? params.pattern ?? params.format;
}
