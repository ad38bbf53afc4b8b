/** Redactions published together: the reach of each of them, and how long they block others. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Db, transaction } from '../../src/database/transaction.ts';
import type { Change, Herkomst } from '../../src/raadsfeed/domain/change.ts';
import { type Outcome, publishBatch } from '../../src/raadsfeed/store/publish.ts';
import { rewritePartitions } from '../../src/raadsfeed/store/text-partitions.ts';
import { filesWith } from './database-files.ts';
import { asPage, changeOf, document, type FeedServer, readRecords, removal, startFeed } from './support.ts';

const SECRET = 'Persoonsgegeven-Van-Bakker';
const FEED_URL = 'https://bron.example/feed';

let feed: FeedServer;
beforeAll(async () => {
  feed = await startFeed();
});
afterAll(() => feed.stop());

const redaction = (id: string): object => removal('redact', 'Informatieobject', id);

/** Publishes without rewriting files; `statements`: how many ran while the feed's lock was held. */
async function publish(changes: readonly Change[]): Promise<{ outcomes: Outcome[]; statements: number }> {
  let statements = 0;
  const outcomes = await transaction(feed.pool, (client) => {
    const counted: Db = {
      query: (...words: Parameters<Db['query']>) => {
        statements += 1;
        return client.query(...words);
      },
    };
    return publishBatch(counted, changes, new Date());
  });
  return { outcomes, statements };
}

it('takes as many statements for many redactions as for one', async () => {
  await feed.publish(Array.from({ length: 101 }, (_, i) => document(`d-${i}`, { omschrijving: SECRET })));
  const one = await publish([changeOf(redaction('d-100'))]);
  const many = await publish(Array.from({ length: 100 }, (_, i) => changeOf(redaction(`d-${i}`))));
  expect(many.outcomes).toEqual(Array.from({ length: 100 }, (_, i) => ({ recorded: 103 + i, redacted: [i + 1] })));
  expect(many.statements).toBe(one.statements);
  await rewritePartitions(feed.pool);
  expect(await filesWith(feed.databaseUrl, SECRET)).toEqual([]);
});

it('follows the order of the lines: each redaction names what held content at that point', async () => {
  await feed.publish([document('a', { omschrijving: 'een' }), document('b', { omschrijving: 'een' })]);
  const outcomes = await feed.publish([
    document('a', { omschrijving: SECRET }),
    redaction('a'),
    redaction('a'),
    document('a', { omschrijving: SECRET }),
    removal('delete', 'Informatieobject', 'a'),
    removal('delete', 'Informatieobject', 'a'),
    document('b', { omschrijving: 'een' }),
    redaction('b'),
    redaction('a'),
    document('b', { omschrijving: 'een' }),
  ]);
  expect(outcomes).toEqual([
    { recorded: 205 },
    { recorded: 206, redacted: [203, 205] },
    'no-op',
    { recorded: 207 },
    { recorded: 208 },
    'no-op',
    'no-op',
    { recorded: 209, redacted: [204] },
    { recorded: 210, redacted: [207] },
    { recorded: 211 },
  ]);
  expect(await filesWith(feed.databaseUrl, SECRET)).toEqual([]);
  const records = (await readRecords(feed.api)).slice(202);
  expect(records.map(({ op }) => op).join(' ')).toBe('redact redact redact redact redact delete redact redact upsert');
  expect(records[2]).toMatchObject({ resource: { bronidentificatie: 'a' }, geredigeerdeSequenceNumbers: [205] });
  const { results } = asPage((await feed.api.call('GET', '/organisaties/gm9901/informatieobjecten')).json);
  expect(results.map((one) => Object(one).bronidentificatie)).toEqual(['b']);
});

it('reaches records from the numbers that a source names, in the feed and in the same batch, of its organisation only', async () => {
  const from = (sequenceNumber: number): Herkomst => ({ feedUrl: FEED_URL, sequenceNumber });
  const sourced = (id: string, number: number): Change => ({ ...changeOf(document(id)), herkomst: from(number) });
  const named = (id: string, number: number, numbers: readonly number[]): Change => {
    const change = changeOf(redaction(id));
    if (change.op === 'upsert') throw new Error('no redaction');
    return { ...change, herkomst: from(number), sourceNumbers: numbers };
  };
  const elsewhere = { organisatie: { gemeente: 'gm9902', naam: 'Gemeente Elders' } };
  const other: Change = { ...changeOf(document('ander', elsewhere)), herkomst: from(12) };
  expect((await publish([sourced('s-1', 10), sourced('s-2', 11), other])).outcomes).toHaveLength(3);
  const { outcomes } = await publish([
    sourced('s-3', 13),
    sourced('s-4', 14),
    // Names numbers of another organisation, and later ones.
    named('s-1', 15, [10, 12, 13, 16]),
    sourced('s-3', 16),
    named('s-2', 17, [11, 11, 14]),
  ]);
  expect(outcomes).toEqual([
    { recorded: 215 },
    { recorded: 216 },
    { recorded: 217, redacted: [212, 215] },
    { recorded: 218 },
    { recorded: 219, redacted: [213, 216] },
  ]);
  const current = async (code: string): Promise<unknown[]> =>
    asPage((await feed.api.call('GET', `/organisaties/${code}/informatieobjecten`)).json).results.map(
      (one) => Object(one).bronidentificatie,
    );
  await expect.poll(() => current('gm9901')).toEqual(['b', 's-3']);
  expect(await current('gm9902')).toEqual(['ander']);
});
