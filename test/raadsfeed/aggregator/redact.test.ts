/** A redaction passes through two hops, and no record circulates. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { document, type FeedServer, readRecords, removal, startFeed, vergadering } from '../support.ts';
import { FakeSource } from './fake-source.ts';
import { eventually, expectMerged, follow, SOURCE_ENV, sourceState, startAggregator } from './support.ts';

let source: FeedServer;
let first: FeedServer;
let second: FeedServer;

beforeEach(async () => {
  [source, first, second] = await Promise.all([startFeed(SOURCE_ENV), startAggregator(), startAggregator()]);
});

afterEach(async () => {
  await Promise.all([source.stop(), first.stop(), second.stop()]);
});

const SECRET = 'Burgerservicenummer-van-Jansen';

/** Every way to read a feed. */
async function readEverything({ api }: FeedServer): Promise<string> {
  const texts = await Promise.all(
    ['/feed', '/snapshot', '/organisaties/gm9901/informatieobjecten', '/'].map(
      async (path) => (await api.call('GET', path)).text,
    ),
  );
  return texts.join('\n');
}

/** Every text in the database's table files. */
async function searchTables({ pool }: FeedServer): Promise<number> {
  const { rows } = await pool.query<{ found: number }>(
    `select (select count(*) from raadsfeed.texts where record_prefix like $1 or record_suffix like $1)
          + (select count(*) from aggregator.issues m where m::text like $1)
          + (select count(*) from aggregator.sources b where b::text like $1) as found`,
    [`%${SECRET}%`],
  );
  return rows[0]?.found ?? -1;
}

describe('a redaction', () => {
  it('passes through two hops, and removes the text everywhere', async () => {
    await follow(first.pool, source.mount);
    await follow(second.pool, first.mount);
    await source.publish([document('d-1', { titel: SECRET }), vergadering('v-1')]);
    await source.publish([document('d-1', { titel: `${SECRET} 2` })]);
    await eventually(async () => expect(await readEverything(second)).toContain(`${SECRET} 2`));

    await source.publish([removal('redact', 'Informatieobject', 'd-1')]);
    await eventually(async () => {
      for (const feed of [source, first, second]) {
        expect(await readEverything(feed)).not.toContain(SECRET);
        expect(await searchTables(feed)).toBe(0);
      }
    });
    for (const feed of [first, second]) {
      const records = await readRecords(feed.api);
      const last = records.at(-1);
      const places = records.filter(({ op, resource }) => op === 'redact' && resource.bronidentificatie === 'd-1');
      expect(last).toMatchObject({ op: 'redact', verwijderreden: 'persoonsgegevens', herkomst: {} });
      expect(last?.geredigeerdeSequenceNumbers).toEqual(
        places.slice(0, -1).map(({ sequenceNumber }) => sequenceNumber),
      );
      expect(records.map(({ sequenceNumber }) => sequenceNumber)).toEqual(records.map((_, i) => i + 1));
    }
    expect((await readRecords(second.api)).at(-1)?.herkomst?.feedUrl).toBe(`${first.mount}/feed`);
    await eventually(async () => {
      const { rows } = await second.pool.query('select count(*) as parts from raadsfeed.pending_rewrites');
      expect(rows).toEqual([{ parts: 0 }]);
    });
  });

  it('reaches the numbers that the source lists, also of another resource', async () => {
    const fake = await new FakeSource('gm9902').listen();
    try {
      fake.document('d-1', SECRET);
      fake.document('d-2', `${SECRET} ook`);
      fake.document('d-3', 'Blijft');
      await follow(first.pool, fake.url);
      await follow(second.pool, first.mount);
      await eventually(async () => expect(await readRecords(second.api)).toHaveLength(3));
      fake.remove('redact', 'd-1', { geredigeerdeSequenceNumbers: [1, 2] });
      await eventually(async () => {
        for (const feed of [first, second]) {
          expect(await searchTables(feed)).toBe(0);
          expect((await readRecords(feed.api)).map(({ op }) => op)).toEqual(['redact', 'redact', 'upsert', 'redact']);
        }
      });
    } finally {
      await fake.close();
    }
  });

  it('removes the state too: the same content is published again when the source does so', async () => {
    const fake = await new FakeSource('gm9902').listen();
    try {
      for (const id of ['d-1', 'd-2', 'd-3']) fake.document(id);
      await follow(first.pool, fake.url);
      await eventually(async () => expect(await readRecords(first.api)).toHaveLength(3));
      // All of it on one page.
      fake.remove('redact', 'd-1', { geredigeerdeSequenceNumbers: [1, 2] });
      fake.document('d-2');
      fake.document('d-3');
      await eventually(async () =>
        expect((await readRecords(first.api)).map(({ op, resource }) => [op, resource.bronidentificatie])).toEqual([
          ['redact', 'd-1'],
          ['redact', 'd-2'],
          ['upsert', 'd-3'],
          ['redact', 'd-1'],
          ['upsert', 'd-2'],
        ]),
      );
      await eventually(async () => expect((await sourceState(first.pool, fake.url)).behind).toBe(0));
      expect(await readRecords(first.api)).toHaveLength(5);
    } finally {
      await fake.close();
    }
  });

  it('is carried out even in an invalid form', async () => {
    const fake = await new FakeSource('gm9902').listen();
    try {
      fake.document('d-1', SECRET);
      await follow(first.pool, fake.url);
      await eventually(async () => expect(await readRecords(first.api)).toHaveLength(1));
      fake.remove('redact', 'd-1', { verwijderreden: 'avg', geredigeerdeSequenceNumbers: 'all' });
      await eventually(async () => expect(await searchTables(first)).toBe(0));
    } finally {
      await fake.close();
    }
  });
});

describe('a loop', () => {
  it('does not arise between aggregators that follow each other', async () => {
    // First: following a source while it names no organisation causes a separate fault.
    await source.publish([document('d-1'), vergadering('v-1')]);
    await follow(first.pool, source.mount);
    await follow(second.pool, first.mount);
    await follow(first.pool, second.mount);
    await expectMerged(second, [source]);
    await source.publish([document('d-1', { titel: 'Anders' }), removal('delete', 'Vergadering', 'v-1')]);
    await eventually(async () => expect(await readRecords(second.api)).toHaveLength(4));
    await eventually(async () =>
      expect(await sourceState(first.pool, second.mount)).toMatchObject({ bijgewerkt: expect.any(Date) }),
    );
    // That is a state and no failure: nothing of it is waited for.
    const metrics = await (await fetch(`${first.server.managementUrl}/metrics`)).text();
    expect(metrics).toContain(`koppelvlak_aggregator_failures{source="${second.mount}"} 0`);
    const { rows } = await first.pool.query('select kind from aggregator.issues where blocking');
    expect(rows).toEqual([]);
    expect(await readRecords(first.api)).toHaveLength(4);
  });

  it('is avoided: records of this feed are skipped, and it does not follow itself', async () => {
    const fake = await new FakeSource('gm9902').listen();
    try {
      fake.document('d-1').herkomst = { feedUrl: `${first.mount}/feed`, sequenceNumber: 1 };
      fake.document('d-2');
      await follow(first.pool, fake.url);
      await follow(first.pool, first.mount);
      await eventually(async () => expect(await readRecords(first.api)).toHaveLength(1));
      expect((await readRecords(first.api))[0]?.resource.bronidentificatie).toBe('d-2');
      await eventually(async () => expect((await sourceState(first.pool, first.mount)).foutSoort).toBe('own-feed'));
    } finally {
      await fake.close();
    }
  });
});
