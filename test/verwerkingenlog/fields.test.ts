/** The fields of a verwerkingsactie stand in four places. A field that one gets and another lacks would get lost on its way. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { isRecord } from '../../src/kernel/is-record.ts';

const ROOT = join(import.meta.dirname, '../..');
const CONTRACT: unknown = parse(readFileSync(join(ROOT, 'openapi/verwerkingenlog.yaml'), 'utf8'));

/** Members of a schema of the contract; without those that only the log itself gives. */
function writable(name: string): string[] {
  return properties(name)
    .filter(([, schema]) => !isRecord(schema) || schema.readOnly !== true)
    .map(([member]) => member)
    .toSorted();
}

function properties(name: string): [string, unknown][] {
  let found: unknown = CONTRACT;
  for (const step of ['components', 'schemas', name, 'properties']) found = isRecord(found) ? found[step] : undefined;
  if (!isRecord(found)) throw new Error(`the contract has no ${name}`);
  return Object.entries(found);
}

/** Members of interfaces, as their source names them: types are not there when a program runs. */
function members(path: string, ...names: string[]): string[] {
  return names.flatMap((name) => membersOf(path, name)).toSorted();
}

function membersOf(path: string, name: string): string[] {
  const source = readFileSync(join(ROOT, path), 'utf8');
  const body = new RegExp(`^(?:export )?interface ${name}\\b[^{]*\\{\\n(.*?)^\\}`, 'ms').exec(source)?.[1];
  if (body === undefined) throw new Error(`${path} has no interface ${name}`);
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??:/gm)].map(([, member]) => String(member));
}

const TYPES = 'src/client/verwerkingenlog-types.ts';
const KERNEL = 'src/kernel/processing-log.ts';
const BODY = 'src/verwerkingenlog/domain/read-actie.ts';
const KEPT = 'src/verwerkingenlog/domain/verwerkingsactie.ts';

describe('the fields of an action', () => {
  const written = writable('VerwerkingsactieInvoer');

  it.each([
    ['in the types of the client', TYPES, ['NieuweVerwerkingsactie']],
    ['where another area logs', KERNEL, ['ProcessingEntry']],
    ['in the body that is read', BODY, ['ActieBody']],
    ['in what is kept', KEPT, ['ActieVelden', 'Actie']],
  ])('%s are those that the contract takes', (_where, path, names) => {
    // The offset of `tijdstip` is kept beside its moment.
    expect(members(path, ...names).filter((member) => member !== 'tijdstipOffset')).toEqual(written);
  });

  it('in an answer are those of the contract, for the client too', () => {
    const answered = properties('Verwerkingsactie').map(([member]) => member);
    expect(answered).toEqual(expect.arrayContaining(written));
    const [own, inherited] = [members(TYPES, 'Verwerkingsactie'), members(TYPES, 'NieuweVerwerkingsactie')];
    expect([...new Set([...own, ...inherited])].toSorted()).toEqual(answered.toSorted());
  });
});

describe('the fields of a processed person', () => {
  const written = writable('VerwerktObjectInvoer');
  /** Inside, the kinds of data are a list of words, and there is one kind of object. */
  const inside = written
    .filter((field) => field !== 'objecttype')
    .map((field) => (field === 'verwerkteSoortenGegevens' ? 'soortenGegevens' : field))
    .toSorted();

  it('in the types of the client are those that the contract takes', () => {
    expect(members(TYPES, 'VerwerktObject')).toEqual(written);
  });

  it('in the body that is read are those, but for its kind, which is always the same', () => {
    expect(members(BODY, 'ObjectBody')).toEqual(written.filter((field) => field !== 'objecttype'));
  });

  it.each([
    ['where another area logs', KERNEL, 'ProcessedPerson'],
    ['in what is kept', KEPT, 'VerwerktObject'],
  ])('%s are those, in the form that is kept', (_where, path, name) => {
    expect(members(path, name)).toEqual(inside);
  });
});
