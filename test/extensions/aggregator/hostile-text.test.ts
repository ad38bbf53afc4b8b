import { expect, it } from 'vitest';
import { readXml } from '../../../src/extensions/aggregator/ibabs/read-xml.ts';
import { DocumentCollector } from '../../../src/extensions/aggregator/supplier/document-collector.ts';
import { textOfHtml } from '../../../src/extensions/aggregator/supplier/html-text.ts';
import { bareNumber } from '../../../src/extensions/aggregator/supplier/mapping.ts';
import { processorMs } from '../../support/processor-time.ts';

const MANY = 300_000;

it.each([
  ['scripts', () => textOfHtml(`Raad${'<script '.repeat(MANY)}`), 'Raad'],
  ['comments', () => textOfHtml(`Raad${'<!--'.repeat(MANY)}`), 'Raad'],
  ['dots of a number', () => bareNumber(`1${'.'.repeat(MANY)}x`), '1'],
])('%s without an end are read in one go', (_name, read, want) => {
  expect(processorMs(() => expect(read()).toBe(want))).toBeLessThan(1000);
});

it('XML of more elements than memory has room for is not read', () => {
  expect(() => readXml(`<a>${'<b/>'.repeat(1_000_001)}</a>`)).toThrow('more than 1000000 elements');
});

it('a document in very many items is joined in one go', () => {
  const organisatie = { gemeente: 'gm0001', naam: 'Een' };
  const data = { bronidentificatie: 'd', dossiertype: 'informatieobject', organisatie } as const;
  const read = { bronidentificatie: 'd', version: 0, data };
  const items = Array.from({ length: 40_000 }, (_, n) => `a-${n}`);
  const attached = items.map((item) => ({ read, attachment: { vergaderingen: ['v'], agendapunten: [item] } }));
  let parts: unknown;
  const took = processorMs(() => {
    parts = new DocumentCollector().add(attached);
  });
  expect(took).toBeLessThan(2000);
  expect(parts).toEqual([
    { resourceType: 'Informatieobject', bronidentificatie: 'd', vergaderingen: ['v'], agendapunten: items },
  ]);
});
