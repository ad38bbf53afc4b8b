/** No redaction of a source is lost: whatever else is wrong with its pages, and whatever the aggregator missed. */
import { beforeEach, describe, expect, it } from 'vitest';
import { findSource, setPaused } from '../../../src/raadsfeed/aggregator/store/sources.ts';
import { FakeSource, type Rule } from './fake-source.ts';
import { aggregator, followedSource, published, source } from './followed-source.ts';
import { eventually, follow, rereadDocument, sourceState, stateOf, unfollow } from './support.ts';

/** Different in each test, so that leftovers of one are not a fault of the next. */
let secret = '';

followedSource((source) => {
  secret = `Burgerservicenummer-van-Jansen-${source.organisatiecode}.`;
  source.document('d-1', secret);
  for (let i = 2; i <= 12; i += 1) source.document(`d-${i}`);
});
beforeEach(async () => expect(await published()).toHaveLength(12));

async function expectSecretGone(): Promise<void> {
  await eventually(async () => {
    const texts = [await aggregator.api.call('GET', '/feed?limit=1000'), await aggregator.api.call('GET', '/snapshot')];
    expect(texts.some(({ text }) => text.includes(secret))).toBe(false);
    const { rows } = await aggregator.pool.query(
      'select sequence_number from raadsfeed.texts where record_prefix like $1 or record_suffix like $1',
      [`%${secret}%`],
    );
    expect(rows).toEqual([]);
  });
}

async function pause(paused: boolean): Promise<void> {
  const found = await findSource(aggregator.pool, source.url);
  await setPaused(aggregator.pool, found?.id ?? 0, paused);
}

/** Like a source that takes redacted records out of its history: the numbers are absent, and the redaction names them. */
function redactAway(id: string): void {
  const numbers = source.records
    .filter(({ resource }) => resource.bronidentificatie === id)
    .map((r) => r.sequenceNumber);
  source.remove('redact', id, { geredigeerdeSequenceNumbers: numbers });
  source.records = source.records.filter(({ op, resource }) => op === 'redact' || resource.bronidentificatie !== id);
}

const onFeed = (change: (page: Record<string, unknown>, records: Record<string, unknown>[]) => object): Rule => {
  return ({ path, page, json }) => {
    const good = page();
    if (path !== '/feed' || !Array.isArray(good.records) || good.records.length === 0) return false;
    json({ ...good, ...change(good, good.records) });
    return true;
  };
};

describe('a redaction on an invalid page is carried out', () => {
  it.each<[string, Rule]>([
    [
      'with a gap that nothing names',
      onFeed((_, records) => ({ records: records.map((r, i) => ({ ...r, sequenceNumber: 40 + i })), head: 90 })),
    ],
    ['without a cursor', onFeed((page) => ({ ...page, cursor: undefined }))],
    ['without a head', onFeed((page) => ({ ...page, head: 'veel' }))],
    [
      'with numbers that go back',
      onFeed((_, records) => ({ records: records.map((r) => ({ ...r, sequenceNumber: 1 })) })),
    ],
    ['without numbers', onFeed((_, records) => ({ records: records.map(({ sequenceNumber: _n, ...r }) => r) }))],
    [
      'with another record that is invalid',
      onFeed((_, records) => ({ records: [...records, 'iets', { op: 'upsert' }] })),
    ],
    ['of an unknown type', onFeed((_, records) => ({ records: records.map((r) => ({ ...r, resourceType: 'Stuk' })) }))],
    ['without a resource', onFeed((_, records) => ({ records: records.map(({ resource: _r, ...r }) => r) }))],
    [
      'without a time or reason',
      onFeed((_, records) => ({ records: records.map(({ storedAt: _t, verwijderreden: _v, ...r }) => r) })),
    ],
    [
      'with a code in upper case',
      onFeed((_, records) => ({
        records: records.map((r) => ({
          ...r,
          resource: { organisatiecode: source.organisatiecode.toUpperCase(), bronidentificatie: 'd-1' },
        })),
      })),
    ],
  ])('%s', async (_name, rule) => {
    source.rule = rule;
    source.remove('redact', 'd-1', { geredigeerdeSequenceNumbers: [1] });
    await expectSecretGone();
    const redactions = (await published()).filter(
      ({ op, sequenceNumber, geredigeerdeSequenceNumbers: numbers }) =>
        op === 'redact' && numbers?.[0] !== sequenceNumber,
    );
    expect(redactions).toHaveLength(1);
  });
});

describe('numbers that are absent', () => {
  it('do not delay a redaction on a page that was read to look for a redaction of them', async () => {
    await pause(true);
    for (const id of ['d-20', 'd-21']) source.document(id);
    source.records = source.records.filter(({ sequenceNumber }) => sequenceNumber !== 13);
    source.remove('redact', 'd-1', { geredigeerdeSequenceNumbers: [1] });
    source.document('d-22');
    source.rule = ({ path, query, page, json }) => {
      const good = page();
      if (path !== '/feed' || !Array.isArray(good.records)) return false;
      if (query.get('cursor')?.endsWith('.15') === true) json({}, 503);
      else {
        const records = good.records.slice(0, 1);
        json({ ...good, records, cursor: `${source.history}.${records[0]?.sequenceNumber}`, hasMore: true });
      }
      return true;
    };
    await pause(false);
    await expectSecretGone();
  });

  it('are not a fault when a redaction on the same page names them', async () => {
    await pause(true);
    source.document('d-20', secret);
    source.document('d-21');
    redactAway('d-20');
    await pause(false);
    await eventually(async () => expect((await published()).at(-1)?.herkomst?.sequenceNumber).toBe(14));
    await eventually(async () =>
      expect(await sourceState(aggregator.pool, source.url)).toMatchObject({ behind: 0, mislukt: 0 }),
    );
    const { rows } = await aggregator.pool.query(
      "select kind from aggregator.issues where kind = 'numbers' and place = $1",
      [source.url],
    );
    expect(rows).toEqual([]);
  });

  it('are not a fault when a redaction on a later page names them', async () => {
    await pause(true);
    source.document('d-20', secret);
    for (let i = 21; i < 30; i += 1) source.document(`d-${i}`);
    redactAway('d-20');
    source.rule = ({ path, query, page, json }) => {
      if (path !== '/feed') return false;
      query.set('limit', '3');
      json(page());
      return true;
    };
    await pause(false);
    await eventually(async () => expect(await published()).toHaveLength(21));
    const { rows } = await aggregator.pool.query(
      "select kind from aggregator.issues where kind = 'numbers' and place = $1",
      [source.url],
    );
    expect(rows).toEqual([]);
  });
});

describe('a redaction that was missed', () => {
  it('is found in the history when the cursor is refused', async () => {
    await pause(true);
    redactAway('d-1');
    source.document('d-13');
    source.history += 1;
    await pause(false);
    await expectSecretGone();
    await eventually(async () => expect([...stateOf(await published()).keys()]).toHaveLength(12));
    expect((await published()).filter(({ op }) => op === 'delete')).toEqual([]);
    expect((await published()).filter(({ op }) => op === 'redact').at(-1)).toMatchObject({
      verwijderreden: 'persoonsgegevens',
    });
  });

  it('leaves later publications of the same resource', async () => {
    await pause(true);
    redactAway('d-1');
    source.document('d-1', 'Zonder persoonsgegevens');
    source.history += 1;
    await pause(false);
    await expectSecretGone();
    await eventually(async () => {
      const { text } = await aggregator.api.call(
        'GET',
        `/organisaties/${source.organisatiecode}/informatieobjecten/d-1`,
      );
      expect(text).toContain('Zonder persoonsgegevens');
    });
    await eventually(async () => expect([...stateOf(await published()).keys()]).toHaveLength(12));
  });

  it('is found when the source names another organisation, and its snapshot is read again', async () => {
    await pause(true);
    redactAway('d-1');
    source.organisaties = [
      ...source.organisaties,
      { organisatiecode: source.organisatiecode.replace('gm', 'ws'), naam: 'Waterschap' },
    ];
    await rereadDocument(aggregator.pool, source.url);
    await pause(false);
    await expectSecretGone();
  });

  it('is found when the source was removed and added again', async () => {
    await unfollow(aggregator.pool, source.url);
    redactAway('d-1');
    await follow(aggregator.pool, source.url);
    await expectSecretGone();
  });

  it.each<[string, () => void]>([
    [
      'because that history was pruned',
      () => {
        source.records = source.records.filter(({ sequenceNumber }) => sequenceNumber > 13);
      },
    ],
    [
      'because the source started again',
      () => {
        const kept = source.state().map(({ resource }) => resource.bronidentificatie);
        source.records = [];
        for (const id of kept) source.document(id);
      },
    ],
  ])('and cannot be found, %s: missing resources are deleted and taken out of our history', async (_why, lose) => {
    await pause(true);
    redactAway('d-1');
    for (let i = 2; i <= 12; i += 1) source.document(`d-${i}`, `Nieuw ${i}`);
    lose();
    source.history += 1;
    await pause(false);
    await expectSecretGone();
    await eventually(async () => expect([...stateOf(await published()).keys()]).toHaveLength(11));
    const [removed, redacted] = (await published()).slice(-2);
    expect(removed).toMatchObject({ op: 'delete', verwijderreden: 'overig' });
    expect(redacted).toMatchObject({
      op: 'redact',
      verwijderreden: 'niet_langer_openbaar',
      toelichting: expect.any(String),
    });
  });

  it('counts as missed when the history cannot be read at all: missing resources are redacted', async () => {
    await pause(true);
    redactAway('d-1');
    source.history += 1;
    source.rule = ({ path, query, json }) => path === '/feed' && !query.has('cursor') && json({}, 404) === undefined;
    await pause(false);
    await expectSecretGone();
    await eventually(async () =>
      expect(await sourceState(aggregator.pool, source.url)).toMatchObject({ fase: 'feed', mislukt: 0 }),
    );
  });
});

it('reaches nothing of another organisation, whatever numbers and feed a source names', async () => {
  const evil = await new FakeSource('gm9998').listen();
  try {
    evil.document('e-1');
    await follow(aggregator.pool, evil.url);
    await eventually(async () => expect((await sourceState(aggregator.pool, evil.url)).behind).toBe(0));
    // As if its service document had named the other's feed as its own.
    await aggregator.pool.query(
      `update raadsfeed.records set herkomst_feed = (select herkomst_feed from raadsfeed.records where organisatiecode = 'gm9998' limit 1)
       where organisatiecode = $1`,
      [source.organisatiecode],
    );
    evil.remove('redact', 'e-1', { geredigeerdeSequenceNumbers: Array.from({ length: 50 }, (_, i) => i + 1) });
    await eventually(async () => {
      const { rows } = await aggregator.pool.query(
        `select op from raadsfeed.records where organisatiecode = 'gm9998' and op = 'redact'`,
      );
      expect(rows.length).toBeGreaterThan(0);
    });
    const others = (await published()).map(({ op }) => op);
    expect(new Set(others)).toEqual(new Set(['upsert']));
  } finally {
    await unfollow(aggregator.pool, evil.url);
    await evil.close();
  }
});
