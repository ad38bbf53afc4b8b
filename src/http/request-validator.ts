/** Checks path, query, headers and body of a request against its operation, and reports all faults together. */

import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import type { FastifyRequest } from 'fastify';
import { type InvalidParam, Problem } from '../kernel/problem.ts';
import { faultReason } from './fault-reason.ts';
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

export interface RequestValidator {
  /** @throws {Problem} `invalid-request` with every fault in `invalidParams` */
  check(request: FastifyRequest): void;
}

/** Compiles the validators of one document: `$ref`s of its operations are followed within it. */
export function createRequestValidators(document: OpenapiDocument): (operation: OpenapiOperation) => RequestValidator {
  const options = {
    allErrors: true,
    strict: true,
    strictTypes: false,
    allowUnionTypes: true,
    useDefaults: true,
  } as const;
  const bodyAjv = new Ajv2020({ ...options, coerceTypes: false });
  const textAjv = new Ajv2020({ ...options, coerceTypes: 'array' });
  for (const ajv of [bodyAjv, textAjv]) {
    addFormats(ajv);
    ajv.addVocabulary(OPENAPI_KEYWORDS);
    ajv.addSchema(document, 'doc:');
  }
  return (operation) => compile(operation, bodyAjv, textAjv);
}

function compile(operation: OpenapiOperation, bodyAjv: Ajv2020, textAjv: Ajv2020): RequestValidator {
  const path = textAjv.compile(parametersSchema(operation, 'path', false));
  const query = textAjv.compile(parametersSchema(operation, 'query', false));
  const headers = textAjv.compile(parametersSchema(operation, 'header', true));
  const body = operation.body === undefined ? undefined : bodyAjv.compile(absolute(operation.body.schema));
  return {
    check(request) {
      refuseOddNumbers(operation, request.query);
      const faults = [
        ...parameterFaults(path, request.params ?? {}),
        ...parameterFaults(query, request.query ?? {}),
        ...parameterFaults(headers, request.headers),
      ];
      if (body !== undefined) {
        if (request.body !== undefined && request.body !== null) faults.push(...faultsOf(body, request.body));
        else if (operation.body?.required) faults.push({ name: '', code: 'required', reason: 'de inhoud ontbreekt' });
      }
      if (faults.length > 0)
        throw new Problem(platformProblems.invalidRequest, { detail: summary(faults), invalidParams: faults });
    },
  };
}

/** Coercion reads `1e2` and `0x10` as numbers too; a parameter that is a whole number has digits only. */
function refuseOddNumbers({ parameters }: OpenapiOperation, query: unknown): void {
  if (!isRecord(query)) return;
  for (const { name, in: place, schema } of parameters) {
    if (place !== 'query' || !('type' in schema) || schema.type !== 'integer') continue;
    const value = query[name];
    // Something that is no number by any reading, so that the validator tells its fault among the others.
    if (typeof value === 'string' && !/^-?\d+$/.test(value)) query[name] = '-';
  }
}

/** One object schema for all parameters in one place; header names in lower case, as Node gives them. */
function parametersSchema(operation: OpenapiOperation, place: 'path' | 'query' | 'header', others: boolean): object {
  const parameters = operation.parameters.filter((parameter) => parameter.in === place);
  const key = (name: string): string => (place === 'header' ? name.toLowerCase() : name);
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [key(name), absolute(schema)])),
    required: parameters.filter(({ required }) => required).map(({ name }) => key(name)),
    additionalProperties: others,
  };
}

/** A copy in which references within the document lead to the document as `doc:`. */
function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' && value.startsWith('#') ? `doc:${value}` : value,
  );
}

function faultsOf(validate: ValidateFunction, data: unknown): InvalidParam[] {
  return validate(data) ? [] : invalidParams(validate.errors ?? []);
}

/** A parameter is named as the caller wrote it, also when it was read as a list of one. */
function parameterFaults(validate: ValidateFunction, data: unknown): InvalidParam[] {
  return distinct(faultsOf(validate, data).map((fault) => ({ ...fault, name: fault.name.replace(/\..*$/s, '') })));
}

/** The faults that a validator found, named by place. Faults that only repeat another in vaguer words are left out. */
export function invalidParams(errors: ErrorObject[]): InvalidParam[] {
  const telling = errors.filter((error) => !errors.some((other) => isSaidBy(error, other)));
  const named = telling.map((error) => ({
    name: [...error.instancePath.split('/').slice(1), ...ownMember(error)].map(unescapeStep).join('.'),
    code:
      error.keyword === 'additionalProperties' || error.keyword === 'unevaluatedProperties' ? 'unknown' : error.keyword,
    reason: faultReason(error),
  }));
  return distinct(named);
}

/** That a combination failed is told by the fault of its branches; that text has the wrong form, by the format's name. */
function isSaidBy(error: ErrorObject, other: ErrorObject): boolean {
  if (error.keyword === 'if' || error.keyword === 'allOf') return true;
  const isChoice = ({ keyword }: ErrorObject): boolean => keyword === 'anyOf' || keyword === 'oneOf';
  if (isChoice(error)) return !isChoice(other) && other.instancePath.startsWith(error.instancePath);
  return error.keyword === 'pattern' && other.keyword === 'format' && other.instancePath === error.instancePath;
}

/** Two branches of one schema may find the same fault. */
function distinct(faults: readonly InvalidParam[]): InvalidParam[] {
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

function summary(faults: readonly InvalidParam[]): string {
  return faults.map(({ name, reason }) => (name === '' ? reason : `${name}: ${reason}`)).join('; ');
}
