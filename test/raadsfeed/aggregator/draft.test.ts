/** Everything that the published draft of the feed allows is passed on unchanged, and an invalid record is refused individually. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentHash } from '../../../src/lib/feed/record.ts';
import { isRecord } from '../../../src/lib/json/json-value.ts';
import { asPage, type FeedServer, readRecords, type TestRecord } from '../support.ts';
import { FakeSource, type Rule } from './fake-source.ts';
import { eventually, follow, sourceState, startAggregator, unfollow } from './support.ts';

let aggregator: FeedServer;
let codes = 0;

beforeAll(async () => {
  aggregator = await startAggregator({ 'aggregator.backoffMaxMs': '50' });
});
afterAll(async () => {
  await aggregator.stop();
});

/** Each case has its own source, so that they can run in parallel. */
const it = test.extend<{ source: FakeSource }>({
  source: async ({ task: _task }, use) => {
    codes += 1;
    const source = await new FakeSource(`gm${String(codes).padStart(4, '0')}`).listen();
    await use(source);
    await unfollow(aggregator.pool, source.url);
    await source.close();
  },
});

/** Read verbatim: other publishers' records may go beyond our own contract. */
async function published(source: FakeSource): Promise<readonly TestRecord[]> {
  const address = `${aggregator.mount}/feed?limit=1000&organisatiecode=${source.organisatiecode}`;
  return asPage(await (await fetch(address)).json()).records;
}

async function issues(source: FakeSource, what: string): Promise<unknown[]> {
  const { rows } = await aggregator.pool.query(
    'select detail from aggregator.issues where kind = $1 and source_id = (select id from aggregator.sources where address = $2)',
    [what, source.url],
  );
  return rows;
}

async function currentSince(source: FakeSource): Promise<string> {
  const { json } = await aggregator.api.call('GET', '/');
  const organisaties: unknown[] = isRecord(json) && Array.isArray(json.organisaties) ? json.organisaties : [];
  const found = organisaties.find((one) => isRecord(one) && one.organisatiecode === source.organisatiecode);
  return isRecord(found) ? String(found.laatstBijgewerkt) : '';
}

/** Adds an upsert of any data; `more` replaces members of the record. */
function add(source: FakeSource, data: Record<string, unknown>, more: object = {}, resourceType = 'Informatieobject') {
  const id = String(data.bronidentificatie);
  return source.add({ op: 'upsert', contentHash: contentHash(data), data, ...more }, id, resourceType);
}

const base = (source: FakeSource, id: string) => ({
  bronidentificatie: id,
  organisatie: { gemeente: source.organisatiecode, naam: 'Gemeente' },
});
const informatieobject = (source: FakeSource, id: string, more: object = {}) => ({
  ...base(source, id),
  dossiertype: 'informatieobject',
  webpaginalink: 'https://raad.example/1',
  titel: 'Titel',
  wooinformatiecategorie: 'c_db4862c3',
  datumingediend: '2026-01-08',
  ...more,
});
const vergadering = (source: FakeSource, id: string, more: object = {}) => ({
  ...base(source, id),
  dossiertype: 'vergadering',
  naam: 'Raad',
  ...more,
});
const agendapunt = (source: FakeSource, id: string, more: object = {}) => ({
  ...base(source, id),
  dossiertype: 'agendapunt',
  agendapuntnaam: 'Opening',
  vergadering: { bronidentificatie: 'v' },
  ...more,
});

describe('data that the draft allows', () => {
  it.concurrent.for<[string, (source: FakeSource) => Record<string, unknown>, string]>([
    [
      'unknown members',
      (source) => informatieobject(source, 'a', { thema: ['wonen'], leverancier: { id: 7, naam: null } }),
      'Informatieobject',
    ],
    [
      'unknown members in references',
      (source) => vergadering(source, 'a', { agendapunten: [{ bronidentificatie: 'x', titel: 'T' }] }),
      'Vergadering',
    ],
    [
      'empty texts',
      (source) =>
        informatieobject(source, 'a', { titel: '', wooinformatiecategorie: '', formaat: '', omschrijving: '' }),
      'Informatieobject',
    ],
    [
      'an empty name',
      (source) => vergadering(source, 'a', { naam: '', organisatie: { gemeente: source.organisatiecode, naam: '' } }),
      'Vergadering',
    ],
    ['an end without a start', (source) => vergadering(source, 'a', { einde: '2026-01-15T22:00:00Z' }), 'Vergadering'],
    [
      'a body as a whole',
      (source) =>
        vergadering(source, 'a', {
          georganiseerddoorgremium: { gremiumidentificatie: '1', gremiumnaam: 'R', soort: 'x' },
        }),
      'Vergadering',
    ],
    [
      'a format and size of any kind',
      (source) => informatieobject(source, 'a', { formaat: 'PDF', omvang: -1 }),
      'Informatieobject',
    ],
    [
      'null indications',
      (source) => agendapunt(source, 'a', { indicatiehamerstuk: null, indicatiebehandeld: null }),
      'Agendapunt',
    ],
    [
      'no related document',
      (source) => informatieobject(source, 'a', { gerelateerdinformatieobject: null, id: 'oud' }),
      'Informatieobject',
    ],
    [
      'times of any offset',
      (source) => agendapunt(source, 'a', { starttijd: '2026-01-15t19:30:00.123456+01:00' }),
      'Agendapunt',
    ],
  ])('is passed on unchanged: %s', async ([_name, make, resourceType], { source }) => {
    const data = make(source);
    const record = add(source, data, {}, resourceType);
    await follow(aggregator.pool, source.url);
    await eventually(async () => expect(await published(source)).toHaveLength(1));
    expect((await published(source))[0]).toMatchObject({ data, contentHash: record.contentHash });
    expect(await sourceState(aggregator.pool, source.url)).toMatchObject({ geweigerd: 0 });
  });
});

describe('records that the draft allows', () => {
  it.concurrent('keep members that we do not know', async ({ source }) => {
    add(source, informatieobject(source, 'a'), {
      grondslag: 'Woo',
      keten: { van: [1, 2] },
      herkomst: { feedUrl: 'https://x.example/feed' },
    });
    await follow(aggregator.pool, source.url);
    await eventually(async () => expect(await published(source)).toHaveLength(1));
    source.remove('delete', 'a', { besluit: 'B-1' });
    await eventually(async () => expect(await published(source)).toHaveLength(2));
    expect(await published(source)).toMatchObject([
      { grondslag: 'Woo', keten: { van: [1, 2] }, herkomst: { feedUrl: `${source.url}/feed`, sequenceNumber: 1 } },
      { op: 'delete', besluit: 'B-1' },
    ]);
  });

  it.concurrent('may have codes in upper case, everywhere', async ({ source }) => {
    const code = source.organisatiecode.toUpperCase();
    const data = vergadering(source, 'a', {
      organisatie: { gemeente: code, naam: 'Gemeente' },
      hoofdvergadering: { bronidentificatie: 'b', organisatiecode: 'PV27' },
      agendapunten: [{ bronidentificatie: 'c', organisatiecode: 'WS0654' }],
    });
    add(source, data, { resource: { organisatiecode: code, bronidentificatie: 'a' } }, 'Vergadering');
    source.organisaties = [{ organisatiecode: code, naam: 'Gemeente' }];
    await follow(aggregator.pool, source.url);
    await eventually(async () => expect(await published(source)).toHaveLength(1));
    const [record] = await published(source);
    expect(record).toMatchObject({
      resource: { organisatiecode: source.organisatiecode },
      data: {
        organisatie: { gemeente: source.organisatiecode },
        hoofdvergadering: { organisatiecode: 'pv27' },
        agendapunten: [{ organisatiecode: 'ws0654' }],
      },
    });
    expect(record?.contentHash).toBe(contentHash(record?.data));
  });

  it.concurrent('may be removed without a reason or an explanation', async ({ source }) => {
    source.document('a');
    source.document('b');
    await follow(aggregator.pool, source.url);
    await eventually(async () => expect(await published(source)).toHaveLength(2));
    source.remove('delete', 'a', { verwijderreden: undefined });
    source.remove('delete', 'b', { verwijderreden: 'overig' });
    await eventually(async () => expect(await published(source)).toHaveLength(4));
    expect((await published(source)).slice(2)).toMatchObject([
      { op: 'delete', verwijderreden: 'overig', toelichting: expect.any(String) },
      { op: 'delete', verwijderreden: 'overig', toelichting: expect.any(String) },
    ]);
  });
});

describe('hashes', () => {
  const other = (n: number) => `sha256:${String(n).repeat(64)}`;

  it.concurrent('of another form are passed on unchanged, and reported once', async ({ source }) => {
    for (const n of [1, 2, 3]) add(source, informatieobject(source, `d-${n}`), { contentHash: other(n) });
    await follow(aggregator.pool, source.url);
    await eventually(async () => expect(await published(source)).toHaveLength(3));
    expect((await published(source)).map((record) => record.contentHash)).toEqual([1, 2, 3].map(other));
    // Changes are recognised by content, whatever the hash.
    add(source, informatieobject(source, 'd-1', { titel: 'Anders' }), { contentHash: other(1) });
    add(source, informatieobject(source, 'd-2'), { contentHash: other(5) });
    await eventually(async () => expect(await published(source)).toHaveLength(4));
    expect(await issues(source, 'content-hash')).toHaveLength(1);
    expect(await sourceState(aggregator.pool, source.url)).toMatchObject({ geweigerd: 0, mislukt: 0 });
  });

  it.concurrent('that are absent are replaced by ours, and reported once', async ({ source }) => {
    const data = informatieobject(source, 'a');
    add(source, data, { contentHash: undefined });
    add(source, informatieobject(source, 'b'), { contentHash: undefined });
    await follow(aggregator.pool, source.url);
    await eventually(async () => expect(await published(source)).toHaveLength(2));
    expect((await published(source))[0]?.contentHash).toBe(contentHash(data));
    expect(await issues(source, 'content-hash')).toHaveLength(1);
  });

  it.concurrent('that differ while others match are refused, and the source is not up to date until they do', async ({
    source,
  }) => {
    source.document('a');
    await follow(aggregator.pool, source.url);
    await eventually(async () => expect((await sourceState(aggregator.pool, source.url)).behind).toBe(0));
    add(source, informatieobject(source, 'b'), { contentHash: other(1) });
    source.document('c');
    await eventually(async () =>
      expect((await published(source)).map((r) => r.resource.bronidentificatie)).toEqual(['a', 'c']),
    );
    expect(await issues(source, 'record-refused')).toEqual([{ detail: 'contentHash does not match data' }]);
    const stood = await currentSince(source);
    const calls = source.calls.length;
    await eventually(() => expect(source.calls.length).toBeGreaterThan(calls + 5));
    expect(await currentSince(source)).toBe(stood);
    expect(await sourceState(aggregator.pool, source.url)).toMatchObject({ openGeweigerd: 1, mislukt: 0 });
    source.document('b');
    await eventually(async () => expect((await currentSince(source)) > stood).toBe(true));
    expect(await issues(source, 'record-refused')).toEqual([]);
  });
});

describe('an invalid record is refused and counted', () => {
  it.concurrent.for<[string, (source: FakeSource) => void]>([
    [
      'a script address',
      (source) => add(source, informatieobject(source, 'x', { webpaginalink: 'javascript:alert(1)' })),
    ],
    [
      'an address with an unknown scheme',
      (source) => add(source, informatieobject(source, 'x', { bestandsurl: 'httphttp://raad.example/1' })),
    ],
    [
      'a script address in a reference',
      (source) =>
        add(
          source,
          informatieobject(source, 'x', { vergaderingen: [{ bronidentificatie: 'v', url: 'data:text/html,x' }] }),
        ),
    ],
    [
      'a script address in an unknown member',
      (source) => add(source, informatieobject(source, 'x', { extra: { fotoUrl: 'vbscript:x' } })),
    ],
    ['an upsert without data', (source) => source.add({ op: 'upsert' }, 'x')],
    ['data of another type', (source) => add(source, vergadering(source, 'x'))],
    [
      'an organisation that the source does not list',
      (source) => {
        source.document('x').resource.organisatiecode = 'gm9999';
      },
    ],
  ])('%s', async ([_name, spoil], { source }) => {
    source.document('a');
    await follow(aggregator.pool, source.url);
    await eventually(async () => expect((await sourceState(aggregator.pool, source.url)).behind).toBe(0));
    spoil(source);
    source.document('b');
    await eventually(async () =>
      expect((await published(source)).map((r) => r.resource.bronidentificatie)).toEqual(['a', 'b']),
    );
    await eventually(async () =>
      expect(await sourceState(aggregator.pool, source.url)).toMatchObject({ geweigerd: 1, mislukt: 0 }),
    );
    expect(await readRecords(aggregator.api, '/feed?organisatiecode=gm9999')).toEqual([]);
    expect([
      ...(await issues(source, 'record-refused')),
      ...(await issues(source, 'organisation-unnamed')),
    ]).toHaveLength(1);
  });
});

describe('pages that the draft allows', () => {
  it.concurrent('may end a snapshot without a cursor', async ({ source }) => {
    for (let i = 1; i <= 5; i += 1) source.document(`d-${i}`);
    source.rule = ({ path, query, page, json }) => {
      if (path !== '/snapshot') return false;
      query.set('limit', '3');
      const { cursor, ...good } = page();
      json(cursor === null ? good : { ...good, cursor });
      return true;
    };
    await follow(aggregator.pool, source.url);
    await eventually(async () =>
      expect(await sourceState(aggregator.pool, source.url)).toMatchObject({ behind: 0, mislukt: 0 }),
    );
    expect(await published(source)).toHaveLength(5);
  });

  it.concurrent.for([400, 410])(
    'may refuse a cursor with a bare %i: the second time a new snapshot is read',
    async (status, { source }) => {
      source.document('a');
      await follow(aggregator.pool, source.url);
      await eventually(async () => expect((await sourceState(aggregator.pool, source.url)).behind).toBe(0));
      source.rule = ({ path, query, response }) => {
        if (path !== '/feed' || query.get('cursor')?.startsWith('1.') !== true) return false;
        response.writeHead(status, { 'content-type': 'text/plain' }).end('nee');
        return true;
      };
      source.history += 1;
      source.document('b');
      await eventually(async () => expect(await published(source)).toHaveLength(2));
      await eventually(async () =>
        expect(await sourceState(aggregator.pool, source.url)).toMatchObject({ behind: 0, mislukt: 0 }),
      );
    },
  );
});

describe('an endless source is a fault that the operator sees', () => {
  const round: Rule = ({ path, query, json }) => {
    if (path !== '/feed') return false;
    const next = { a: 'b', b: 'c', c: 'a' }[query.get('cursor') ?? ''] ?? 'a';
    json({ records: [], cursor: next, head: 99, hasMore: true });
    return true;
  };
  let pages = 0;
  const endless =
    (records: (page: Record<string, unknown>) => unknown): Rule =>
    ({ path, query, page, json }) => {
      if (path !== '/snapshot') return false;
      pages += 1;
      query.delete('cursor');
      const good = page();
      json({ ...good, records: records(good), cursor: `c-${pages}`, hasMore: true });
      return true;
    };

  it.concurrent.for<[string, string, Rule]>([
    ['cursors in a cycle', 'cursor-circle', round],
    ['a snapshot that repeats itself', 'snapshot-endless', endless(({ records }) => records)],
    ['a snapshot of empty pages', 'snapshot-endless', endless(() => [])],
    [
      'a snapshot whose cursors form a cycle',
      'cursor-circle',
      ({ path, query, page, json }) => {
        if (path !== '/snapshot') return false;
        json({ ...page(), records: [], cursor: query.get('cursor') === 'a' ? 'b' : 'a', hasMore: true });
        return true;
      },
    ],
  ])('%s', async ([_name, fault, rule], { source }) => {
    source.document('a');
    source.rule = rule;
    await follow(aggregator.pool, source.url);
    await eventually(async () => {
      const state = await sourceState(aggregator.pool, source.url);
      expect([state.foutSoort, state.meldingen > 0]).toEqual([fault, true]);
    });
    source.rule = undefined;
    await eventually(async () =>
      expect(await sourceState(aggregator.pool, source.url)).toMatchObject({ behind: 0, mislukt: 0 }),
    );
    expect(await published(source)).toHaveLength(1);
  });
});
