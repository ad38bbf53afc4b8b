/** A source that loses its own history, and overlapping sources. */
import { beforeEach, describe, expect, it } from 'vitest';
import { findSource, requestComparison } from '../../../src/raadsfeed/aggregator/store/sources.ts';
import { FakeSource } from './fake-source.ts';
import { aggregator, followedSource, published, source } from './followed-source.ts';
import { eventually, follow, rereadDocument, sourceState, stateOf, unfollow } from './support.ts';

followedSource((source) => {
  for (let i = 1; i <= 20; i += 1) source.document(`d-${i}`);
});
beforeEach(async () => expect(await published()).toHaveLength(20));

/** The source restarts with only these documents, and refuses every earlier cursor. */
function forget(ids: readonly number[]): void {
  source.records = [];
  source.history += 1;
  for (const id of ids) source.document(`d-${id}`);
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe('a source that no longer accepts its cursor', () => {
  it('is compared by a new snapshot: missing resources are deleted, equal ones are not repeated', async () => {
    forget(range(2, 21));
    await eventually(async () => expect((await published()).length).toBeGreaterThan(22));
    const records = (await published()).slice(20);
    expect(records.map(({ op, resource }) => [op, resource.bronidentificatie])).toEqual([
      ['upsert', 'd-21'],
      ['delete', 'd-1'],
      // The new history says nothing about it: it may have been redacted.
      ['redact', 'd-1'],
    ]);
    expect(records[2]).toMatchObject({ verwijderreden: 'niet_langer_openbaar', toelichting: expect.any(String) });
    expect(records[1]).toMatchObject({ verwijderreden: 'overig', toelichting: expect.stringContaining(source.url) });
  });

  it('lets an organisation of fewer than ten resources lose one', async () => {
    for (let i = 6; i <= 20; i += 1) source.remove('delete', `d-${i}`);
    await eventually(async () => expect(await published()).toHaveLength(35));
    forget(range(1, 4));
    await eventually(async () =>
      expect((await published()).slice(35)).toMatchObject([
        { op: 'delete', resource: { bronidentificatie: 'd-5' } },
        {},
      ]),
    );
  });

  it("deletes no more than a tenth without an operator's consent, and reports the rest", async () => {
    forget(range(1, 17));
    await eventually(async () => {
      expect(await sourceState(aggregator.pool, source.url)).toMatchObject({ achtergehouden: 3, fase: 'feed' });
    });
    const { rows } = await aggregator.pool.query(
      `select detail from aggregator.issues where kind = 'mass-delete-withheld'`,
    );
    expect(rows).toMatchObject([{ detail: expect.stringContaining(`bron sync ${source.url} --allow-mass-delete`) }]);
    expect(await published()).toHaveLength(20);
    // The feed continues meanwhile.
    source.document('d-30');
    await eventually(async () => expect(await published()).toHaveLength(21));

    const found = await findSource(aggregator.pool, source.url);
    await requestComparison(aggregator.pool, found?.id ?? 0);
    await eventually(async () => expect(await published()).toHaveLength(27));
    expect([...stateOf(await published()).keys()].length).toBe(18);
    await eventually(async () => {
      expect(await sourceState(aggregator.pool, source.url)).toMatchObject({ achtergehouden: 0, meldingen: 0 });
    });
  });

  it('deletes nothing when its snapshot is empty', async () => {
    forget([]);
    await eventually(async () => expect((await sourceState(aggregator.pool, source.url)).achtergehouden).toBe(20));
    expect(await published()).toHaveLength(20);
  });

  it('does not treat changes during the reading of its snapshot as missing', async () => {
    forget(range(1, 20));
    // As in our own feed: a change during a snapshot gets a later number, and is in the feed only.
    let snapshots = 0;
    source.rule = ({ path, page, json }) => {
      if (path !== '/snapshot') return false;
      snapshots += 1;
      const answer = page();
      if (snapshots === 1) {
        const records = Array.isArray(answer.records) ? answer.records.slice(1) : [];
        json({ ...answer, records });
        source.document('d-1', 'Veranderd');
      } else json(answer);
      return true;
    };
    await eventually(async () => expect(await published()).toHaveLength(21));
    await eventually(async () => expect((await sourceState(aggregator.pool, source.url)).behind).toBe(0));
    expect((await published()).filter(({ op }) => op === 'delete')).toEqual([]);
  });

  it('is read again from its snapshot when its numbers stay wrong', async () => {
    source.document('d-21').sequenceNumber = 30;
    await eventually(async () => expect(await published()).toHaveLength(21));
    expect((await published()).at(-1)).toMatchObject({ op: 'upsert', herkomst: { sequenceNumber: 30 } });
  });
});

describe('one organisation has one source', () => {
  it('ignores a second source that offers it too, and reports that', async () => {
    const second = await new FakeSource('gm9000').listen();
    try {
      second.organisaties.push({ organisatiecode: source.organisatiecode, naam: 'Andere naam' });
      second.document('e-1');
      second.add({ op: 'delete', verwijderreden: 'ingetrokken' }, 'd-1').resource.organisatiecode =
        source.organisatiecode;
      await follow(aggregator.pool, second.url);
      await eventually(async () => expect((await sourceState(aggregator.pool, second.url)).behind).toBe(0));
      expect(await published()).toHaveLength(20);
      const { rows } = await aggregator.pool.query(
        "select place, detail from aggregator.issues where source_id = (select id from aggregator.sources where address = $1) and kind = 'organisation-elsewhere'",
        [second.url],
      );
      expect(rows).toEqual([{ place: source.organisatiecode, detail: expect.stringContaining(source.url) }]);
    } finally {
      await unfollow(aggregator.pool, second.url);
      await second.close();
    }
  });

  it('is switched to another source without repeating a record', async () => {
    const second = await new FakeSource(source.organisatiecode).listen();
    try {
      for (let i = 1; i <= 20; i += 1) second.document(`d-${i}`);
      await unfollow(aggregator.pool, source.url);
      await follow(aggregator.pool, second.url);
      second.document('d-21');
      await eventually(async () => expect(await published()).toHaveLength(21));
      const { json } = await aggregator.api.call('GET', '/');
      expect(json).toMatchObject({
        organisaties: expect.arrayContaining([
          expect.objectContaining({ organisatiecode: source.organisatiecode, herkomst: `${second.url}/feed` }),
        ]),
      });
    } finally {
      await unfollow(aggregator.pool, second.url);
      await second.close();
    }
  });

  it('publishes nothing of an organisation that the source does not list, and finds it when it does', async () => {
    const { organisaties } = source;
    source.organisaties = [{ organisatiecode: 'gm8000', naam: 'Andere' }];
    await rereadDocument(aggregator.pool, source.url);
    await eventually(async () => {
      const { rows } = await aggregator.pool.query(
        'select is_present from aggregator.source_organisations where organisatiecode = $1',
        [source.organisatiecode],
      );
      expect(rows).toEqual([{ is_present: false }]);
    });
    source.document('d-21');
    source.remove('delete', 'd-1');
    await eventually(async () => expect((await sourceState(aggregator.pool, source.url)).behind).toBe(0));
    expect(await published()).toHaveLength(20);

    source.organisaties = organisaties;
    await rereadDocument(aggregator.pool, source.url);
    await eventually(async () => expect(await published()).toHaveLength(22));
    expect((await published()).slice(20).map(({ op }) => op)).toEqual(['upsert', 'delete']);
  });
});
