/** JSON that cannot be rewritten as it was read: too deep for the stack, or with a number that becomes null. */
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import type { FakeRecord } from './fake-source.ts';
import { aggregator, followedSource, published, source } from './followed-source.ts';
import { eventually, sourceState } from './support.ts';

followedSource((source) => {
  source.document('d-1', 'Geheim');
});

const PLACEHOLDER = 'HERE';
/** Answers pages with a placeholder replaced by JSON that `JSON.stringify` would not write. */
function put(text: string): void {
  source.rule = ({ path, page, response }) => {
    if (path === '/') return false;
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(page()).replaceAll(`"${PLACEHOLDER}"`, text));
    return true;
  };
}

const inData = (): FakeRecord => {
  const record = source.document('d-2');
  Object.assign(Object(record.data), { extra: PLACEHOLDER });
  return Object.assign(record, { contentHash: undefined });
};
const inRecord = (): FakeRecord => Object.assign(source.document('d-2'), { extra: PLACEHOLDER });

const LISTS = '['.repeat(20_000) + ']'.repeat(20_000);
const OBJECTS = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;

describe('an unwritable record is refused individually, and a redaction beside it is carried out', () => {
  it.each<[string, string, () => FakeRecord, RegExp]>([
    ['lists nested deep in data', LISTS, inData, /nested too deeply/],
    ['objects nested deep in data', OBJECTS, inData, /nested too deeply/],
    ['objects nested deep in the record', OBJECTS, inRecord, /nested too deeply/],
    ['an infinite number in data', '{"n":[1e400]}', inData, /number/],
    ['an infinite number in the record', '-1e999', inRecord, /number/],
    ['too much in the record', JSON.stringify('x'.repeat(66_000)), inRecord, /65536 bytes/],
  ])('%s', async (_name, text, add, why) => {
    put(text);
    add();
    source.remove('redact', 'd-1', { geredigeerdeSequenceNumbers: [1] });
    source.document('d-3');
    await eventually(async () =>
      expect((await published()).map(({ op }) => op)).toEqual(['redact', 'redact', 'upsert']),
    );
    await eventually(async () =>
      expect(await sourceState(aggregator.pool, source.url)).toMatchObject({ behind: 0, mislukt: 0, openGeweigerd: 1 }),
    );
    const { rows } = await aggregator.pool.query<{ detail: string }>(
      `select detail from aggregator.issues where kind = 'record-refused' and place = $1`,
      [`${source.url}/feed#2`],
    );
    expect(rows).toEqual([{ detail: expect.stringMatching(why) }]);
  });
});

it.each([
  ['20 000 levels', OBJECTS],
  ['an infinite number', '1e400'],
  ['66 000 characters', JSON.stringify('x'.repeat(66_000))],
])('a redaction with %s in an additional member is carried out without that', async (_name, text) => {
  put(text);
  source.remove('redact', 'd-1', { geredigeerdeSequenceNumbers: [1], extra: PLACEHOLDER, besluit: 'B' });
  source.document('d-3');
  await eventually(async () => expect((await published()).map(({ op }) => op)).toEqual(['redact', 'redact', 'upsert']));
  expect((await published())[1]).not.toHaveProperty('extra');
});

it('a page that cannot be published does not delay its redactions', async () => {
  // The database refuses this one record, as it would any value that it cannot store.
  const owner = new pg.Client({ connectionString: aggregator.databaseUrl });
  await owner.connect();
  await owner.query(
    `create function raadsfeed.refuse() returns trigger language plpgsql as $$
     begin if new.bronidentificatie = 'poison' then raise exception 'refused'; end if; return new; end $$;
     create trigger refuse before insert on raadsfeed.records for each row execute function raadsfeed.refuse()`,
  );
  try {
    source.document('poison');
    source.remove('redact', 'd-1', { geredigeerdeSequenceNumbers: [1] });
    await eventually(async () => expect((await published()).map(({ op }) => op)).toEqual(['redact', 'redact']));
  } finally {
    await owner.query('drop trigger refuse on raadsfeed.records; drop function raadsfeed.refuse');
    await owner.end();
  }
});
