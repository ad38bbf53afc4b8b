/** A published contract, to check other implementations' answers: its schemas, its requirements on each answer, and the values that it refuses. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { addStandardFormats } from '../src/lib/json/formats.ts';
import { isRecord, type JsonObject, pointerSteps, useLinearUniqueItems, valueAt } from '../src/lib/json/json-value.ts';
import { readValidation } from '../src/lib/openapi-document.ts';
import type { Exchange } from './exchange.ts';

/** Number of reported faults; the first ones are enough to start with. */
const NAMED = 3;

const contracts = new Map<string, ReturnType<typeof compileContract>>();

/**
 * The contract with all rules for answers.
 * @param file name in `openapi/`
 */
const contractDocument = (file: string) => readValidation(new URL(`../openapi/${file}`, import.meta.url));

/**
 * @param file name in `openapi/`
 * @returns why a value does not match a schema, or undefined
 */
export function readContract(file: string): ReturnType<typeof compileContract> {
  const known = contracts.get(file) ?? compileContract(file);
  contracts.set(file, known);
  return known;
}

function compileContract(file: string): (schema: string, value: unknown) => string | undefined {
  const ajv = new Ajv2020({ allErrors: false, strict: false, validateSchema: false });
  addStandardFormats(ajv);
  useLinearUniqueItems(ajv);
  ajv.addSchema(contractDocument(file), 'doc:');
  const validators = new Map<string, ValidateFunction>();
  return (schema, value) => {
    const validate = validators.get(schema) ?? ajv.compile({ $ref: `doc:#/components/schemas/${schema}` });
    validators.set(schema, validate);
    return validate(value) ? undefined : describeFaults(validate.errors ?? []);
  };
}

export function describeFaults(errors: readonly ErrorObject[]): string {
  const texts = errors.map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
  return [...new Set(texts)].slice(0, NAMED).join('; ');
}

export interface Departure {
  readonly in: 'status' | 'media type' | 'body';
  /** The status, the media type or the name of the schema. */
  readonly what: string;
  readonly text: string;
  readonly at: Exchange;
}

/** A value that a schema refuses. */
export interface WrongValue {
  readonly name: string;
  readonly because: 'length' | 'form' | 'type' | 'bound' | 'absence';
  readonly value: unknown;
}

export type ContractWalk = ReturnType<typeof walkContract>;

/** @param file name in `openapi/` */
export function walkContract(file: string) {
  const document = contractDocument(file);
  const fault = readContract(file);
  /** Resolves references; siblings of `$ref` count too. */
  const resolve = (value: unknown): JsonObject => {
    if (!isRecord(value)) return {};
    const { $ref, ...siblings } = value;
    return typeof $ref === 'string' ? { ...resolve(valueAt(document, pointerSteps($ref))), ...siblings } : value;
  };
  const { paths } = document;
  const operationOf = (method: string, path: string): JsonObject | undefined => {
    const template = Object.keys(paths).find((one) =>
      new RegExp(`^${one.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
    );
    const found = valueAt(paths, [template ?? '', method === 'HEAD' ? 'get' : method.toLowerCase()]);
    return isRecord(found) ? found : undefined;
  };

  const departures: Departure[] = [];
  const departuresIn = (path: string, answer: Exchange): readonly Omit<Departure, 'at'>[] => {
    const { method, status, headers, body, json } = answer;
    const operation = operationOf(method, path);
    if (operation === undefined) return [];
    const responses = resolve(operation.responses);
    const response = responses[String(status)] ?? responses.default;
    if (response === undefined)
      return [{ in: 'status', what: String(status), text: `${method} ${path} gets status ${status}` }];
    const { content } = resolve(response);
    if (method === 'HEAD') return [];
    const at = `${method} ${path}, status ${status}`;
    if (!isRecord(content))
      return body.length === 0 ? [] : [{ in: 'body', what: '', text: `${at}: ${body.length} bytes instead of none` }];
    const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
    const { schema } = resolve(content[type]);
    if (schema === undefined) return [{ in: 'media type', what: type, text: `${at}: ${type || 'no content type'}` }];
    const name = schemaName(schema);
    const wrong = name === undefined || !type.includes('json') ? undefined : fault(name, json);
    return wrong === undefined ? [] : [{ in: 'body', what: name ?? '', text: `${at}: ${name} ${wrong}` }];
  };

  return {
    fault,
    /** How the judged answers deviate from the contract. */
    departures,
    /** Addresses and methods outside the contract are not judged. */
    judge(path: string, at: Exchange): void {
      departures.push(...departuresIn(path, at).map((one) => ({ ...one, at })));
    },
    /** @param path as in the contract: `/verwerkingsacties/{actieId}` */
    parameters: (method: string, path: string) => {
      const listed = operationOf(method, path)?.parameters;
      return (Array.isArray(listed) ? listed : []).map((one) => {
        const { name, in: place, schema } = resolve(one);
        return { name: String(name), in: String(place), schema: resolve(schema) };
      });
    },
    /** The members of a schema in `components`, without read-only ones. */
    members: (schema: string): Readonly<Record<string, JsonObject>> => {
      const { properties } = resolve(valueAt(document, ['components', 'schemas', schema]));
      const all = Object.entries(resolve(properties)).map(([name, member]) => [name, resolve(member)] as const);
      return Object.fromEntries(all.filter(([, member]) => member.readOnly !== true));
    },
  };
}

function schemaName(schema: unknown): string | undefined {
  const reference = isRecord(schema) ? schema.$ref : undefined;
  return typeof reference === 'string' ? reference.split('/').at(-1) : undefined;
}

const WRONG_FORM: Readonly<Record<string, string>> = {
  uuid: 'geen-uuid',
  uri: 'geen adres',
  duration: '10 jaar',
  date: '2026-13-01',
  // RFC 3339 requires the offset.
  'date-time': '2026-01-15T13:35:42',
};

/**
 * Values that a schema refuses, each for one reason.
 * @param text true when every value is text, as in a query
 */
export function wrongValues(name: string, schema: JsonObject, text = false): readonly WrongValue[] {
  const { type, format, pattern, maxLength, minimum, maximum } = schema;
  const types = Array.isArray(type) ? type : [type];
  const found: WrongValue[] = [];
  const add = (because: WrongValue['because'], value: unknown): void => {
    found.push({ name, because, value: text ? String(value) : value });
  };
  if (types.includes('integer')) {
    if (typeof minimum === 'number') add('bound', minimum - 1);
    if (typeof maximum === 'number') add('bound', maximum + 1);
    add('type', 'veel');
  }
  if (types.includes('boolean')) add('type', 'misschien');
  if (!types.includes('string')) return found;
  // For moments, durations and UUIDs the format check is enough.
  if (typeof maxLength === 'number' && (format === undefined || format === 'uri'))
    add('length', `${format === 'uri' ? 'https://conformance.example/' : ''}${'x'.repeat(maxLength + 1)}`);
  if (typeof format === 'string' && WRONG_FORM[format] !== undefined) add('form', WRONG_FORM[format]);
  else if (typeof pattern === 'string' && !new RegExp(pattern).test('onbekend')) add('form', 'onbekend');
  if (!text) add('type', 12);
  return found;
}
