/** Checks path, query, headers and body of a request against its operation, and reports all faults together. */

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import type { FastifyRequest } from 'fastify';
import { type InvalidParam, Problem } from '../kernel/problem.ts';
import { type SchemaVerdict, schemaCheck } from '../kernel/schema-check.ts';
import { distinct, invalidParams, MAX_FAULTS } from './invalid-params.ts';
import { isRecord, type OpenapiDocument, type OpenapiOperation } from './openapi-document.ts';
import { platformProblems } from './problems.ts';

const addFormats = addFormatsModule.default;
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

export interface RequestValidator {
  /**
   * @param further names the faults that the document cannot tell; asked only when there are others, one for each place
   * @throws {Problem} `invalid-request` with every fault in `invalidParams`
   */
  check(request: FastifyRequest, further?: (request: FastifyRequest) => readonly InvalidParam[]): void;
}

const compilers = new WeakMap<OpenapiDocument, (operation: OpenapiOperation) => RequestValidator>();

/** Compiles the validators of one document, each once: `$ref`s of its operations are followed within it. */
export function createRequestValidators(document: OpenapiDocument): (operation: OpenapiOperation) => RequestValidator {
  const known = compilers.get(document);
  if (known !== undefined) return known;
  const ajvs = createAjvs(document);
  const validators = new Map<string, RequestValidator>();
  const compiler = (operation: OpenapiOperation): RequestValidator => {
    const validator = validators.get(operation.operationId) ?? compile(operation, ajvs);
    validators.set(operation.operationId, validator);
    return validator;
  };
  compilers.set(document, compiler);
  return compiler;
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
    addFormats(ajv);
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

function compile(operation: OpenapiOperation, { first, all, text }: Ajvs): RequestValidator {
  const path = text.compile(parametersSchema(operation, 'path', false));
  const query = text.compile(parametersSchema(operation, 'query', false));
  const headers = text.compile(parametersSchema(operation, 'header', true));
  const integers = { query: integersIn(operation, 'query'), header: integersIn(operation, 'header') };
  const body = operation.body === undefined ? undefined : schemaCheck(first, all, absolute(operation.body.schema));
  return {
    check(request, further) {
      refuseOddNumbers(integers.query, request.query);
      refuseOddNumbers(integers.header, request.headers);
      const faults = [
        ...parameterFaults('path', operation, faultsOf(path, request.params ?? {})),
        ...parameterFaults('query', operation, faultsOf(query, request.query ?? {})),
        ...parameterFaults('header', operation, faultsOf(headers, request.headers)),
      ];
      if (body !== undefined) {
        if (request.body !== undefined && request.body !== null) faults.push(...bodyFaults(body(request.body)));
        else if (operation.body?.required) faults.push({ name: '', code: 'required', reason: 'de inhoud ontbreekt' });
      }
      if (faults.length === 0) return;
      const named = new Set(faults.map(({ name }) => name));
      faults.push(...(further?.(request) ?? []).filter(({ name }) => !named.has(name)).slice(0, MAX_FAULTS));
      throw new Problem(platformProblems.invalidRequest, { detail: summary(faults), invalidParams: faults });
    },
  };
}

function bodyFaults(verdict: SchemaVerdict<unknown>): InvalidParam[] {
  return 'faults' in verdict ? invalidParams(verdict.faults) : [];
}

function faultsOf(validate: ValidateFunction, value: unknown): InvalidParam[] {
  return validate(value) ? [] : invalidParams(validate.errors ?? []);
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
function parametersSchema(operation: OpenapiOperation, place: Place, others: boolean): object {
  const parameters = operation.parameters.filter((parameter) => parameter.in === place);
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [keyOf(place, name), absolute(schema)])),
    required: parameters.filter(({ required }) => required).map(({ name }) => keyOf(place, name)),
    additionalProperties: others,
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
  if (faults.length === 0) return faults;
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
