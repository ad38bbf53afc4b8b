/** The schemas of a published contract, to check other implementations' answers. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { addStandardFormats } from '../src/lib/json/formats.ts';
import { isRecord, type JsonObject, useLinearUniqueItems } from '../src/lib/json/json-value.ts';
import { readValidation } from '../src/lib/openapi-document.ts';

/** Number of reported faults; the first ones are enough to start with. */
const NAMED = 3;

const contracts = new Map<string, ReturnType<typeof compileContract>>();

/**
 * The contract with all rules for answers.
 * @param file name in `openapi/`
 */
export function contractDocument(file: string): JsonObject {
  const document: unknown = readValidation(new URL(`../openapi/${file}`, import.meta.url));
  if (!isRecord(document)) throw new TypeError(`${file} is not an object`);
  return document;
}

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
    return validate(value) ? undefined : describe(validate.errors ?? []);
  };
}

function describe(errors: readonly ErrorObject[]): string {
  const texts = errors.map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
  return [...new Set(texts)].slice(0, NAMED).join('; ');
}
