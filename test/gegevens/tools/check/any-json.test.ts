/** Whatever a member contains, a check ends with a report. */
import { readdirSync, readlinkSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DeliveryCheck } from '../../../../src/gegevens/tools/check/delivery-check.ts';
import { Persons } from '../../../../src/gegevens/tools/check/persons.ts';
import { reportHtml, reportJson } from '../../../../src/gegevens/tools/check/report.ts';
import { reportWords } from '../../../../src/gegevens/tools/check/report-words.ts';
import { loadModel } from '../../../../src/lib/exchange-model/model.ts';
import { processorMs } from '../../../support/processor-time.ts';
import { message, shvLevering, traject, vsLevering } from './support.ts';

/** Replaces the n-th value of a message, counted through all levels. */
function withValue(message: unknown, at: number, value: unknown): unknown {
  let count = -1;
  return JSON.parse(
    JSON.stringify(message, (_name, member) => {
      count += 1;
      return count === at ? value : member;
    }),
  );
}

const toStrings = fc.constantFrom({ toString: 1, valueOf: 2 }, { length: -1 }, JSON.parse('{"__proto__": {"a": 1}}'));

it.each([
  ['shv', '1.0', message([shvLevering([traject(), traject()])]), 'schuldhulptrajecten'],
  ['vs', '1.1', message([vsLevering('1.1')]), 'vroegsignalen'],
  ['vs', '1.2', message([vsLevering('1.2')]), 'vroegsignalen'],
] as const)('of %s %s', (variant, version, good, records) => {
  const model = loadModel(variant, version);
  const property = fc.property(fc.nat({ max: 80 }), fc.oneof(fc.jsonValue({ maxDepth: 3 }), toStrings), (at, value) => {
    const broken = withValue(good, at, value);
    const check = new DeliveryCheck({ model, now: new Date('2026-06-01T00:00:00Z') });
    check.start('');
    const item = (levering: number, list: 'records' | 'zaken', nummer: number, value: unknown): void =>
      check.item({ levering, list, nummer, value, fits: false });
    const leveringen: unknown = Object(broken).leveringen;
    for (const [index, levering] of (Array.isArray(leveringen) ? leveringen : []).entries()) {
      const list = (name: string): unknown[] => (Array.isArray(Object(levering)[name]) ? Object(levering)[name] : []);
      for (const [n, record] of list(records).entries()) item(index, 'records', n, record);
      for (const [n, zaak] of list('vroegsignaalzaken').entries()) item(index, 'zaken', n, zaak);
      check.levering(index, levering);
    }
    check.envelop(broken);
    const report = check.report();
    for (const { places } of reportJson(report).findings) {
      for (const place of places) expect(place).toMatch(/^(\/|$)/);
    }
    expect(reportHtml(report, { sources: ['a'], model: version, made: new Date(0) }, reportWords.nl)).toContain(
      '</html>',
    );
  });
  fc.assert(property, { numRuns: 150 });
});

const open = (): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes('etilqs');
    } catch {
      return false;
    }
  }).length;

it.runIf(process.platform === 'linux')('keeps no file open after its report', () => {
  const check = new DeliveryCheck({ model: loadModel('shv', '1.0'), now: new Date('2026-06-01T00:00:00Z') });
  check.start('');
  const client = Array.from({ length: 120_000 }, (_, n) => ({ Burgerservicenummer: String(100_000_000 + n) }));
  check.item({ levering: 0, list: 'records', nummer: 0, value: traject({ client }), fits: true });
  expect(open()).toBe(1);
  check.report();
  expect(open()).toBe(0);
});

it('finishes within seconds for one person with very many trajectories', () => {
  const persons = new Persons();
  for (let day = 0; day < 40_000; day += 1) {
    persons.add({ record: day, municipality: 0, persons: ['one'], begin: 2 * day, end: 2 * day, step: 0 });
  }
  expect(processorMs(() => expect(persons.endLevering()).toEqual([]))).toBeLessThan(6000);
  persons.close();
});
