import type { ItemList } from '../../../gegevens/model/mapping.ts';
import type { Model } from '../../../gegevens/model/model.ts';
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

/** A member of a record or levering that a table fills. */
export interface MemberPath {
  readonly pointer: string;
  /** Steps to the object that the member is in: of the record, or of an item of a list. */
  readonly steps: readonly string[];
  /** The same as a pointer, to the member itself. */
  readonly inner: string;
  /** The list that the member is in, if any. */
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
  readonly isMain: boolean;
  readonly record: MemberPlans;
  /** By pointer of a list: the columns that make the key of an item. */
  readonly itemKeys: ReadonlyMap<string, readonly ColumnName[]>;
}

export interface Plan {
  readonly model: Model;
  readonly content: MappingContent;
  readonly levering: MemberPlans;
  /** Columns of which each value makes a levering of its own. */
  readonly leveringKey: readonly FromColumn[];
  readonly tables: readonly TablePlan[];
  /** Lists whose rows are sorted by key before records are made of them. */
  readonly sorted: ReadonlySet<ItemList>;
}

/**
 * Holds a mapping against the model.
 * @throws {MappingError} naming every member that the model does not know, and whatever cannot be meant
 */
export function planTables(file: MappingFile, model: Model): Plan {
  const { content } = file;
  const { variant, mapping } = model;
  const problems: string[] = [];
  const report = (pointer: string, message: string): void => {
    problems.push(`line ${file.lineOf(pointer)}, ${pointer}: ${message}`);
  };
  const reportWhere = (pointer: string, rules: readonly (readonly [isBroken: boolean, message: string])[]): void => {
    for (const [isBroken, message] of rules) if (isBroken) report(pointer, message);
  };
  const { model: version = mapping.versie } = content;
  reportWhere('/variant', [
    [content.variant !== variant, `the mapping is for ${content.variant}, and the import for ${variant}`],
  ]);
  reportWhere('/model', [
    [version !== mapping.versie, `the mapping is for model ${version}, and the import by ${mapping.versie}`],
  ]);
  // Of another model nothing else can be said.
  if (problems.length > 0) throw new MappingError(file.path, problems.slice(0, 1));
  const reportForms = (forms: readonly string[] = [], at: string): void =>
    reportWhere(
      at,
      forms.map((form) => [dateForm(form, false) === undefined, `${JSON.stringify(form)} is not a form of dates`]),
    );
  const reportSource = ({ pattern, values, other, dates }: FromColumn, at: string): void => {
    reportForms(dates, at);
    reportWhere(at, [
      [other !== undefined && pattern === undefined && values === undefined, '`other` needs `values` or `pattern`'],
      [pattern !== undefined && readPattern(pattern) === undefined, 'the pattern is not a regular expression'],
    ]);
  };
  const { records, teller, zaken } = mapping.levering;
  const oneLevering = [...mapping.envelop.leveringen, '*'];
  const shape = new Shape(model.schema);
  const planner = (members: Members, at: string, base: readonly string[]): MemberPlans => {
    const ofMember = (pointer: string, message: string): void => report(at + toPointer([pointer]), message);
    const plans = planMembers({ members, base, shape, report: ofMember });
    for (const { pointer, source } of plans.columns) reportSource(source, at + toPointer([pointer]));
    return plans;
  };
  reportForms(content.dates, '/dates');
  const { delimiter = ';', quote = '"' } = content.csv ?? {};
  reportWhere('/csv', [
    [delimiter === quote || /[\r\n]/.test(delimiter + quote), 'the delimiter and the quote cannot be these'],
  ]);
  const ownMembers = new Set([teller, records, zaken?.lijst ?? []].map(toPointer));
  for (const pointer of Object.keys(content.levering)) {
    reportWhere(`/levering${toPointer([pointer])}`, [[ownMembers.has(pointer), 'is filled by the import itself']]);
  }
  const levering = planner(content.levering, '/levering', oneLevering);
  for (const { pointer, list, isMultiple } of levering.columns) {
    reportWhere(`/levering${toPointer([pointer])}`, [
      [isMultiple || list?.item === '-', 'a levering has one row: number the items'],
    ]);
  }
  const leveringKey = (content.leveringKey ?? []).map((each) => (typeof each === 'object' ? each : { column: each }));
  for (const [index, source] of leveringKey.entries()) reportSource(source, `/leveringKey/${index}`);
  const tables = content.tables.map((table, index): TablePlan => {
    const at = `/tables/${index}`;
    const { list = 'records', key, scattered = false } = table;
    const ofList = content.tables.filter((each) => (each.list ?? 'records') === list);
    const isMain = ofList[0] === table;
    const path = list === 'records' ? records : (zaken?.lijst ?? []);
    const record = planner(table.members, `${at}/members`, [...oneLevering, ...path, '*']);
    reportWhere(at, [
      [list === 'zaken' && zaken === undefined, 'the model has no zaken'],
      [!isMain && key === undefined, 'a table that adds to the records of another one needs a key'],
      [isMain && ofList.length > 1 && key === undefined, 'a table that others add to needs a key'],
      [scattered && key === undefined, 'scattered rows need a key'],
    ]);
    const itemKeys = new Map(Object.entries(table.items ?? {}).map(([pointer, items]) => [pointer, items.key]));
    for (const pointer of itemKeys.keys()) {
      const filled = record.columns.filter((member) => member.list?.pointer === pointer);
      const isOther = filled.some(({ list: of, isMultiple }) => of?.item !== '-' || isMultiple);
      reportWhere(`${at}/items${toPointer([pointer])}`, [
        [filled.length === 0, 'no member of the table is in this list'],
        [isOther, 'a key is only for items that are written with the step -'],
      ]);
    }
    return { index, list, mapping: table, isMain, record, itemKeys };
  });
  reportWhere('/tables', [[!tables.some(({ list }) => list === 'records'), 'no table makes records']]);
  if (problems.length > 0) throw new MappingError(file.path, problems);
  const sorted = new Set(
    tables.filter(({ isMain, mapping: each }) => !isMain || each.scattered === true).map(({ list }) => list),
  );
  return { model, content, levering, leveringKey, tables, sorted };
}

interface MembersToPlan {
  readonly members: Members;
  /** Path of what the pointers begin at. */
  readonly base: readonly string[];
  /** Of the message. */
  readonly shape: Shape;
  readonly report: (pointer: string, message: string) => void;
}

function planMembers({ members, base, shape, report }: MembersToPlan): MemberPlans {
  const columns: ColumnMember[] = [];
  const constants: ConstantMember[] = [];
  for (const [pointer, given] of Object.entries(members)) {
    const source = typeof given === 'object' ? given : { column: given };
    const located = locate(pointer, base, shape);
    if (typeof located === 'string') {
      report(pointer, located);
      continue;
    }
    const { path, type: described } = located;
    if (described === 'list' || described === 'object') {
      report(pointer, `is ${described === 'list' ? 'a list' : 'an object'}: name a member of it`);
      continue;
    }
    const type = 'column' in source ? (source.type ?? described) : described;
    if (type === undefined) {
      report(pointer, 'the model does not describe this member; with a `type` it is delivered nevertheless');
    } else if ('value' in source) constants.push({ ...path, value: source.value });
    else {
      const isMultiple = source.split !== undefined && source.part === undefined;
      if (isMultiple && path.list?.item !== '-')
        report(pointer, 'a cell that is split needs a `part`, or the step - for its items');
      if (source.default !== undefined) constants.push({ ...path, value: source.default });
      columns.push({ ...path, source, type, isMultiple });
    }
  }
  for (const { pointer, list } of constants) {
    if (list?.item === '-' && !columns.some((member) => member.list?.pointer === list.pointer)) {
      report(pointer, 'no column fills an item of this list; number the item if every record has it');
    }
  }
  for (const own of Map.groupBy(columns, ({ list }) => list?.pointer).values()) {
    const [first] = own;
    if (first?.list === undefined) continue;
    if (own.some(({ isMultiple }) => isMultiple !== first.isMultiple)) {
      report(first.pointer, 'a cell that is split fills a list together with others that are split only');
    }
    if (own.some(({ list }) => (list?.item === '-') !== (first.list?.item === '-'))) {
      report(first.pointer, 'the items of a list are all numbered, or all written with the step -');
    }
  }
  return { columns, constants };
}

/** What a pointer leads to in the model. @returns what is wrong with the pointer, as a text */
function locate(
  pointer: string,
  base: readonly string[],
  shape: Shape,
): { readonly path: MemberPath; readonly type: Shape['type'] | undefined } | string {
  const steps = pointerSteps(pointer);
  const dataPath = [...base];
  let list: ListPath | undefined;
  let from = 0;
  for (const [at, step] of steps.entries()) {
    const isItem = shape.at(dataPath)?.type === 'list';
    if (isItem && !/^(-|\d{1,3})$/.test(step))
      return `${toPointer(steps.slice(0, at))} is a list: its items are -, or 0, 1, …`;
    if (!isItem && step === '-') return `${toPointer(steps.slice(0, at)) || 'the record'} is not a list`;
    if (isItem) {
      if (list !== undefined) return 'a list within an item of a list cannot be filled from a table';
      list = { pointer: toPointer(steps.slice(0, at)), steps: steps.slice(0, at), item: step };
      from = at + 1;
    }
    dataPath.push(isItem ? '*' : step);
  }
  if (list !== undefined && from === steps.length) return 'is an item of a list: name a member of it';
  const own = steps.slice(from);
  return { path: { pointer, steps: own, inner: toPointer(own), list }, type: shape.at(dataPath)?.type };
}
