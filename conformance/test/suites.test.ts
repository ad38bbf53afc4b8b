import { describe, expect, it } from 'vitest';
import { SUITES } from '../suites.ts';
import { MUTANTS } from './mutants/all.ts';

const CHAPTERS = SUITES.flatMap(({ chapters }) => chapters);

describe('the conformance suites', () => {
  it('have unique ids in order, prefixed by their chapter, each with its source', () => {
    for (const { id, cases } of CHAPTERS)
      expect(cases.filter((one) => !new RegExp(`^${id}-\\d{2}$`).test(one.id))).toEqual([]);
    const ids = CHAPTERS.map(({ cases }) => cases.map(({ id }) => id));
    // The id of a removed case is not reused.
    expect(ids).toEqual(ids.map((of) => of.toSorted()));
    expect(new Set(ids.flat()).size).toBe(ids.flat().length);
    for (const { source } of CHAPTERS.flatMap(({ cases }) => cases))
      expect(Object.values(source).every((text) => text !== '')).toBe(true);
  });

  it('have no must case that only our own contracts require', () => {
    const demanding = CHAPTERS.flatMap(({ cases }) => cases).filter(
      ({ level }) => level === 'must' || level === 'should',
    );
    expect(demanding.filter(({ source }) => source.document.startsWith('OpenAPI ')).map(({ id }) => id)).toEqual([]);
  });

  it('depend only on their own cases, and never on themselves', () => {
    for (const { chapters } of SUITES) {
      const cases = chapters.flatMap((chapter) => chapter.cases);
      const needs = new Map(cases.map(({ id, dependsOn = [] }) => [id, dependsOn] as const));
      const reached = (id: string, path: readonly string[]): void => {
        expect(path).not.toContain(id);
        for (const other of needs.get(id) ?? ['(unknown)']) reached(other, [...path, id]);
      };
      for (const id of needs.keys()) reached(id, []);
    }
  });

  it.each(SUITES)('have a mutant for every case of $name that judges, and none for another', ({ name, chapters }) => {
    const judging = chapters.flatMap(({ cases }) => cases.filter(({ level }) => level !== 'open').map(({ id }) => id));
    const killed = (MUTANTS[name] ?? []).map(({ kills }) => kills);
    expect(judging.filter((id) => !killed.includes(id))).toEqual([]);
    expect(killed.filter((id) => !judging.includes(id))).toEqual([]);
  });
});
