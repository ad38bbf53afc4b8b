import { expect, it } from 'vitest';
import { Findings, type Place } from '../../../../src/gegevens/tools/check/findings.ts';
import type { Item } from '../../../../src/gegevens/tools/message-store.ts';

function recordPlace(nummer: number, member: string): Place {
  const item: Item = { levering: 0, list: 'records', nummer };
  return { pointer: `/leveringen/0/records/${nummer}/${member}`, what: 'is another value', item };
}

/** The items whose rows are asked for. */
function locatedIn(findings: Findings): Item[][] {
  const asked: Item[][] = [];
  findings.locate((items) => {
    asked.push([...items]);
    return () => undefined;
  });
  return asked;
}

it('keeps no more than the places that a report shows, in however many members', () => {
  const findings = new Findings();
  for (let nummer = 0; nummer < 1000; nummer += 1)
    findings.add(9, 'blocking', recordPlace(nummer, `lid-${'x'.repeat(nummer)}`));
  expect(locatedIn(findings)[0]).toHaveLength(100);
  expect(findings.list()).toEqual([expect.objectContaining({ count: 1000 })]);
});

it('asks for no rows when nothing was found in a record', () => {
  const findings = new Findings();
  findings.add(4, 'warning', { pointer: '/codeGegevensleverancier', what: 'is not as in `Product 1.2`' });
  expect(locatedIn(findings)).toEqual([]);
  findings.add(9, 'blocking', recordPlace(3, 'geslacht'));
  expect(locatedIn(findings)).toEqual([[{ levering: 0, list: 'records', nummer: 3 }]]);
  expect(locatedIn(findings)).toEqual([]);
});
