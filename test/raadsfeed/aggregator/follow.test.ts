import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isRecord } from '../../../src/lib/json/json-value.ts';
import { agendapunt, document, type FeedServer, readRecords, removal, startFeed, vergadering } from '../support.ts';
import { FakeSource } from './fake-source.ts';
import { eventually, expectMerged, follow, SOURCE_ENV, sourceState, startAggregator } from './support.ts';

let source: FeedServer;
let aggregator: FeedServer;

beforeEach(async () => {
  [source, aggregator] = await Promise.all([startFeed(SOURCE_ENV), startAggregator()]);
});

afterEach(async () => {
  await Promise.all([source.stop(), aggregator.stop()]);
});

describe('following a feed', () => {
  it('starts with the snapshot, continues with the feed, and gives the origin of each record', async () => {
    await source.publish([vergadering('v-1'), document('d-1')]);
    await source.publish([vergadering('v-1', { naam: 'Anders' })]);
    await follow(aggregator.pool, source.mount);
    await expectMerged(aggregator, [source]);
    await source.publish([agendapunt('a-1'), removal('delete', 'Informatieobject', 'd-1')]);
    await expectMerged(aggregator, [source]);

    const theirs = new Map((await readRecords(source.api)).map((record) => [record.sequenceNumber, record]));
    const ours = await readRecords(aggregator.api);
    // The snapshot has the current state: the first version of v-1 was never seen.
    expect(ours.map(({ sequenceNumber, op, resource }) => [sequenceNumber, op, resource.bronidentificatie])).toEqual([
      [1, 'upsert', 'd-1'],
      [2, 'upsert', 'v-1'],
      [3, 'upsert', 'a-1'],
      [4, 'delete', 'd-1'],
    ]);
    for (const record of ours) {
      expect(record.herkomst?.feedUrl).toBe(`${source.mount}/feed`);
      const origin = theirs.get(record.herkomst?.sequenceNumber ?? 0);
      const passed = ['resource', 'data', 'contentHash', 'gewijzigdOp', 'verwijderreden'] as const;
      for (const member of passed) expect(record[member]).toEqual(origin?.[member]);
      expect(record).not.toHaveProperty('aggregatorId');
    }
  });

  it('shows role, origin and how current each organisation is in the service document', async () => {
    await source.publish([vergadering('v-1')]);
    await follow(aggregator.pool, source.mount);
    await expectMerged(aggregator, [source]);
    await eventually(async () => {
      const { json } = await aggregator.api.call('GET', '/');
      expect(json).toMatchObject({
        rol: 'aggregator',
        organisaties: [
          {
            organisatiecode: 'gm9901',
            naam: 'Gemeente Voorbeeldstad',
            herkomst: `${source.mount}/feed`,
            herkomstSoort: 'feed',
            laatstBijgewerkt: expect.stringMatching(/^20/),
          },
        ],
      });
    });
    const before = await currentSince();
    await eventually(async () => expect((await currentSince()) > before).toBe(true));
  });

  it('of an aggregator gives no organisation a later laatstBijgewerkt than that one does', async () => {
    const fake = await new FakeSource('gm0002').listen();
    const tell = async (laatstBijgewerkt: string | null): Promise<void> => {
      fake.organisaties = [{ organisatiecode: 'gm0002', naam: 'Gemeente Twee', laatstBijgewerkt }];
      await aggregator.pool.query('update aggregator.sources set document_read_at = null');
    };
    const shown = async (): Promise<Record<string, unknown>> => {
      const { json } = await aggregator.api.call('GET', '/');
      const [found] = isRecord(json) && Array.isArray(json.organisaties) ? json.organisaties : [];
      return Object(found);
    };
    try {
      fake.rol = 'aggregator';
      fake.document('d-1');
      await tell(null);
      await follow(aggregator.pool, fake.url);
      await eventually(async () => {
        expect((await sourceState(aggregator.pool, fake.url)).bijgewerkt).not.toBeNull();
        expect(await shown()).toMatchObject({ herkomst: `${fake.url}/feed`, herkomstSoort: 'feed' });
      });
      expect((await shown()).laatstBijgewerkt ?? null).toBeNull();
      await tell('2026-01-05T13:00:00+01:00');
      await eventually(async () => expect((await shown()).laatstBijgewerkt).toBe('2026-01-05T12:00:00.000Z'));
      await tell('2026-01-06T12:00:00Z');
      await eventually(async () => expect((await shown()).laatstBijgewerkt).toBe('2026-01-06T12:00:00.000Z'));
      // Neither earlier, nor later than the time at which the source was read.
      await tell('2026-01-01T12:00:00Z');
      await tell('2999-01-01T00:00:00Z');
      await eventually(async () =>
        expect(String((await shown()).laatstBijgewerkt) > '2026-01-06T12:00:00.000Z').toBe(true),
      );
      expect(Date.parse(String((await shown()).laatstBijgewerkt))).toBeLessThanOrEqual(Date.now());
    } finally {
      await fake.close();
    }
  });

  it('shows the lag of each source in the metrics', async () => {
    await source.publish([vergadering('v-1')]);
    await follow(aggregator.pool, source.mount);
    await expectMerged(aggregator, [source]);
    await eventually(async () => {
      const text = await (await fetch(`${aggregator.server.managementUrl}/metrics`)).text();
      expect(text).toContain(`koppelvlak_aggregator_behind_records{source="${source.mount}"} 0`);
      expect(text).toMatch(/koppelvlak_aggregator_lag_seconds\{source="[^"]+"\} \d/);
      expect(text).toContain(`koppelvlak_aggregator_issues{source="${source.mount}"} 0`);
    });
  });

  it('changes no laatstBijgewerkt and publishes nothing while the source is unavailable', async () => {
    await source.publish([vergadering('v-1')]);
    await follow(aggregator.pool, source.mount);
    await expectMerged(aggregator, [source]);
    await source.server.stop();
    await eventually(async () => {
      expect(await sourceState(aggregator.pool, source.mount)).toMatchObject({ foutSoort: 'unreachable' });
    });
    const stood = await currentSince();
    await eventually(async () => {
      expect((await sourceState(aggregator.pool, source.mount)).mislukt).toBeGreaterThan(3);
    });
    expect(await currentSince()).toBe(stood);
    expect(await readRecords(aggregator.api)).toHaveLength(1);
  });

  it('pauses at once, and continues where it stopped', async () => {
    const { findSource, setPaused } = await import('../../../src/raadsfeed/aggregator/store/sources.ts');
    await source.publish([vergadering('v-1')]);
    await follow(aggregator.pool, source.mount);
    await expectMerged(aggregator, [source]);
    const { id } = (await findSource(aggregator.pool, source.mount)) ?? { id: 0 };
    await setPaused(aggregator.pool, id, true);
    await source.publish([vergadering('v-2')]);
    expect(await readRecords(aggregator.api)).toHaveLength(1);
    await setPaused(aggregator.pool, id, false);
    await eventually(async () => expect(await readRecords(aggregator.api)).toHaveLength(2));
  });

  it('shares sources among instances: no record is published twice', async () => {
    const more = await Promise.all([aggregator.another(), aggregator.another()]);
    expect(more).toHaveLength(2);
    await follow(aggregator.pool, source.mount);
    for (let round = 0; round < 10; round += 1) {
      await source.publish(Array.from({ length: 20 }, (_, i) => document(`d-${i}`, { titel: `Ronde ${round}` })));
    }
    await expectMerged(aggregator, [source]);
    const origins = (await readRecords(aggregator.api)).map(({ herkomst }) => herkomst?.sequenceNumber);
    expect(new Set(origins).size).toBe(origins.length);
  });
});

async function currentSince(): Promise<string> {
  const { json } = await aggregator.api.call('GET', '/');
  const [organisatie] = isRecord(json) && Array.isArray(json.organisaties) ? json.organisaties : [];
  return String(organisatie?.laatstBijgewerkt);
}
