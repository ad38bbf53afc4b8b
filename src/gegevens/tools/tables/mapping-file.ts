import { readFileSync, statSync } from 'node:fs';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parseDocument } from 'yaml';
import { modelsDirectory } from '../../../lib/exchange-model/built-in-models.ts';
import type { ItemList, Variant } from '../../../lib/exchange-model/mapping.ts';
import { EncodingError, readTextFileSync } from '../../../lib/text-file.ts';
import { describeError } from '../../import/faults.ts';
import type { ValueType } from '../model-shape.ts';

/** Name of a column, or its number from 1. */
export type ColumnName = string | number;
export type Scalar = string | number | boolean;

export interface FromColumn {
  readonly column: ColumnName;
  readonly type?: ValueType;
  readonly remove?: string;
  readonly pattern?: string;
  readonly values?: Readonly<Record<string, Scalar | null>>;
  readonly other?: 'fault' | 'keep';
  readonly default?: Scalar;
  readonly dates?: readonly string[];
  readonly decimal?: ',' | '.';
  readonly digits?: number;
  readonly split?: string;
  readonly part?: number | string;
}

export type Members = Readonly<Record<string, ColumnName | FromColumn | { readonly value: Scalar }>>;

export interface TableMapping {
  readonly list?: ItemList;
  readonly sheet?: string;
  readonly header?: number;
  readonly where?: { readonly column: ColumnName; readonly in?: readonly string[]; readonly notIn?: readonly string[] };
  readonly key?: readonly ColumnName[];
  readonly members: Members;
  readonly items?: Readonly<Record<string, { readonly key: readonly ColumnName[] }>>;
}

export interface CsvMapping {
  readonly delimiter?: string;
  readonly encoding?: 'utf-8' | 'windows-1252';
}

/** What a mapping file says; `openapi/modellen/table-mapping.schema.json` explains each member. */
export interface MappingContent {
  readonly variant: Variant;
  readonly model?: string;
  readonly csv?: CsvMapping;
  readonly empty?: readonly string[];
  readonly dates?: readonly string[];
  readonly decimal?: ',' | '.';
  readonly true?: readonly string[];
  readonly false?: readonly string[];
  readonly envelope: Readonly<Record<string, Scalar>>;
  readonly levering: Members;
  readonly leveringKey?: readonly (ColumnName | FromColumn)[];
  readonly tables: readonly TableMapping[];
}

/** The faults of a mapping file: a line each, with the place. */
export class MappingError extends Error {
  constructor(path: string, problems: readonly string[]) {
    super(`${path} is not a usable mapping:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'MappingError';
  }
}

export interface MappingFile {
  readonly path: string;
  readonly content: MappingContent;
}

const MAX_MAPPING_BYTES = 1024 * 1024;
const MAX_PROBLEMS = 100;

/** Compiled once per process, because compiling takes longer than reading a small table. */
let validator: ValidateFunction<MappingContent> | undefined;

function compileSchema(): ValidateFunction<MappingContent> {
  const schema = JSON.parse(readFileSync(new URL('table-mapping.schema.json', modelsDirectory), 'utf8'));
  return new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile<MappingContent>(schema);
}

/** Reads a mapping file and checks it against its schema. @throws {MappingError} naming all faults; errors of the file system */
export function readMappingFile(path: string): MappingFile {
  const { size } = statSync(path);
  if (size > MAX_MAPPING_BYTES) throw new MappingError(path, [`it has more than ${MAX_MAPPING_BYTES} bytes`]);
  let text: string;
  try {
    text = readTextFileSync(path);
  } catch (error) {
    throw error instanceof EncodingError ? new MappingError(path, [error.message]) : error;
  }
  // The core schema of YAML 1.2: a date stays text, and `no` is not false. Aliases may not multiply what is written.
  const document = parseDocument(text);
  const errors = document.errors.slice(0, MAX_PROBLEMS).map(({ message }) => message);
  if (errors.length > 0) throw new MappingError(path, errors);
  const content: unknown = document.toJS({ maxAliasCount: 100 });
  validator ??= compileSchema();
  const validate = validator;
  if (validate(content)) return { path, content };
  const problems = (validate.errors ?? [])
    .filter(({ keyword }) => keyword !== 'propertyNames')
    .map((error) => {
      const name = error.propertyName === undefined ? '' : ` ${JSON.stringify(error.propertyName)}`;
      const what = describeError(error).replace('that the model does not know', 'that is not known');
      return `${error.instancePath || '/'}${name}: ${what}`;
    });
  throw new MappingError(path, [...new Set(problems)].slice(0, MAX_PROBLEMS));
}
