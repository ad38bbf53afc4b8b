import { afterAll, beforeAll, expect, it } from 'vitest';
import { arrayLiteral } from '../../../src/kernel/database/array-literal.ts';
import { createPool, type Pool } from '../../../src/kernel/database/pool.ts';
import { textArray } from '../../../src/kernel/database/text-array.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { quiet } from './support.ts';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createDatabase({ empty: true });
  pool = createPool({
    url: database.url,
    size: 1,
    connectTimeoutMs: 20_000,
    statementTimeoutMs: 20_000,
    pooler: 'none',
    applicationName: 'koppelvlak test',
    log: quiet,
  });
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
  for (const parameter of [textArray(texts), arrayLiteral(texts)]) {
    const { rows } = await pool.query('select $1::text[] as texts, cardinality($1::text[]) as count', [parameter]);
    expect(rows).toStrictEqual([{ texts, count: texts.length }]);
  }
});

it('takes numbers and truths to the database as they are', async () => {
  const { rows } = await pool.query('select $1::integer[] as numbers, $2::boolean[] as truths', [
    arrayLiteral([1, -2, null]),
    arrayLiteral([true, null, false]),
  ]);
  expect(rows).toStrictEqual([{ numbers: [1, -2, null], truths: [true, null, false] }]);
});
