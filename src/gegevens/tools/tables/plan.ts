import type { ItemList } from '../../../lib/exchange-model/mapping.ts';
import type { Model } from '../../../lib/exchange-model/model.ts';
import { pointerSteps, toPointer } from '../../../lib/json/json-value.ts';
import { Shape, type ValueType } from '../model-shape.ts';
import { dateForm, readPattern } from './convert.ts';
import {
  type ColumnName,
  type FromColumn,
  type MappingContent,
  MappingError,
  type MappingFile,
  type Members,
  type Scalar,
  type TableMapping,
} from './mapping-file.ts';
import { formOfTarget, type TargetForm } from './target-form.ts';

/** A member of a record or levering that a table fills. */
export interface MemberPath {
  readonly pointer: string;
  /** Steps to the member, of the record or of an item of a list. */
  readonly steps: readonly string[];
  readonly list: ListPath | undefined;
}

export interface ListPath {
  readonly pointer: string;
  readonly steps: readonly string[];
  /** The step that names the item: `-`, or a number. */
  readonly item: string;
}

export interface ColumnMember extends MemberPath {
  readonly source: FromColumn;
  readonly type: ValueType;
  readonly form: TargetForm | undefined;
  /** Each part of the cell is an item of the list. */
  readonly isMultiple: boolean;
}

/** A value that every record has, or every item of a list, unless a column gave it another. */
export interface ConstantMember extends MemberPath {
  readonly value: Scalar;
}

export interface MemberPlans {
  readonly columns: readonly ColumnMember[];
  readonly constants: readonly ConstantMember[];
}

export interface TablePlan {
  readonly index: number;
  readonly list: ItemList;
  readonly mapping: TableMapping;
  /** The first table of its list; others add to its records. */
  readonly isMain: boolean;
  readonly record: MemberPlans;
  /** By pointer of a list: the columns that make the key of an item. */
  readonly itemKeys: ReadonlyMap<string, readonly ColumnName[]>;
}

interface KeyColumn {
  readonly source: FromColumn;
  /** The form of a member that the same column fills: `14` and `0014` are one municipality. */
  readonly form: TargetForm | undefined;
}

export interface Plan {
  readonly model: Model;
  readonly content: MappingContent;
  readonly levering: MemberPlans;
  /** Columns for which each distinct value makes its own levering. */
  readonly leveringKey: readonly KeyColumn[];
  readonly tables: readonly TablePlan[];
}

/** Checks a mapping against the model. @throws {MappingError} naming each member that the model does not know, and all that cannot be right */
export function planTables({ path: file, content }: MappingFile, model: Model): Plan {
  const { variant, mapping } = model;
  const { model: version = mapping.versie } = content;
  // Nothing more can be said about another model.
  if (content.variant !== variant)
    throw new MappingError(file, [`the mapping is for ${content.variant}, and the import for ${variant}`]);
  if (version !== mapping.versie)
    throw new MappingError(file, [`the mapping is for model ${version}, and the import by ${mapping.versie}`]);
  const planner = new Planner(new Shape(model.schema));
  const { records, zaken } = mapping.levering;
  const oneLevering = [...mapping.envelop.leveringen, '*'];
  planner.checkForms(content.dates, '/dates');
  planner.report(/["\r\n]/.test(content.csv?.delimiter ?? ''), '/csv', 'the delimiter cannot be this');
  const levering = planner.members(content.levering, '/levering', oneLevering);
  for (const { pointer, list, isMultiple } of levering.columns) {
    const hasItems = isMultiple || list?.item === '-';
    planner.report(hasItems, `/levering${toPointer([pointer])}`, 'a levering has one row: number the items');
  }
  const keySources = (content.leveringKey ?? []).map((each) => (typeof each === 'object' ? each : { column: each }));
  for (const [index, source] of keySources.entries()) planner.checkSource(source, `/leveringKey/${index}`);
  const tables = content.tables.map((table, index): TablePlan => {
    const at = `/tables/${index}`;
    const { list = 'records', key } = table;
    const ofList = content.tables.filter((each) => (each.list ?? 'records') === list);
    const isMain = ofList[0] === table;
    const path = list === 'records' ? records : (zaken?.lijst ?? []);
    const record = planner.members(table.members, `${at}/members`, [...oneLevering, ...path, '*']);
    planner.report(list === 'zaken' && zaken === undefined, at, 'the model has no zaken');
    const needsKey = isMain
      ? 'a table that others add to needs a key'
      : 'a table that adds to the records of another one needs a key';
    planner.report(ofList.length > 1 && key === undefined, at, needsKey);
    const itemKeys = new Map(Object.entries(table.items ?? {}).map(([pointer, items]) => [pointer, items.key]));
    for (const pointer of itemKeys.keys()) {
      const isFilled = record.columns.some(({ list: of }) => of?.pointer === pointer && of.item === '-');
      const place = `${at}/items${toPointer([pointer])}`;
      planner.report(!isFilled, place, 'no member of the table is in this list, with the step - for its items');
    }
    return { index, list, mapping: table, isMain, record, itemKeys };
  });
  planner.report(!tables.some(({ list }) => list === 'records'), '/tables', 'no table makes records');
  if (planner.problems.length > 0) throw new MappingError(file, planner.problems);
  const filled = [levering, ...tables.map(({ record }) => record)].flatMap(({ columns }) => columns);
  const leveringKey = keySources.map((source) => ({
    source,
    form: filled.find(({ form, source: { column } }) => form !== undefined && column === source.column)?.form,
  }));
  return { model, content, levering, leveringKey, tables };
}

class Planner {
  readonly problems: string[] = [];
  readonly #message: Shape;

  constructor(message: Shape) {
    this.#message = message;
  }

  report(isBroken: boolean, at: string, what: string): void {
    if (isBroken) this.problems.push(`${at}: ${what}`);
  }

  checkForms(forms: readonly string[] = [], at: string): void {
    for (const form of forms)
      this.report(dateForm(form, false) === undefined, at, `${JSON.stringify(form)} is not a form of dates`);
  }

  checkSource({ pattern, dates }: FromColumn, at: string): void {
    this.checkForms(dates, at);
    const isPattern = pattern === undefined || readPattern(pattern) !== undefined;
    this.report(!isPattern, at, 'the pattern is not a regular expression');
  }

  /** @param base path of what the pointers begin at */
  members(members: Members, at: string, base: readonly string[]): MemberPlans {
    const columns: ColumnMember[] = [];
    const constants: ConstantMember[] = [];
    for (const [pointer, given] of Object.entries(members)) {
      const source = typeof given === 'object' ? given : { column: given };
      const report = (isBroken: boolean, what: string): void => this.report(isBroken, at + toPointer([pointer]), what);
      const located = this.#locate(pointer, base);
      if (typeof located === 'string') {
        report(true, located);
        continue;
      }
      const { path, type: described } = located;
      if (described === 'list' || described === 'object') {
        report(true, `is ${described === 'list' ? 'a list' : 'an object'}: name a member of it`);
        continue;
      }
      const type = 'column' in source ? (source.type ?? described) : described;
      if (type === undefined) {
        report(true, 'the model does not describe this member; with a `type` it is delivered nevertheless');
      } else if ('column' in source) {
        const isMultiple = source.split !== undefined && source.part === undefined;
        const isLost = isMultiple && path.list?.item !== '-';
        report(isLost, 'a cell that is split needs a `part`, or the step - for its items');
        if (source.default !== undefined) constants.push({ ...path, value: source.default });
        columns.push({ ...path, source, type, form: formOfTarget(path.steps), isMultiple });
      } else if (source.value === undefined) report(true, 'names neither a column nor a value');
      else constants.push({ ...path, value: source.value });
    }
    for (const { pointer, source } of columns) this.checkSource(source, at + toPointer([pointer]));
    return { columns, constants };
  }

  /** Resolves a pointer in the model. @returns the fault of the pointer, as a text */
  #locate(pointer: string, base: readonly string[]): { path: MemberPath; type: Shape['type'] | undefined } | string {
    const steps = pointerSteps(pointer);
    const dataPath = [...base];
    let list: ListPath | undefined;
    let from = 0;
    for (const [at, step] of steps.entries()) {
      const isItem = this.#message.at(dataPath)?.type === 'list';
      const before = toPointer(steps.slice(0, at));
      if (isItem && !/^(-|\d{1,3})$/.test(step)) return `${before} is a list: its items are -, or 0, 1, …`;
      if (!isItem && step === '-') return `${before || 'the record'} is not a list`;
      if (isItem) {
        if (list !== undefined) return 'a list within an item of a list cannot be filled from a table';
        list = { pointer: before, steps: steps.slice(0, at), item: step };
        from = at + 1;
      }
      dataPath.push(isItem ? '*' : step);
    }
    if (list !== undefined && from === steps.length) return 'is an item of a list: name a member of it';
    return { path: { pointer, steps: steps.slice(from), list }, type: this.#message.at(dataPath)?.type };
  }
}
