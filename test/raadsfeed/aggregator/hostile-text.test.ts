import process from 'node:process';
import { expect, it } from 'vitest';
import { readXml } from '../../../src/raadsfeed/aggregator/ibabs/read-xml.ts';
import { partsOf } from '../../../src/raadsfeed/aggregator/supplier/documents.ts';
import { textOfHtml } from '../../../src/raadsfeed/aggregator/supplier/html-text.ts';
import { bareNumber } from '../../../src/raadsfeed/aggregator/supplier/mapping.ts';
import { processorMs } from '../../support/processor-time.ts';

const MANY = 300_000;

it.each([
  ['scripts', () => textOfHtml(`Raad${'<script '.repeat(MANY)}`), 'Raad'],
  ['comments', () => textOfHtml(`Raad${'<!--'.repeat(MANY)}`), 'Raad'],
  ['tags', () => textOfHtml(`Raad${'<p '.repeat(MANY)}`), `Raad${'<p '.repeat(MANY)}`.trim()],
  ['attributes', () => textOfHtml(`<p ${'a="<p \''.repeat(MANY)}`)?.length, 7 * MANY + 3],
  ['blanks in a tag', () => textOfHtml(`Raad<p${' '.repeat(MANY)}`), 'Raad<p'],
  ['ends of a script', () => textOfHtml(`Raad<script>${'</script '.repeat(MANY)}`), 'Raad'],
  ['references', () => textOfHtml('&am'.repeat(MANY)), '&am'.repeat(MANY)],
  ['empty blocks', () => textOfHtml(`Raad${'<br> <li>'.repeat(MANY)}`), 'Raad'],
  ['dots of a number', () => bareNumber(`1${'.'.repeat(MANY)}x`), '1'],
])('%s without an end are parsed in one pass', (_name, read, want) => {
  expect(processorMs(() => expect(read()).toBe(want))).toBeLessThan(1000);
});

it.each([
  ['with more elements than fit in memory', `<a>${'<b/>'.repeat(1_000_000)}</a>`, /more than 300000 elements/],
  ['with deeply nested elements', '<a>'.repeat(1_000_000), /nested deeper than 50/],
  [
    'of attributes',
    `<a ${Array.from({ length: 100_000 }, (_, n) => `b${n}=""`).join(' ')}/>`,
    /more than 100 attributes/,
  ],
])('XML %s is not read', async (_what, text, message) => {
  const grown = process.memoryUsage().heapUsed;
  await expect(readXml(text)).rejects.toThrow(message);
  expect(process.memoryUsage().heapUsed - grown).toBeLessThan(150_000_000);
});

it('XML with very many elements is parsed without delaying anything else', async () => {
  let turns = 0;
  let isOn = true;
  const count = (): void => {
    turns += 1;
    if (isOn) setImmediate(count);
  };
  setImmediate(count);
  const { children } = await readXml(`<a>${'<b>é</b>'.repeat(299_999)}</a>`);
  isOn = false;
  expect(children).toHaveLength(299_999);
  expect(children.at(-1)).toMatchObject({ name: 'b', text: 'é' });
  // It took a second or so in total: other work had its turn again and again.
  expect(turns).toBeGreaterThan(10);
});

it('a document in very many items is merged in one pass', () => {
  const organisatie = { gemeente: 'gm0001', naam: 'Een' };
  const data = { bronidentificatie: 'd', dossiertype: 'informatieobject', organisatie } as const;
  const read = { bronidentificatie: 'd', version: 0, data };
  const items = Array.from({ length: 40_000 }, (_, n) => `a-${n}`);
  const attached = items.map((item) => ({ read, attachment: { vergaderingen: ['v'], agendapunten: [item] } }));
  let parts: unknown;
  const took = processorMs(() => {
    parts = partsOf(attached);
  });
  expect(took).toBeLessThan(2000);
  expect(parts).toEqual([
    { resourceType: 'Informatieobject', bronidentificatie: 'd', vergaderingen: ['v'], agendapunten: items },
  ]);
});
