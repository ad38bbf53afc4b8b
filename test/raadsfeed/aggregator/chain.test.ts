/**
 * Two chained aggregators behind one source, while the source publishes and redacts and the aggregators restart their snapshots: in the end
 * no aggregator keeps content that the source does not have.
 */
import { expect, it } from 'vitest';
import { document, type FeedServer, readRecords, removal, startFeed } from '../support.ts';
import { eventually, follow, SOURCE_ENV, startAggregator } from './support.ts';

const ROUNDS = 30;

/** The contents of a feed, including its history. */
async function contents(feed: FeedServer): Promise<Set<string>> {
  const { rows } = await feed.pool.query<{ titel: string }>(
    `select distinct substring(record_suffix from '"titel":"([^"]*)"') as titel from raadsfeed.texts where record_suffix is not null`,
  );
  return new Set(rows.map(({ titel }) => titel));
}

/** A small random generator, so that a run can be repeated. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
}

it('keeps no content that the source has redacted, whatever snapshot is read in between', async () => {
  const [source, first, second] = await Promise.all([startFeed(SOURCE_ENV), startAggregator(), startAggregator()]);
  const pick = random(20260115);
  try {
    await source.publish(Array.from({ length: 30 }, (_, i) => document(`d-${i}`, { titel: `begin ${i}` })));
    await follow(first.pool, source.mount);
    await follow(second.pool, first.mount);
    await eventually(async () => expect((await contents(second)).size).toBe(30));
    for (let round = 0; round < ROUNDS; round += 1) {
      const id = `d-${pick(30)}`;
      await source.publish([
        document(id, { titel: `ronde ${round}` }),
        document(`d-${pick(30)}`, { titel: `ook ${round}` }),
      ]);
      if (pick(2) === 0) await source.publish([removal('redact', 'Informatieobject', id)]);
      // As when an organisation is added, or an operator requests a comparison: the feed position is dropped.
      const again = 'update aggregator.sources set compare_again_at = now(), next_at = now()';
      if (pick(3) === 0) await (pick(2) === 0 ? first : second).pool.query(again);
    }
    await eventually(async () => {
      const want = await contents(source);
      for (const feed of [first, second]) {
        const more = [...(await contents(feed))].filter((titel) => !want.has(titel));
        expect(more).toEqual([]);
      }
      const states = await Promise.all([source, first, second].map(currentState));
      expect(states[1]).toEqual(states[0]);
      expect(states[2]).toEqual(states[0]);
    });
  } finally {
    await Promise.all([source.stop(), first.stop(), second.stop()]);
  }
});

async function currentState({ api }: FeedServer): Promise<string[]> {
  const records = await readRecords(api);
  const state = new Map<string, string>();
  for (const { op, resource, contentHash } of records) {
    if (op === 'upsert') state.set(resource.bronidentificatie, contentHash ?? '');
    else state.delete(resource.bronidentificatie);
  }
  return [...state].map(([id, hash]) => `${id} ${hash}`).toSorted();
}
