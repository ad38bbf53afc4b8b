import { describe, expect, it } from 'vitest';
import { distinct } from '../../src/plugins/faults.ts';

describe('faults of one value', () => {
  it('list the formats of several branches together', () => {
    const of = (format: string) => ({
      name: 'begin',
      code: 'format',
      reason: `is geen geldige waarde van de soort \`${format}\``,
    });
    expect(distinct([of('date'), of('date-time'), of('date')])).toEqual([
      { name: 'begin', code: 'format', reason: 'is geen geldige waarde van de soort `date` of `date-time`' },
    ]);
  });

  it('stay separate when their reasons name no format', () => {
    const faults = ['heeft een spatie', 'heeft geen zone'].map((reason) => ({ name: 'begin', code: 'format', reason }));
    expect(distinct([...faults, ...faults])).toEqual(faults);
  });
});
