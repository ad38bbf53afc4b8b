import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { builtInModel, defaultModels, modelsDirectory } from '../../../kernel/config/gegevens-settings.ts';
import { isRecord, useLinearUniqueItems } from '../../../kernel/json-value.ts';
import { type JsonObject, toPointer, valueAt } from './json-pointer.ts';
import { type Mapping, readMapping, type Variant } from './mapping.ts';
import { schemaAt, schemaPlace, withSchemaAt } from './schema-place.ts';

/** A check of one part of a message. */
export interface PartCheck {
  readonly ok: (value: unknown) => boolean;
  /** Every fault; only asked for when `ok` said no, because it is slower. */
  readonly faults: (value: unknown) => readonly ErrorObject[];
}

/** What the model says of a list as a whole. */
export interface ListBounds {
  readonly minItems: number;
  readonly maxItems: number;
  readonly uniqueItems: boolean;
}

/** The exchange model of a variant: the schema, and the checks of the parts in which a message is read. */
export interface Model {
  readonly variant: Variant;
  readonly mapping: Mapping;
  readonly schema: JsonObject;
  /** The message without its leveringen. */
  readonly envelop: PartCheck;
  /** A levering without its records and cases. */
  readonly levering: PartCheck;
  readonly record: PartCheck;
  readonly zaak: PartCheck | undefined;
  readonly bounds: { readonly leveringen: ListBounds; readonly records: ListBounds; readonly zaken: ListBounds };
  /** Whether a message without anything to deliver may leave the list of leveringen out. */
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

/** Those that were loaded, by address: to compile one takes a fifth of a second. */
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

/** Versions of the built-in models of a variant. */
export function builtInVersions(variant: Variant): string[] {
  return readdirSync(modelsDirectory)
    .map((name) => (name.startsWith(`${variant}-`) ? /^[a-z]+-(.+)\.schema\.json$/.exec(name)?.[1] : undefined))
    .filter((version) => version !== undefined)
    .toSorted();
}

/** @throws {Error} when the schema is none, or does not describe the places of the mapping */
export function compileModel(schema: JsonObject, mapping: Mapping): Model {
  const { envelop, levering } = mapping;
  const { zaken } = levering;
  const oneLevering = [...envelop.leveringen, '*'];
  const recordList = schemaPlace(schema, [...oneLevering, ...levering.records]);
  const zaakList = zaken === undefined ? undefined : schemaPlace(schema, [...oneLevering, ...zaken.lijst]);
  const leveringList = schemaPlace(schema, envelop.leveringen);
  const recordPlace = schemaPlace(schema, [...oneLevering, ...levering.records, '*']);
  const zaakPlace = zaken === undefined ? undefined : schemaPlace(schema, [...oneLevering, ...zaken.lijst, '*']);
  // Outer part by outer part: each is checked with the lists that are read on their own left empty.
  const withoutLists = [recordList, ...(zaakList === undefined ? [] : [zaakList])].reduce(
    (reduced, place) => withSchemaAt(reduced, place, EMPTY_LIST),
    schema,
  );
  const parent = envelop.leveringen.slice(0, -1);
  const required = schemaAt(schema, [...schemaPlace(schema, parent), 'required']);
  return {
    variant: mapping.variant,
    mapping,
    schema,
    envelop: check(withSchemaAt(withoutLists, leveringList, EMPTY_LIST), []),
    levering: check(withoutLists, schemaPlace(schema, oneLevering)),
    record: check(schema, recordPlace),
    zaak: zaakPlace === undefined ? undefined : check(schema, zaakPlace),
    bounds: {
      leveringen: bounds(schemaAt(schema, leveringList)),
      records: bounds(schemaAt(schema, recordList)),
      zaken: bounds(zaakList === undefined ? undefined : schemaAt(schema, zaakList)),
    },
    leveringenRequired: Array.isArray(required) && required.includes(envelop.leveringen.at(-1)),
  };
}

/** The whole schema as one check, for messages that are in memory. */
export function checkWhole(model: Model): PartCheck {
  return check(model.schema, []);
}

function check(schema: JsonObject, place: readonly string[]): PartCheck {
  const quick = compile(schema, place, false);
  let full: ValidateFunction | undefined;
  return {
    ok: (value) => quick(value) === true,
    faults: (value) => {
      full ??= compile(schema, place, true);
      return full(value) === true ? [] : (full.errors ?? []);
    },
  };
}

function compile(schema: JsonObject, place: readonly string[], allErrors: boolean): ValidateFunction {
  const { $schema: dialect, ...rest } = schema;
  const options = { strict: false, allErrors, validateSchema: false };
  const named = typeof dialect === 'string' ? dialect : '';
  const ajv = /2020-12/.test(named)
    ? new Ajv2020(options)
    : /2019-09/.test(named)
      ? new Ajv2019(options)
      : new Ajv(options);
  addFormatsModule.default(ajv);
  useLinearUniqueItems(ajv);
  ajv.addSchema({ ...rest, $id: 'model:' });
  return ajv.compile({ $ref: `model:#${encodeURI(toPointer(place))}` });
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
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new Error(`the model file ${path} cannot be read: ${cause instanceof Error ? cause.message : 'unknown'}`, {
      cause,
    });
  }
  if (!isRecord(value)) throw new TypeError(`${path} is not a JSON object`);
  return value;
}
