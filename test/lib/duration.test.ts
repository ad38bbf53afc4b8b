import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addDuration, isDuration, isTerm, longerDuration, shorterDuration } from '../../src/lib/time.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client(database.url);
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await database?.drop();
});

const MOMENTS = [
  '0001-01-01T00:00:00Z',
  '1999-12-31T23:59:59.999Z',
  '2024-01-31T12:00:00Z',
  '2024-02-29T00:00:00Z',
  '2026-03-29T00:30:00Z',
  '2026-10-25T00:30:00Z',
  '9999-12-31T23:59:59Z',
];
const DURATIONS = [
  'PT1S',
  'P1D',
  'P2W',
  'P1M',
  'P13M',
  'P1Y',
  'P4Y',
  'P100Y',
  'P1Y2M10DT2H30M',
  'PT36H',
  'P1000Y',
  'P31D',
  'P0D',
];

it('is added as the database adds it, whatever the month and the year', async () => {
  const pairs = MOMENTS.flatMap((moment) => DURATIONS.map((duration) => ({ moment, duration })));
  const { rows } = await client.query(
    `select extract(epoch from verwerkingenlog.expires_at(m, d)) * 1000 as at
     from unnest($1::timestamptz[], $2::text[]) with ordinality as p(m, d, nr) order by nr`,
    [pairs.map(({ moment }) => moment), pairs.map(({ duration }) => duration)],
  );
  expect(pairs.map(({ moment, duration }) => addDuration(new Date(moment), duration).getTime())).toEqual(
    rows.map(({ at }) => Number(at)),
  );
});

it('means the same in the register as elsewhere', async () => {
  const texts = [
    ...DURATIONS,
    'P',
    'PT',
    'P1YT',
    '5 jaar',
    '',
    'p1y',
    'P\u0663Y',
    'P\uff11Y',
    '\u00b9',
    ' P1Y',
    'P1Y\n',
    'P100000Y',
    'P0.5Y',
    'P1W1D',
    'P0DT0S',
    '-P1D',
  ];
  const { rows } = await client.query(
    `select verwerkingenlog.term_in(t) is not null as is from unnest($1::text[]) with ordinality as p(t, nr) order by nr`,
    [texts],
  );
  expect(texts.filter((_, i) => rows[i].is)).toEqual(texts.filter((text) => isDuration(text) && /[1-9]/.test(text)));
});

describe('two durations', () => {
  it.each([
    ['2026-02-01T00:00:00Z', 'P1M', 'P29D', 'P29D'],
    ['2026-03-01T00:00:00Z', 'P1M', 'P29D', 'P1M'],
    ['2026-11-22T00:00:00Z', 'P10Y', 'P3653D', 'P10Y'],
    ['2026-11-22T00:00:00Z', 'P10Y', 'P3654D', 'P3654D'],
  ])('are compared from a given time: from %s, of %s and %s the longer is %s', (moment, first, second, longer) => {
    const at = new Date(moment);
    expect(longerDuration(at, first, second)).toBe(longer);
    expect(shorterDuration(at, first, second)).toBe(longer === first ? second : first);
  });
});

it.each([
  ['P1000Y', true],
  ['P12000M', true],
  ['P52177W', true],
  ['P52178W', false],
  ['P12001M', false],
  ['P1000YT1S', false],
  ['P0Y', false],
  ['PT0S', false],
  ['1 jaar', false],
])('%s is a term: %s', (text, is) => {
  expect(isTerm(text)).toBe(is);
});
