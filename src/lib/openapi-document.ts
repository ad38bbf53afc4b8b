import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { isRecord, mergePatch, pointerSteps, valueAt } from './json/json-value.ts';

/** The parts of an OpenAPI 3.1 document that the service itself reads. Everything else is passed on unchanged. */
export interface OpenapiDocument {
  readonly openapi: string;
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary?: string;
    readonly description?: string;
    readonly contact?: { readonly url?: string };
  };
  readonly servers?: readonly { readonly url: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface DescribedInterface {
  readonly prefix: string;
  readonly document: OpenapiDocument;
  readonly url: () => string;
  readonly specification: () => string;
  readonly rateLimit: number;
}

interface OpenapiParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: object;
}

export interface OpenapiOperation {
  readonly operationId: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** As in the document: `/verwerkingsacties/{actieId}`. */
  readonly path: string;
  readonly parameters: readonly OpenapiParameter[];
  readonly body?: { readonly required: boolean; readonly schema: object };
  /** A caller needs any of these scopes; absent for public operations. */
  readonly scopes?: readonly string[];
  /** Media types of the answers with status 2xx. */
  readonly produces: readonly string[];
}

export function isOpenapiDocument(value: unknown): value is OpenapiDocument {
  return isRecord(value) && isRecord(value.info) && isRecord(value.paths) && typeof value.openapi === 'string';
}

const documents = new Map<string, OpenapiDocument>();

/** Reads a contract of `openapi/`, once per process: the result must not be changed. @throws {TypeError} when the file is not an OpenAPI document */
export function readOpenapi(file: URL): OpenapiDocument {
  const known = documents.get(file.href);
  if (known !== undefined) return known;
  const document: unknown = parse(readFileSync(file, 'utf8'));
  if (!isOpenapiDocument(document)) throw new TypeError(`${file.pathname} is not an OpenAPI document`);
  documents.set(file.href, document);
  return document;
}

/** With the rules of `openapi/validation/`, which client generators cannot read. @throws {TypeError} when the file is not an OpenAPI document */
export function readValidation(file: URL): OpenapiDocument {
  const rules = new URL(`validation/${file.pathname.slice(file.pathname.lastIndexOf('/') + 1)}`, file);
  const known = documents.get(rules.href);
  if (known !== undefined) return known;
  const published = readOpenapi(file);
  const document = existsSync(rules) ? mergePatch(published, parse(readFileSync(rules, 'utf8'))) : published;
  if (!isOpenapiDocument(document)) throw new TypeError(`${rules.pathname} leaves no OpenAPI document`);
  documents.set(rules.href, document);
  return document;
}

/** Follows a `$ref` within the document. @throws {TypeError} when it leads nowhere */
export function resolve(document: OpenapiDocument, value: unknown): Record<string, unknown> {
  if (!isRecord(value)) throw new TypeError('an OpenAPI object was expected');
  const reference = value.$ref;
  if (typeof reference !== 'string') return value;
  const found = valueAt(document, pointerSteps(reference));
  if (!isRecord(found)) throw new TypeError(`${reference} leads nowhere`);
  return resolve(document, found);
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const UPPER = { get: 'GET', post: 'POST', put: 'PUT', patch: 'PATCH', delete: 'DELETE' } as const;

export function listOperations(document: OpenapiDocument): OpenapiOperation[] {
  const operations: OpenapiOperation[] = [];
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      if (item[method] !== undefined) operations.push(readOperation(document, path, method, item));
    }
  }
  return operations;
}

function readOperation(
  document: OpenapiDocument,
  path: string,
  method: (typeof METHODS)[number],
  item: Readonly<Record<string, unknown>>,
): OpenapiOperation {
  const operation = resolve(document, item[method]);
  const operationId = operation.operationId;
  if (typeof operationId !== 'string') throw new TypeError(`${method} ${path} has no operationId`);
  const given = [item.parameters, operation.parameters].flatMap((list) => (Array.isArray(list) ? list : []));
  const scopes = operation['x-scopes'];
  if (scopes === undefined && operation['x-public'] !== true)
    throw new TypeError(`${operationId} has neither x-scopes nor x-public`);
  const body = operation.requestBody === undefined ? undefined : resolve(document, operation.requestBody);
  return {
    operationId,
    method: UPPER[method],
    path,
    parameters: given.map((parameter) => readParameter(document, parameter)),
    ...(body === undefined ? {} : { body: { required: body.required === true, schema: jsonSchema(document, body) } }),
    ...(Array.isArray(scopes) ? { scopes: scopes.map(String) } : {}),
    produces: producedTypes(document, operation),
  };
}

function readParameter(document: OpenapiDocument, given: unknown): OpenapiParameter {
  const parameter = resolve(document, given);
  const { name, in: place, schema } = parameter;
  if (typeof name !== 'string' || !isRecord(schema)) throw new TypeError('a parameter needs a name and a schema');
  if (place !== 'path' && place !== 'query' && place !== 'header') throw new TypeError(`${name}: in ${String(place)}?`);
  return { name, in: place, required: parameter.required === true, schema };
}

function jsonSchema(document: OpenapiDocument, body: Record<string, unknown>): object {
  const content = isRecord(body.content) ? body.content['application/json'] : undefined;
  const schema = resolve(document, content).schema;
  if (!isRecord(schema)) throw new TypeError('a request body needs a JSON schema');
  return schema;
}

function producedTypes(document: OpenapiDocument, operation: Record<string, unknown>): string[] {
  const responses = isRecord(operation.responses) ? operation.responses : {};
  return Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, response]) => {
      const { content } = resolve(document, response);
      return isRecord(content) ? Object.keys(content) : [];
    });
}
