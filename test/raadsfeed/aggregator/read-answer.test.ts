import { expect, it } from 'vitest';
import {
  CANCELLED,
  COUNT,
  createReader,
  detailsOf,
  FLAG,
  ID,
  listOf,
  objectOf,
  TEXT,
} from '../../../src/raadsfeed/aggregator/supplier/read-answer.ts';

interface Answer {
  readonly id: string;
  readonly title?: string;
  readonly files: readonly { readonly id: string; readonly size?: number }[];
}

const FILE = objectOf({ id: ID }, { size: COUNT });
const read = createReader<Answer>(objectOf({ id: ID, files: listOf(FILE) }, { title: TEXT }));

function outcome(raw: unknown): { answer: Answer | undefined; issues: string[] } {
  const issues: string[] = [];
  const answer = read(raw, (what, detail) => issues.push(`${what} ${detail}`), 'item');
  return { answer, issues };
}

it('reads numbers and texts alike, and treats empty texts and null as absent', () => {
  const raw = { id: 12, title: ' ', files: [{ id: '7', size: '30', other: null }], unknown: {} };
  expect(outcome(raw)).toEqual({
    answer: expect.objectContaining({ id: '12', files: [{ id: '7', size: 30 }] }),
    issues: [],
  });
});

it('reports deviations with their context, and omits them', () => {
  const { answer, issues } = outcome({
    id: 1,
    title: { nl: 'x' },
    files: [{ id: 2, size: 'large' }, { size: 1 }, null],
  });
  expect(answer).toMatchObject({ id: '1', files: [{ id: '2' }] });
  expect(answer?.files).toHaveLength(1);
  expect(issues).toEqual([
    'unusable-value item 1: file 2: size must be integer',
    'unexpected-answer item 1: one of files: has no id',
    expect.stringMatching(/^unexpected-answer item 1: one of files must be/),
    'unusable-value item 1: title must be string',
  ]);
});

it('treats an empty object as an empty list, and reports an absent list', () => {
  expect(outcome({ id: 1, files: {} })).toEqual({ answer: { id: '1', files: [] }, issues: [] });
  expect(outcome({ id: 1 })).toEqual({
    answer: { id: '1', files: [] },
    issues: ['unexpected-answer item 1: has no files'],
  });
});

it('treats a list as absent that a hidden item does not show, and one without withdrawals', () => {
  const issues: string[] = [];
  const schema = objectOf({ files: listOf(FILE), dates: detailsOf(FILE) }, { confidential: FLAG });
  const readShown = createReader(objectOf({ items: listOf(schema) }));
  const items = [{ files: [] }, { dates: [], confidential: '0' }, { dates: [], confidential: 'x' }];
  expect(readShown({ items }, (what, detail) => issues.push(`${what} ${detail}`))?.items).toHaveLength(3);
  expect(issues).toEqual([
    'unusable-value one of items: has no dates',
    'unexpected-answer one of items: has no files',
    'unusable-value one of items: has no files',
    'unusable-value one of items: confidential must be equal to one of the allowed values',
  ]);
});

it.each([[{}], ['text'], [null], [[1]]])('reports the entirely unusable %j', (raw) => {
  const { answer, issues } = outcome(raw);
  expect(answer).toBeUndefined();
  expect(issues.length).toBeGreaterThan(0);
});

it('is not misled by a member named __proto__', () => {
  const { answer } = outcome(JSON.parse('{"id":1,"files":[],"__proto__":{"title":"x"}}'));
  expect(answer?.title).toBeUndefined();
});

const readMarks = createReader(objectOf({ files: listOf(objectOf({}, { confidential: FLAG })) }));

it('hides by every unknown mark, even an empty one, and by none that is absent', () => {
  const files = ['', ' ', 'geheim', 2, null].map((confidential) => ({ confidential }));
  const answer = readMarks({ files: [...files, {}] }, () => undefined);
  expect(answer?.files.map(({ confidential }) => confidential)).toEqual([true, true, true, true, undefined, undefined]);
});

it('hides by a mark that is an object, and reads on, whatever its members are called', () => {
  const hostile = { toString: 1, valueOf: null };
  const raw = { id: hostile, files: [{ id: hostile, confidential: hostile }] };
  const schema = { ...FLAG, hides: (given: unknown) => String(given) !== '0' };
  const readHostile = createReader(objectOf({ files: listOf(objectOf({}, { confidential: schema })) }));
  expect(readHostile(raw, () => undefined, 'item')?.files).toEqual([{ confidential: true }]);
});

it('cancels by no unknown value, and reports it', () => {
  const issues: string[] = [];
  const readState = createReader(objectOf({ cancelled: CANCELLED }));
  expect(readState({ cancelled: 'misschien' }, (what) => issues.push(what))).toEqual({ cancelled: false });
  expect(issues).toEqual(['unusable-value']);
});
