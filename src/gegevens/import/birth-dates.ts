/** Dates of birth that a file gives as a moment: where the model allows any text, `1980-05-13T22:00:00Z` is the 14th. */

import type { Mapping } from '../../lib/exchange-model/mapping.ts';
import { isRecord, pointerSteps, toPointer, valueAt } from '../../lib/json/json-value.ts';
import { locateValues } from '../../lib/json/locate-values.ts';
import { dayOfMoment } from '../../lib/time.ts';

/** The text of a record with days instead of moments; `undefined` when it has no moments. */
export type BirthDates = (text: string, record: unknown) => string | undefined;

const JSON_STRING = /"(?:[^"\\]|\\.)*"/y;

/** @returns `undefined` when the mapping does not name the dates */
export function createBirthDates({ controle }: Mapping): BirthDates | undefined {
  const [place, member] = ['plaats', 'geboortedatum'].map((name) => valueAt(controle, ['personen', name]));
  if (typeof place !== 'string' || typeof member !== 'string') return undefined;
  const [list, birth] = [pointerSteps(place), pointerSteps(member)];
  return (text, record) => {
    const found = valueAt(record, list);
    const persons = Array.isArray(found) ? found.map((person, index) => ({ person, at: [...list, index] })) : [];
    if (isRecord(found)) persons.push({ person: found, at: list });
    const days = persons.flatMap(({ person, at }): [string, string][] => {
      const date = valueAt(person, birth);
      const day = typeof date === 'string' ? dayOfMoment(date)?.day : undefined;
      return day === undefined ? [] : [[toPointer([...at, ...birth]), day]];
    });
    return days.length === 0 ? undefined : withTexts(text, new Map(days));
  };
}

function withTexts(json: string, texts: ReadonlyMap<string, string>): string {
  let changed = json;
  const places = [...locateValues(json, [...texts.keys()])];
  // From the end, so that earlier positions stay valid.
  for (const [pointer, from] of places.toSorted(([, a], [, b]) => b - a)) {
    JSON_STRING.lastIndex = from;
    const [old = ''] = JSON_STRING.exec(json) ?? [];
    changed = changed.slice(0, from) + JSON.stringify(texts.get(pointer)) + changed.slice(from + old.length);
  }
  return changed;
}
