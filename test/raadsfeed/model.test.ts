/** Random histories against a model that is too simple to be wrong: feed, snapshot, collections and the checker must agree with it. */
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { contentHash } from '../../src/lib/feed/record.ts';
import { systemClock } from '../../src/lib/time.ts';
import { pruneHistory } from '../../src/raadsfeed/store/prune.ts';
import { rewritePartitions } from '../../src/raadsfeed/store/text-partitions.ts';
import { verifyFeed } from '../../src/raadsfeed/verify/verify-feed.ts';
import {
  agendapunt,
  document,
  type FeedServer,
  PATIENT,
  readAll,
  readRecords,
  removal,
  startFeed,
  type TestRecord,
  vergadering,
} from './support.ts';

const KINDS = {
  Vergadering: vergadering,
  Agendapunt: agendapunt,
  Informatieobject: document,
} as const;
const COLLECTIONS = {
  Vergadering: 'vergaderingen',
  Agendapunt: 'agendapunten',
  Informatieobject: 'informatieobjecten',
};
type Kind = keyof typeof KINDS;

interface Line {
  readonly op: 'upsert' | 'delete' | 'redact';
  readonly kind: Kind;
  readonly id: string;
  readonly version: number;
}
type Step = { readonly publish: readonly Line[] } | { readonly prune: number };

/** The expected state of the feed. */
class Model {
  readonly log: { op: string; kind: Kind; id: string; version?: number; redacted?: number[] }[] = [];
  readonly state = new Map<string, { kind: Kind; id: string; version: number; number: number }>();
  historyAfter = 0;
  readonly pruned = new Set<number>();

  publish({ op, kind, id, version }: Line): void {
    const key = `${kind}/${id}`;
    const present = this.state.get(key);
    if (op === 'upsert') {
      if (present?.version === version) return;
      this.log.push({ op, kind, id, version });
      this.state.set(key, { kind, id, version, number: this.log.length });
    } else if (op === 'delete') {
      if (present === undefined) return;
      this.log.push({ op, kind, id });
      this.state.delete(key);
    } else {
      const held = this.log.flatMap((record, i) =>
        record.op === 'upsert' && record.kind === kind && record.id === id && !this.pruned.has(i + 1) ? [i + 1] : [],
      );
      if (held.length === 0) return;
      for (const number of held) this.log[number - 1] = { op: 'redact', kind, id, redacted: [number] };
      this.log.push({ op, kind, id, redacted: held });
      this.state.delete(key);
    }
  }

  prune(upTo: number): void {
    this.historyAfter = upTo;
    const current = new Set([...this.state.values()].map(({ number }) => number));
    for (let number = 1; number <= upTo; number += 1) if (!current.has(number)) this.pruned.add(number);
  }
}

const line = fc.record<Line>({
  op: fc.constantFrom('upsert', 'upsert', 'upsert', 'delete', 'redact'),
  kind: fc.constantFrom<Kind>('Vergadering', 'Agendapunt', 'Informatieobject'),
  id: fc.constantFrom('een', 'a/b', 'é %2F ?', '..x'),
  version: fc.integer({ min: 1, max: 3 }),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ publish: fc.array(line, { minLength: 1, maxLength: 12 }) }) },
  { weight: 1, arbitrary: fc.record({ prune: fc.nat({ max: 100 }) }) },
);

const upsert = (id: string, version: number): Line => ({ op: 'upsert', kind: 'Vergadering', id, version });
/** The second time the history begins at the same number, and outdated records are removed all the same. */
const PRUNED_AGAIN: Step[] = [
  { publish: [upsert('een', 1)] },
  { publish: [upsert('a/b', 1)] },
  { prune: 2 },
  { publish: [upsert('een', 2)] },
  { prune: 100 },
  { publish: [{ ...upsert('een', 2), op: 'redact' }] },
];

let feed: FeedServer;
let clock = Date.parse('2026-01-01T00:00:00Z');
beforeAll(async () => {
  // Every batch is stored a second after the previous one, so that pruning can stop between any two.
  feed = await startFeed(
    {},
    {
      now: () => {
        clock += 1000;
        return new Date(clock);
      },
    },
  );
});
afterAll(() => feed.stop());

async function empty(): Promise<void> {
  const client = new pg.Client({ connectionString: feed.databaseUrl });
  await client.connect();
  await client.query(`truncate raadsfeed.records, raadsfeed.texts, raadsfeed.current_records, raadsfeed.organisaties, raadsfeed.pending_rewrites;
    update raadsfeed.feed set head = 0, head_epoch = 0, history_after = 0, history_after_epoch = 0, redactions = redactions + 1; notify raadsfeed`);
  await client.end();
}

const toLine = ({ op, kind, id, version }: Line): object =>
  op === 'upsert' ? KINDS[kind](id, { webpaginalink: `https://raad.example/${version}` }) : removal(op, kind, id);

async function run(steps: readonly Step[]): Promise<Model> {
  const model = new Model();
  for (const taken of steps) {
    if ('publish' in taken) {
      await feed.publish(taken.publish.map(toLine));
      for (const one of taken.publish) model.publish(one);
    } else {
      const { upTo } = await pruneHistory(feed.pool, {
        before: new Date(clock - taken.prune * 200),
        graceMs: 0,
        signal: new AbortController().signal,
        progress: () => undefined,
      });
      await rewritePartitions(feed.pool);
      model.prune(upTo);
    }
  }
  return model;
}

const shown = ({ sequenceNumber, op, resourceType, resource, data, geredigeerdeSequenceNumbers }: TestRecord) => ({
  number: sequenceNumber,
  op,
  kind: resourceType,
  id: resource.bronidentificatie,
  page: data?.webpaginalink,
  redacted: geredigeerdeSequenceNumbers,
});

it('matches the model, whatever is published, deleted, redacted and pruned', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 9 }),
      async (steps, limit) => {
        await empty();
        const model = await run(steps);
        await expect
          .poll(async () => (await readAll(feed.api, `/feed?limit=${limit}`)).at(-1)?.head, PATIENT)
          .toBe(model.log.length);

        const page = (version: number | undefined) =>
          version === undefined ? undefined : `https://raad.example/${version}`;
        const log = model.log
          .map(({ version, redacted, ...record }, i) => ({ number: i + 1, ...record, page: page(version), redacted }))
          .slice(model.historyAfter);
        const records = await readRecords(feed.api, `/feed?limit=${limit}`);
        expect(records.map(shown)).toEqual(log);
        for (const { data, contentHash: said } of records) if (data !== undefined) expect(said).toBe(contentHash(data));

        const state = [...model.state.values()].sort((a, b) => a.number - b.number);
        const snapshot = await readRecords(feed.api, `/snapshot?limit=${limit}`);
        expect(snapshot.map(({ sequenceNumber }) => sequenceNumber)).toEqual(state.map(({ number }) => number));

        for (const [kind, collection] of Object.entries(COLLECTIONS)) {
          const filtered = await readRecords(feed.api, `/feed?limit=${limit}&resourceType=${kind}`);
          expect(filtered.map(shown)).toEqual(log.filter((record) => record.kind === kind));
          const pages = await readAll(feed.api, `/organisaties/gm9901/${collection}?limit=${limit}`);
          const present = pages.flatMap(({ results }) =>
            results.map((data) => [data.bronidentificatie, data.webpaginalink]),
          );
          const expected = state.filter((one) => one.kind === kind).map(({ id, version }) => [id, page(version)]);
          expect(present.sort()).toEqual(expected.sort());
          // Sorted by the bytes of their names, each once.
          const ids = pages.flatMap(({ results }) => results.map(({ bronidentificatie }) => String(bronidentificatie)));
          expect(ids).toEqual([...new Set(ids)].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
        }
        const checked = await verifyFeed(feed.pool, {
          clock: systemClock,
          signal: new AbortController().signal,
          progress: () => undefined,
        });
        expect(checked.faults).toEqual([]);
      },
    ),
    { numRuns: 8, endOnFailure: true, examples: [[PRUNED_AGAIN, 9]] },
  );
});
