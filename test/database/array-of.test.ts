import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Pool } from '../../src/database/pool.ts';
import { type ArrayKind, arrayOf } from '../../src/database/transaction.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { openPool } from './support.ts';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createDatabase({ empty: true });
  pool = openPool(database.url);
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

it.each([
  ['nothing', []],
  ['one text', ['een']],
  ['empty texts and nulls', ['', null, 'drie', null, '']],
  ['what the text form would have to escape', ['"', '\\', '{a,b}', 'null', 'NULL', ' ', '\n', "'", '{"a":"b\\"c"}']],
  ['texts of several bytes a letter', ['€', '𝄞', 'ë\u0301', '\u{10ffff}']],
])('takes %s to the database as it is', async (_, texts) => {
  const { rows } = await pool.query('select $1::text[] as texts, cardinality($1::text[]) as count', [
    arrayOf.text(texts),
  ]);
  expect(rows).toStrictEqual([{ texts, count: texts.length }]);
});

/** Values as they are given, and as the database shows them. */
const kinds: readonly (readonly [
  ArrayKind,
  readonly (string | number | boolean | null)[],
  readonly (string | null)[],
])[] = [
  ['integer', [1, -2, null, 2147483647, -2147483648], ['1', '-2', null, '2147483647', '-2147483648']],
  ['boolean', [true, null, false], ['true', null, 'false']],
  ['json', ['{"a": "é\\n"}', null, '[]'], ['{"a": "é\\n"}', null, '[]']],
  [
    'uuid',
    ['48086bf2-11b7-4603-9526-67d7c3bb6587', null, 'FFFFFFFF-0000-ABCD-EF99-AaBbCcDdEeFf'],
    ['48086bf2-11b7-4603-9526-67d7c3bb6587', null, 'ffffffff-0000-abcd-ef99-aabbccddeeff'],
  ],
  [
    'timestamptz',
    ['2026-11-21T10:00:00.123Z', null, '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z', '1999-12-31T23:59:59.999Z'],
    [
      '2026-11-21 10:00:00.123+00',
      null,
      '0001-01-01 00:00:00+00',
      '9999-12-31 23:59:59.999+00',
      '1999-12-31 23:59:59.999+00',
    ],
  ],
];

it.each(kinds)('takes values of the kind %s to the database as they are', async (kind, values, shown) => {
  const client = await pool.connect();
  try {
    await client.query("set time zone 'UTC'");
    const { rows } = await client.query(`select array(select n::text from unnest($1::${kind}[]) n) as shown`, [
      arrayOf[kind](values),
    ]);
    expect(rows).toStrictEqual([{ shown }]);
  } finally {
    client.release(true);
  }
});

it.each<readonly [ArrayKind, string | number]>([
  ['uuid', '48086bf2-11b7-4603-9526-67d7c3bb658'],
  ['uuid', '48086bf2-11b7-4603-9526-67d7c3bb65870'],
  ['uuid', '48086bf2-11b7-4603-9526-67d7c3bb658g'],
  ['uuid', '48086bf2-11b7-4603-9526-67d7c3bb658é'],
  ['uuid', '48086bf2x11b7-4603-9526-67d7c3bb6587'],
  ['uuid', '48086bf211b74603952667d7c3bb6587'],
  ['uuid', '@8086bf2-11b7-4603-9526-67d7c3bb6587'],
  ['integer', 2147483648],
  ['integer', 1.5],
  ['integer', 'een'],
  ['timestamptz', 'gisteren'],
])('refuses as %s what is none: %s', (kind, value) => {
  expect(() => arrayOf[kind]([value])).toThrow(kind === 'uuid' ? TypeError : RangeError);
});
