import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { addStandardFormats } from '../json/formats.ts';
import {
  isRecord,
  type JsonObject,
  pointerSteps,
  toPointer,
  useLinearUniqueItems,
  withValueAt,
} from '../json/json-value.ts';
import { readTextFileSync } from '../text-file.ts';
import { builtInModel, defaultModels, modelsDirectory } from './built-in-models.ts';
import { type Mapping, readMapping, type Variant } from './mapping.ts';

export interface PartCheck {
  readonly ok: (value: unknown) => boolean;
  /** All faults; called only when `ok` is false, because it is slower. */
  readonly faults: (value: unknown) => readonly ErrorObject[];
}

export interface ListBounds {
  readonly minItems: number;
  readonly maxItems: number;
  readonly uniqueItems: boolean;
}

/** The exchange model of a variant: the schema, and checks for the parts of a message. */
export interface Model {
  readonly variant: Variant;
  readonly mapping: Mapping;
  readonly schema: JsonObject;
  readonly whole: PartCheck;
  readonly envelop: PartCheck;
  readonly levering: PartCheck;
  readonly record: PartCheck;
  readonly zaak: PartCheck | undefined;
  readonly bounds: { readonly leveringen: ListBounds; readonly records: ListBounds; readonly zaken: ListBounds };
  readonly leveringenRequired: boolean;
}

const EMPTY_LIST: JsonObject = { type: 'array' };

/**
 * Reads the model of a variant and its mapping (`X.schema.json` and `X.mapping.json`, side by side).
 * @param model version of a built-in model, or path of a schema; default: the version that is the default of the setting
 * @throws {Error} when a file cannot be read, is not a schema, or does not fit its mapping
 */
export function loadModel(variant: Variant, model: string = defaultModels[variant]): Model {
  const builtIn = builtInModel(variant, model);
  if (builtIn === undefined) return readModel(variant, model);
  const known = builtInModels.get(builtIn.href) ?? readModel(variant, fileURLToPath(builtIn));
  builtInModels.set(builtIn.href, known);
  return known;
}

/** By address: compiling one takes a fifth of a second. */
const builtInModels = new Map<string, Model>();

function readModel(variant: Variant, path: string): Model {
  const schema = readJson(path);
  const beside = path.replace(/(\.schema)?\.json$/, '.mapping.json');
  const mapping = readMapping(
    readJson(beside),
    readJson(fileURLToPath(new URL('mapping.schema.json', modelsDirectory))),
  );
  if (mapping.variant !== variant) throw new TypeError(`${beside} is of variant ${mapping.variant}, not ${variant}`);
  return compileModel(schema, mapping);
}

export function builtInVersions(variant: Variant): string[] {
  return readdirSync(modelsDirectory)
    .map((name) => (name.startsWith(`${variant}-`) ? /^[a-z]+-(.+)\.schema\.json$/.exec(name)?.[1] : undefined))
    .filter((version) => version !== undefined)
    .toSorted();
}

function compileModel(schema: JsonObject, mapping: Mapping): Model {
  const { envelop, levering } = mapping;
  const leveringPath = schemaPath(schema, [...envelop.leveringen, '*']);
  const itemCheck = (list: DataPath): PartCheck => check(schema, schemaPath(schema, ['*'], list));
  const leveringen = schemaPath(schema, envelop.leveringen);
  const records = schemaPath(schema, levering.records, leveringPath);
  const zaken = levering.zaken && schemaPath(schema, levering.zaken.lijst, leveringPath);
  // Envelope and levering are checked with empty lists: their items are checked one by one.
  const withoutRecords = withValueAt(schema, records, EMPTY_LIST);
  const withoutLists = zaken === undefined ? withoutRecords : withValueAt(withoutRecords, zaken, EMPTY_LIST);
  const required = schemaAt(schema, [...schemaPath(schema, envelop.leveringen.slice(0, -1)), 'required']);
  let whole: PartCheck | undefined;
  return {
    variant: mapping.variant,
    mapping,
    schema,
    // Compiled on first use: the service reads messages in parts.
    get whole() {
      whole ??= check(schema, []);
      return whole;
    },
    envelop: check(withValueAt(withoutLists, leveringen, EMPTY_LIST), []),
    levering: check(withoutLists, leveringPath),
    record: itemCheck(records),
    zaak: zaken && itemCheck(zaken),
    bounds: {
      leveringen: bounds(schemaAt(schema, leveringen)),
      records: bounds(schemaAt(schema, records)),
      zaken: bounds(zaken && schemaAt(schema, zaken)),
    },
    leveringenRequired: Array.isArray(required) && required.includes(envelop.leveringen.at(-1)),
  };
}

function check(schema: JsonObject, path: readonly string[]): PartCheck {
  const quick = compile(schema, path, false);
  let full: ValidateFunction | undefined;
  return {
    ok: (value) => quick(value) === true,
    faults: (value) => {
      full ??= compile(schema, path, true);
      return full(value) === true ? [] : (full.errors ?? []);
    },
  };
}

function compile({ $schema: dialect, ...schema }: JsonObject, path: readonly string[], allErrors: boolean) {
  const named = String(dialect);
  const Validator = named.includes('2020-12') ? Ajv2020 : named.includes('2019-09') ? Ajv2019 : Ajv;
  const ajv = new Validator({ strict: false, allErrors, validateSchema: false });
  addStandardFormats(ajv);
  useLinearUniqueItems(ajv);
  ajv.addSchema({ ...schema, $id: 'model:' });
  return ajv.compile({ $ref: `model:#${encodeURI(toPointer(path))}` });
}

function bounds(list: unknown): ListBounds {
  const { minItems, maxItems, uniqueItems } = isRecord(list) ? list : {};
  return {
    minItems: typeof minItems === 'number' ? minItems : 0,
    maxItems: typeof maxItems === 'number' ? maxItems : Number.POSITIVE_INFINITY,
    uniqueItems: uniqueItems === true,
  };
}

function readJson(path: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(readTextFileSync(path));
  } catch (cause) {
    throw new Error(`the model file ${path} cannot be read: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
  }
  if (!isRecord(value)) throw new TypeError(`${path} is not a JSON object`);
  return value;
}

type DataPath = readonly string[];

/**
 * The path in a schema of the part that describes a path in the data, following references within the schema.
 * @throws {TypeError} when the schema does not describe it by plain `properties` and `items`
 */
function schemaPath(schema: JsonObject, dataPath: DataPath, from: DataPath = []): DataPath {
  let path = follow(schema, from);
  for (const step of dataPath) {
    path = follow(schema, step === '*' ? [...path, 'items'] : [...path, 'properties', step]);
  }
  return path;
}

function schemaAt(schema: JsonObject, path: readonly string[]): unknown {
  let found: unknown = schema;
  for (const step of path) {
    if (Array.isArray(found)) found = found[Number(step)];
    else found = isRecord(found) && Object.hasOwn(found, step) ? found[step] : undefined;
  }
  return found;
}

function follow(schema: JsonObject, path: DataPath): DataPath {
  const part = schemaAt(schema, path);
  if (!isRecord(part)) throw new TypeError(`the model has no ${toPointer(path)}`);
  const reference = part.$ref;
  if (typeof reference !== 'string') return path;
  if (!reference.startsWith('#')) throw new TypeError(`the model refers to another file: ${reference}`);
  return follow(schema, pointerSteps(decodeURIComponent(reference.slice(1))));
}
