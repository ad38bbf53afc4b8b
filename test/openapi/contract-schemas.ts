import { readFileSync } from 'node:fs';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { parse } from 'yaml';
import { readValidation } from '../../src/lib/openapi-document.ts';

const addFormats = addFormatsModule.default;
const OPENAPI_KEYWORDS = ['openapi', 'info', 'servers', 'tags', 'paths', 'components', 'security', 'discriminator'];

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The member of an object, which must be an object itself. */
export function objectAt(value: unknown, ...path: string[]): JsonObject {
  let found: unknown = value;
  for (const step of path) found = isObject(found) ? found[step] : undefined;
  if (!isObject(found)) throw new TypeError(`/${path.join('/')} is not an object`);
  return found;
}

export const openapiFolder = new URL('../../openapi/', import.meta.url);

export function readYaml(name: string): JsonObject {
  return objectAt(parse(readFileSync(new URL(name, openapiFolder), 'utf8')));
}

/** The contract with the rules that only the service has. */
export function readRules(name: string): JsonObject {
  return objectAt(readValidation(new URL(name, openapiFolder)));
}

export function readJson(file: URL): JsonObject {
  return objectAt(JSON.parse(readFileSync(file, 'utf8')));
}

/** An Ajv as strict as the server's. */
export function strictAjv(): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    strictTypes: false,
    allowUnionTypes: true,
    useDefaults: true,
  });
  addFormats(ajv);
  ajv.addVocabulary(OPENAPI_KEYWORDS);
  return ajv;
}

/** Compiles any location of a document (`#/components/schemas/X`) with its references. */
export function compileDocument(document: JsonObject): (pointer: string) => ValidateFunction {
  const ajv = strictAjv();
  ajv.addSchema(document, 'doc:');
  return (pointer) => ajv.compile({ $ref: `doc:${pointer}` });
}

/** The places of a value's faults, each listed once: a missing or unknown member by its own name. */
export function faultsOf(validate: ValidateFunction, value: unknown): string[] {
  if (validate(value)) return [];
  // A failed `if` says nothing: the failure in its branch is listed too.
  const telling = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if');
  const places = telling.map(({ instancePath, params }) => {
    const member: unknown = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty;
    return typeof member === 'string' ? `${instancePath}/${member}` : instancePath;
  });
  return [...new Set(places)].sort();
}

/** One step of a JSON pointer in a URI fragment. */
export function pointerStep(step: string): string {
  return encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** A copy of area A's contract for one variant, with the exchange model in place of `Gegevens`. */
export function gegevensDocument(model: JsonObject): JsonObject {
  const { $schema: _schema, $id: _id, ...rest } = model;
  const gegevens: unknown = JSON.parse(JSON.stringify(rest), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' ? value.replace(/^#\//, '#/components/schemas/Gegevens/') : value,
  );
  const document = structuredClone(readYaml('gegevens.yaml'));
  objectAt(document, 'components', 'schemas').Gegevens = gegevens;
  const answer = objectAt(document, 'paths', '/gegevens', 'post', 'responses', '200', 'content', 'application/json');
  delete answer.examples;
  return document;
}
