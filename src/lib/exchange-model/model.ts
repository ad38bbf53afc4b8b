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
  valueAt,
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
  /** Of a message that is in memory. */
  readonly whole: PartCheck;
  readonly envelop: PartCheck;
  readonly levering: PartCheck;
  readonly record: PartCheck;
  readonly zaak: PartCheck | undefined;
  readonly bounds: { readonly leveringen: ListBounds; readonly records: ListBounds; readonly zaken: ListBounds };
  /** Whether an empty message may omit the list of leveringen. */
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

/** @throws {Error} when the schema is invalid, or does not describe the paths of the mapping */
function compileModel(schema: JsonObject, mapping: Mapping): Model {
  const { envelop, levering } = mapping;
  const { zaken } = levering;
  const oneLevering = [...envelop.leveringen, '*'];
  const recordList = schemaPath(schema, [...oneLevering, ...levering.records]);
  const zaakList = zaken === undefined ? undefined : schemaPath(schema, [...oneLevering, ...zaken.lijst]);
  const leveringList = schemaPath(schema, envelop.leveringen);
  const recordPath = schemaPath(schema, [...oneLevering, ...levering.records, '*']);
  const zaakPath = zaken === undefined ? undefined : schemaPath(schema, [...oneLevering, ...zaken.lijst, '*']);
  // Envelope and levering are checked with empty lists: their items are checked one by one.
  const withoutLists = [recordList, ...(zaakList === undefined ? [] : [zaakList])].reduce(
    (reduced, path) => withValueAt(reduced, path, EMPTY_LIST),
    schema,
  );
  const parent = envelop.leveringen.slice(0, -1);
  const required = schemaAt(schema, [...schemaPath(schema, parent), 'required']);
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
    envelop: check(withValueAt(withoutLists, leveringList, EMPTY_LIST), []),
    levering: check(withoutLists, schemaPath(schema, oneLevering)),
    record: check(schema, recordPath),
    zaak: zaakPath === undefined ? undefined : check(schema, zaakPath),
    bounds: {
      leveringen: bounds(schemaAt(schema, leveringList)),
      records: bounds(schemaAt(schema, recordList)),
      zaken: bounds(zaakList === undefined ? undefined : schemaAt(schema, zaakList)),
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

function compile(schema: JsonObject, path: readonly string[], allErrors: boolean): ValidateFunction {
  const { $schema: dialect, ...rest } = schema;
  const options = { strict: false, allErrors, validateSchema: false };
  const named = typeof dialect === 'string' ? dialect : '';
  const ajv = /2020-12/.test(named)
    ? new Ajv2020(options)
    : /2019-09/.test(named)
      ? new Ajv2019(options)
      : new Ajv(options);
  addStandardFormats(ajv);
  useLinearUniqueItems(ajv);
  ajv.addSchema({ ...rest, $id: 'model:' });
  return ajv.compile({ $ref: `model:#${encodeURI(toPointer(path))}` });
}

function bounds(list: unknown): ListBounds {
  const read = (name: string): number | undefined => {
    const value = valueAt(list, [name]);
    return typeof value === 'number' ? value : undefined;
  };
  return {
    minItems: read('minItems') ?? 0,
    maxItems: read('maxItems') ?? Number.POSITIVE_INFINITY,
    uniqueItems: valueAt(list, ['uniqueItems']) === true,
  };
}

function readJson(path: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(readTextFileSync(path));
  } catch (cause) {
    throw new Error(`the model file ${path} cannot be read: ${cause instanceof Error ? cause.message : 'unknown'}`, {
      cause,
    });
  }
  if (!isRecord(value)) throw new TypeError(`${path} is not a JSON object`);
  return value;
}

type DataPath = readonly string[];

/**
 * The path in a schema of the part that describes a path in the data. References within the schema are followed.
 * @throws {TypeError} when the schema does not describe it by plain `properties` and `items`
 */
function schemaPath(schema: JsonObject, dataPath: DataPath): string[] {
  let path: string[] = follow(schema, []);
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

function follow(schema: JsonObject, path: string[]): string[] {
  const part = schemaAt(schema, path);
  if (!isRecord(part)) throw new TypeError(`the model has no ${toPointer(path)}`);
  const reference = part.$ref;
  if (typeof reference !== 'string') return path;
  if (!reference.startsWith('#')) throw new TypeError(`the model refers to another file: ${reference}`);
  return follow(schema, pointerSteps(decodeURIComponent(reference.slice(1))));
}
