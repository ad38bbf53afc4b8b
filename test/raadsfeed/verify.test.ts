/** `feed verify` against a feed with one fault made by hand. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { typeParsers } from '../../src/database/pool.ts';
import type { Db } from '../../src/database/transaction.ts';
import { systemClock } from '../../src/lib/time.ts';
import { verifyFeed } from '../../src/raadsfeed/verify/verify-feed.ts';
import { agendapunt, document, type FeedServer, removal, startFeed, vergadering } from './support.ts';

let feed: FeedServer;
let client: pg.Client;
beforeAll(async () => {
  feed = await startFeed();
  await feed.publish([
    vergadering('v-1'),
    agendapunt('a-1'),
    document('d-1', { omschrijving: 'eerst' }),
    document('d-1', { omschrijving: 'daarna' }),
    removal('delete', 'Agendapunt', 'a-1', { verwijderreden: 'overig', toelichting: 'Dubbel' }),
    vergadering('v-2'),
    removal('redact', 'Informatieobject', 'd-1'),
    vergadering('v-1', { locatie: 'Raadzaal' }),
    vergadering('v-3'),
  ]);
  client = new pg.Client({ connectionString: feed.databaseUrl, types: typeParsers });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await feed.stop();
});

const verified = () =>
  verifyFeed(client, { clock: systemClock, signal: new AbortController().signal, progress: () => undefined });

it('finds nothing wrong with it as published', async () => {
  expect(await verified()).toMatchObject({ head: 9, records: 9, resources: 3, faults: [], faultCount: 0 });
});

const texts = (number: number, change: string): string =>
  `update raadsfeed.texts set ${change} where sequence_number = ${number}`;
const removed = (resourceType: string, id: string, number: number, rest: string): string =>
  `jsonb_build_object('sequenceNumber', ${number}, 'resourceType', '${resourceType}', 'resource',
    jsonb_build_object('organisatiecode', 'gm9901', 'bronidentificatie', '${id}'),
    'storedAt', (record_prefix || case when record_suffix is null then '' else '"}' end)::jsonb -> 'storedAt', ${rest})::text, record_suffix = null`;

it.each<[string, string[], { sequenceNumber?: number; fault: string }]>([
  [
    'a number is missing',
    ['texts', 'records', 'current_records'].map((table) => `delete from raadsfeed.${table} where sequence_number = 6`),
    { fault: 'the numbers 6 to 6 are missing' },
  ],
  [
    'the text is gone',
    ['delete from raadsfeed.texts where sequence_number = 6'],
    { sequenceNumber: 6, fault: 'has no text' },
  ],
  ['the text is not JSON', [texts(6, `record_suffix = 'x'`)], { sequenceNumber: 6, fault: 'its text is not JSON' }],
  [
    'the same content is recorded again',
    [
      texts(
        8,
        `(record_prefix, record_suffix) = (select replace(record_prefix, '"sequenceNumber":1,', '"sequenceNumber":8,'), record_suffix from raadsfeed.texts where sequence_number = 1)`,
      ),
    ],
    { sequenceNumber: 8, fault: 'changes nothing, and yet is recorded' },
  ],
  [
    'a delete of a resource that was not there',
    [
      texts(6, `record_prefix = ${removed('Vergadering', 'v-2', 6, `'op', 'delete', 'verwijderreden', 'correctie'`)}`),
      `update raadsfeed.records set op = 'delete' where sequence_number = 6`,
      'delete from raadsfeed.current_records where sequence_number = 6',
    ],
    { sequenceNumber: 6, fault: 'deletes what was not there' },
  ],
  [
    'the data was changed',
    [texts(9, `record_suffix = replace(record_suffix, 'Vergadering v-3', 'Vergadering x-3')`)],
    { sequenceNumber: 9, fault: 'its contentHash is not that of its data' },
  ],
  [
    'a redacted place counts as an upsert',
    [`update raadsfeed.records set op = 'upsert' where sequence_number = 3`],
    { sequenceNumber: 7, fault: 'number 3 still holds redacted content' },
  ],
  [
    'a redacted place holds content',
    [texts(3, `record_suffix = '{}'`)],
    { sequenceNumber: 3, fault: 'its text is not JSON' },
  ],
  [
    'a redaction forgets a place',
    [texts(7, `record_prefix = replace(record_prefix, '[3,4]', '[4]')`)],
    { sequenceNumber: 3, fault: 'holds no content any more, and no redaction names it' },
  ],
  [
    'a redaction names a later number',
    [texts(7, `record_prefix = replace(record_prefix, '[3,4]', '[3,4,8]')`)],
    { sequenceNumber: 7, fault: 'a redaction that names a later number' },
  ],
  [
    'a redaction leaves content of its resource',
    [
      texts(
        7,
        `record_prefix = ${removed('Vergadering', 'v-2', 7, `'op', 'redact', 'verwijderreden', 'correctie', 'geredigeerdeSequenceNumbers', '[3,4]'::jsonb`)}`,
      ),
      `update raadsfeed.records set resource_type = 'Vergadering', bronidentificatie = 'v-2' where sequence_number = 7`,
    ],
    { sequenceNumber: 7, fault: 'number 6 still holds content of what was redacted' },
  ],
  [
    'the time goes back',
    [`update raadsfeed.records set stored_at = stored_at - interval '1 day' where sequence_number = 8`],
    { sequenceNumber: 8, fault: 'was stored before the one in front of it' },
  ],
  ['the head is too low', ['update raadsfeed.feed set head = 8'], { fault: '3 rows are beyond the head' }],
  ['the head is too high', ['update raadsfeed.feed set head = 10'], { fault: 'the numbers 10 to 10 are missing' }],
  [
    'current state is missing',
    ['delete from raadsfeed.current_records where sequence_number = 6'],
    { sequenceNumber: 6, fault: 'is the last of its resource, but not in the current state' },
  ],
  [
    'current state is of another resource',
    [`update raadsfeed.current_records set bronidentificatie = 'x' where sequence_number = 6`],
    { sequenceNumber: 6, fault: 'the state names another resource here' },
  ],
  [
    'current state has another hash',
    [`update raadsfeed.current_records set content_hash = 'sha256:0' where sequence_number = 6`],
    { sequenceNumber: 6, fault: 'the state has another hash' },
  ],
  [
    'a removed resource is in the current state',
    [`insert into raadsfeed.current_records values ('gm9901', 'Agendapunt', 'a-1', 5, 'sha256:0')`],
    { sequenceNumber: 5, fault: 'the state names a record that is not an upsert' },
  ],
  [
    'a file was not rewritten',
    ['insert into raadsfeed.pending_rewrites (first_number) values (0)'],
    { fault: '1 partitions may still hold what was removed; run feed redact or restart the service' },
  ],
])('reports that %s', async (_what, statements, fault) => {
  await client.query('begin');
  try {
    for (const statement of statements) await client.query(statement);
    expect((await verified()).faults).toContainEqual(fault);
  } finally {
    await client.query('rollback');
  }
});

it('does not report a redaction that is published while it runs', async () => {
  const other = await startFeed();
  const lines = Array.from({ length: 1500 }, (_, i) => document(`d-${i}`));
  await other.publish(lines.slice(0, 1000));
  await other.publish(lines.slice(1000));
  const changes = [removal('redact', 'Informatieobject', 'd-1400'), removal('delete', 'Informatieobject', 'd-3')];
  const db: Db = {
    async query<R extends pg.QueryResultRow>(query: string | pg.QueryConfig<unknown[]>, values?: unknown[]) {
      const found = await other.pool.query<R>(query, values);
      if (JSON.stringify(query).includes('raadsfeed-verify')) await other.publish(changes.splice(0));
      return found;
    },
  };
  const result = await verifyFeed(db, {
    clock: systemClock,
    signal: new AbortController().signal,
    progress: () => undefined,
  });
  expect(result.faults).toEqual([]);
  await other.stop();
});
