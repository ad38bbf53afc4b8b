import { expect, it } from 'vitest';
import { textOfHtml } from '../../../src/extensions/aggregator/supplier/html-text.ts';
import { bareNumber } from '../../../src/extensions/aggregator/supplier/mapping.ts';
import { readXml } from '../../../src/lib/xml/read-xml.ts';

const MANY = 300_000;

it.each([
  ['scripts', () => textOfHtml(`Raad${'<script '.repeat(MANY)}`), 'Raad'],
  ['comments', () => textOfHtml(`Raad${'<!--'.repeat(MANY)}`), 'Raad'],
  ['dots of a number', () => bareNumber(`1${'.'.repeat(MANY)}x`), '1'],
])('%s without an end are read in one go', (_name, read, want) => {
  const begin = performance.now();
  expect(read()).toBe(want);
  expect(performance.now() - begin).toBeLessThan(1000);
});

it('XML of more elements than memory has room for is not read', () => {
  expect(() => readXml(`<a>${'<b/>'.repeat(1_000_001)}</a>`)).toThrow('more than 1000000 elements');
});
