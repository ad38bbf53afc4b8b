import { readFileSync, statSync } from 'node:fs';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isNode, LineCounter, parseDocument } from 'yaml';
import { describeError } from '../../../gegevens/import/faults.ts';
import type { ItemList, Variant } from '../../../gegevens/model/mapping.ts';
import { pointerSteps } from '../../../lib/json/json-value.ts';
import { modelsDirectory } from '../../../settings/gegevens-settings.ts';
import type { ValueType } from '../model-shape.ts';

/** Name of a column, or its number from 1. */
export type ColumnName = string | number;
export type Scalar = string | number | boolean;

export interface FromColumn {
  readonly column: ColumnName;
  readonly type?: ValueType;
  readonly pattern?: string;
  readonly values?: Readonly<Record<string, Scalar | null>>;
  readonly other?: 'fault' | 'keep';
  readonly default?: Scalar;
  readonly dates?: readonly string[];
  readonly decimal?: ',' | '.';
  readonly rounding?: 'nearest' | 'down' | 'none';
  readonly digits?: number;
  readonly split?: string;
  readonly part?: number | string;
}

export type MemberSource = ColumnName | FromColumn | { readonly value: Scalar };
export type Members = Readonly<Record<string, MemberSource>>;

export interface TableMapping {
  readonly list?: ItemList;
  readonly sheet?: string;
  readonly header?: number | 'none';
  readonly where?: { readonly column: ColumnName; readonly in?: readonly string[]; readonly notIn?: readonly string[] };
  readonly key?: readonly ColumnName[];
  readonly scattered?: boolean;
  readonly members: Members;
  readonly items?: Readonly<Record<string, { readonly key: readonly ColumnName[] }>>;
}

export interface CsvMapping {
  readonly delimiter?: string;
  readonly encoding?: 'utf-8' | 'windows-1252';
  readonly quote?: string;
  readonly shortRows?: boolean;
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

/** What is wrong with a mapping file: a line each, with the place. */
export class MappingError extends Error {
  readonly problems: readonly string[];
  constructor(path: string, problems: readonly string[]) {
    super(`${path} is not a usable mapping:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'MappingError';
    this.problems = problems;
  }
}

export interface MappingFile {
  readonly path: string;
  readonly content: MappingContent;
  /** The line of what a pointer leads to, or of what it would be in. */
  lineOf(pointer: string): number;
}

const MAX_MAPPING_BYTES = 1024 * 1024;
const MAX_PROBLEMS = 100;

/** Compiled for the first file. */
let validate: ValidateFunction<MappingContent> | undefined;

/**
 * Reads a mapping file and checks it against its schema.
 * @throws {MappingError} naming all that is wrong with it; what the file system says
 */
export function readMappingFile(path: string): MappingFile {
  const { size } = statSync(path);
  if (size > MAX_MAPPING_BYTES) throw new MappingError(path, [`it has more than ${MAX_MAPPING_BYTES} bytes`]);
  const lines = new LineCounter();
  // The core schema of YAML 1.2: a date stays text, and `no` is not false. Aliases may not multiply what is written.
  const document = parseDocument(readFileSync(path, 'utf8'), { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ pos, message }) => `line ${lines.linePos(pos[0]).line}: ${message}`);
    throw new MappingError(path, problems.slice(0, MAX_PROBLEMS));
  }
  const content: unknown = document.toJS({ maxAliasCount: 100 });
  const lineOf = (pointer: string): number => {
    for (let steps = pointerSteps(pointer); steps.length > 0; steps = steps.slice(0, -1)) {
      const keys = steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step));
      for (const path of [keys, steps]) {
        const node = document.getIn(path, true);
        if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
      }
    }
    return 1;
  };
  validate ??= new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile<MappingContent>(schema());
  if (validate(content)) return { path, content, lineOf };
  const all = validate.errors ?? [];
  // A choice of forms reports each form that does not fit: what is deepest in the file is what was meant.
  const isVague = (at: string, keyword: string): boolean =>
    (keyword === 'oneOf' || keyword === 'type' || keyword === 'required') &&
    all.some((other) => other.instancePath.startsWith(`${at}/`) || isNamed(other, at));
  const problems = all
    .filter(({ instancePath, keyword }) => keyword !== 'propertyNames' && !isVague(instancePath, keyword))
    .map((error) => {
      const { instancePath, propertyName } = error;
      const name = propertyName === undefined ? '' : ` ${JSON.stringify(propertyName)}`;
      return `line ${lineOf(instancePath)}, ${instancePath || '/'}${name}: ${describeError(error).replace('that the model does not know', 'that is not known')}`;
    });
  throw new MappingError(path, [...new Set(problems)].slice(0, MAX_PROBLEMS));
}

/** Whether an error at a place says exactly which member is wrong. */
function isNamed({ instancePath, keyword }: { instancePath: string; keyword: string }, at: string): boolean {
  return instancePath === at && (keyword === 'additionalProperties' || keyword === 'dependentRequired');
}

function schema(): object {
  const value: unknown = JSON.parse(readFileSync(new URL('table-mapping.schema.json', modelsDirectory), 'utf8'));
  if (typeof value !== 'object' || value === null) throw new TypeError('the schema of mappings is no object');
  return value;
}
