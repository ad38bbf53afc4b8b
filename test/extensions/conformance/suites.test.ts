import { describe, expect, it } from 'vitest';
import { SUITES } from '../../../src/extensions/conformance/suites.ts';
import { MUTANTS } from './mutants/all.ts';

const CHAPTERS = SUITES.flatMap(({ chapters }) => chapters);

describe('the conformance suites', () => {
  it('have ids that occur once, in the order of their chapters, each with its source', () => {
    for (const { id, cases } of CHAPTERS)
      expect(cases.map((one) => one.id)).toEqual(cases.map((_, i) => `${id}-${String(i + 1).padStart(2, '0')}`));
    expect(new Set(CHAPTERS.map(({ id }) => id)).size).toBe(CHAPTERS.length);
    for (const { source } of CHAPTERS.flatMap(({ cases }) => cases))
      expect(Object.values(source).every((text) => text !== '')).toBe(true);
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
