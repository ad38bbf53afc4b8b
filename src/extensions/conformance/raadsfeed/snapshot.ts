import { isRecord } from '../../../lib/json/json-value.ts';
import { type Chapter, type Finding, firstFault } from '../case.ts';
import { longerThan, totalIn } from './feed-pages.ts';
import { contract, draft } from './sources.ts';
import {
  changedSince,
  type FeedSubject,
  keyOf,
  nameOf,
  objectsIn,
  recordsOf,
  type SeenRecord,
  textAt,
} from './subject.ts';

const feedRule = (number: number, quote: string) => draft(`Feed rules ${number}`, quote);

/** The state that the history leads to, by resource; only where all of it was read from its first number. */
function replayed({ history }: FeedSubject): ReadonlyMap<string, SeenRecord> | undefined {
  if (!history.complete || history.records[0]?.record.sequenceNumber !== 1) return undefined;
  const state = new Map<string, SeenRecord>();
  for (const seen of history.records) {
    const key = keyOf(seen.record);
    if (seen.record.op === 'upsert') state.set(key, seen);
    else state.delete(key);
  }
  return state;
}

export const SNAPSHOT: Chapter<FeedSubject> = {
  id: 'C-SNAP',
  title: { nl: 'Huidige stand', en: 'Snapshot' },
  cases: [
    {
      id: 'C-SNAP-01',
      title: { nl: 'De eerste pagina heeft `feedCursor`', en: 'The first page carries `feedCursor`' },
      level: 'must',
      source: draft('Snapshot', 'The first page carries `feedCursor`'),
      ask: [{ to: '{snapshot}?limit=1' }],
      expect: { mediaType: 'application/json' },
      check: (_, { answers: [answer] }) => {
        if (!isRecord(answer?.json) || !Array.isArray(answer.json.records))
          return { failed: '`records` is not a list' };
        return textAt(answer.json, 'feedCursor') === undefined ? { failed: '`feedCursor` is not a text' } : undefined;
      },
    },
    {
      id: 'C-SNAP-02',
      title: { nl: 'Vanaf `feedCursor` gaat de feed verder', en: 'The feed goes on from `feedCursor`' },
      level: 'must',
      source: draft('Snapshot', 'the feed position from which the consumer continues without a gap'),
      dependsOn: ['C-SNAP-01', 'C-FEED-01'],
      check: async ({ values, history }, { ask }) => {
        const answer = await ask({ to: `{feed}?cursor=${encodeURIComponent(values.feedCursor ?? '')}` });
        if (answer.status !== 200) return { failed: `the feed answers it with status ${answer.status}` };
        const [first] = objectsIn(answer.json, 'records');
        const head = Number(history.pages[0]?.page.head ?? 0);
        return first !== undefined && Number(first.sequenceNumber) <= head
          ? {
              failed: `it leads to record ${String(first.sequenceNumber)}, and \`head\` was ${head} before the snapshot was read`,
            }
          : undefined;
      },
    },
    {
      id: 'C-SNAP-03',
      title: { nl: 'Elke pagina heeft dezelfde `feedCursor`', en: 'Each page has the same `feedCursor`' },
      level: 'should',
      source: feedRule(8, 'fixed before the snapshot rows are read'),
      dependsOn: ['C-SNAP-01'],
      check: async (_, { ask }) => {
        const first = await ask({ to: '{snapshot}?limit=1' });
        const cursor = textAt(first.json, 'cursor');
        if (cursor === undefined) return { skipped: 'the snapshot has one page' };
        const second = await ask({ to: `{snapshot}?limit=1&cursor=${encodeURIComponent(cursor)}` });
        return textAt(second.json, 'feedCursor') === textAt(first.json, 'feedCursor')
          ? undefined
          : { failed: 'the second page has another one' };
      },
    },
    {
      id: 'C-SNAP-04',
      title: { nl: 'De stand bestaat uit hele resources', en: 'The snapshot consists of complete resources' },
      level: 'must',
      source: draft('Snapshot', 'the current state of all resources'),
      dependsOn: ['C-SNAP-01'],
      check: ({ snapshot }) =>
        firstFault(
          recordsOf(snapshot),
          ({ record }) =>
            record.op === 'upsert' && isRecord(record.data)
              ? undefined
              : `${nameOf(record)} is not an upsert with \`data\``,
          ({ at }) => at,
        ),
    },
    {
      id: 'C-SNAP-05',
      title: { nl: 'Elke resource komt een keer voor', en: 'Each resource occurs once' },
      level: 'must',
      source: draft('Snapshot', 'the current state of all resources'),
      dependsOn: ['C-SNAP-01'],
      check: ({ snapshot }) => {
        const seen = new Set<string>();
        return firstFault(
          recordsOf(snapshot),
          ({ record }) => {
            const key = keyOf(record);
            if (seen.has(key)) return `${key} occurs twice`;
            seen.add(key);
            return undefined;
          },
          ({ at }) => at,
        );
      },
    },
    {
      id: 'C-SNAP-06',
      title: { nl: 'De stand is die waartoe de feed leidt', en: 'The snapshot is the state that the feed leads to' },
      level: 'must',
      source: feedRule(8, 'so that changes during the traversal are not lost'),
      dependsOn: ['C-SNAP-04', 'C-SNAP-05', 'C-FEED-04', 'C-REC-03'],
      check: async (subject, run): Promise<Finding> => {
        const { snapshot } = subject;
        const state = replayed(subject);
        if (state === undefined || !snapshot.complete)
          return { skipped: 'the feed is larger than what was read of it' };
        const changed = await changedSince(textAt(subject.history.pages.at(-1)?.page, 'cursor') ?? '', run);
        const inSnapshot = new Map(snapshot.records.map((seen) => [keyOf(seen.record), seen] as const));
        for (const [key, { record, at }] of state) {
          if (changed.has(key)) continue;
          const found = inSnapshot.get(key)?.record;
          if (found === undefined) return { failed: `${key} is in the feed, and not in the snapshot`, at };
          if (JSON.stringify(found.data) !== JSON.stringify(record.data))
            return { failed: `${key} is another in the snapshot`, at };
        }
        const extra = [...inSnapshot].find(([key]) => !state.has(key) && !changed.has(key));
        return extra === undefined
          ? undefined
          : { failed: `${extra[0]} is in the snapshot, and not in the feed`, at: extra[1].at };
      },
    },
    {
      id: 'C-SNAP-07',
      title: { nl: 'Wat verwijderd is, staat er niet in', en: 'What was removed is not in it' },
      level: 'must',
      source: draft('Events', 'Remove the resource.'),
      dependsOn: ['C-SNAP-04', 'C-REC-03'],
      check: ({ history, snapshot }) => {
        const last = new Map(history.records.map(({ record }) => [keyOf(record), record] as const));
        const removed = new Map([...last].filter(([, { op }]) => op !== 'upsert'));
        if (removed.size === 0) return { skipped: 'the part of the feed that was read removes nothing' };
        return firstFault(
          snapshot.records,
          ({ record }) => {
            const removal = removed.get(keyOf(record));
            const isLater = Number(record.sequenceNumber) > Number(removal?.sequenceNumber);
            return removal === undefined || isLater ? undefined : `${nameOf(removal)} removed ${keyOf(record)}`;
          },
          ({ at }) => at,
        );
      },
    },
    {
      id: 'C-SNAP-08',
      title: {
        nl: 'Een pagina heeft niet meer resources dan gevraagd, en nooit meer dan 1000',
        en: 'A page has no more resources than asked for, and never more than 1000',
      },
      level: 'must',
      source: feedRule(5, '`limit` has a maximum of 1000 and a default of 500'),
      dependsOn: ['C-SNAP-01'],
      check: async (_, { ask }) => {
        for (const [limit, most] of [
          ['limit=1', 1],
          ['limit=1000', 1000],
          ['', 500],
        ] as const) {
          const wrong = longerThan((await ask({ to: `{snapshot}?${limit}` })).json, 'records', most);
          if (wrong !== undefined) return wrong;
        }
        return undefined;
      },
    },
    {
      id: 'C-SNAP-09',
      title: { nl: 'Er staat geen totaal op een pagina', en: 'A page has no total' },
      level: 'must',
      source: feedRule(7, 'no `total`'),
      dependsOn: ['C-SNAP-01'],
      check: ({ snapshot }) => totalIn(snapshot.pages),
    },
    {
      id: 'C-SNAP-10',
      title: { nl: 'De laatste pagina zegt dat zij het is', en: 'The last page says that it is the last' },
      level: 'should',
      source: contract('SnapshotPage', 'Plaats van de volgende pagina, of `null` als dit de laatste is.'),
      dependsOn: ['C-SNAP-01'],
      check: ({ snapshot: { pages, complete } }) => {
        const last = pages.at(-1);
        if (!complete || last === undefined) return { skipped: 'the snapshot is larger than what was read of it' };
        return last.page.cursor === null && last.page.next === null
          ? undefined
          : { failed: '`hasMore` is false, and there is a `cursor` or a `next`', at: last.at };
      },
    },
    {
      id: 'C-SNAP-11',
      title: { nl: 'Een pagina past bij het contract', en: 'A page fits the contract' },
      level: 'should',
      source: contract('SnapshotPage', 'Een pagina van de huidige stand.'),
      dependsOn: ['C-SNAP-01', 'C-SNAP-10'],
      check: ({ fault, snapshot }) =>
        firstFault(
          snapshot.pages,
          ({ page }) => fault('SnapshotPage', { ...page, records: [] }),
          ({ at }) => at,
        ),
    },
    {
      id: 'C-SNAP-12',
      title: { nl: 'De filters gelden ook hier', en: 'The filters apply here too' },
      level: 'should',
      source: contract('getSnapshot', 'organisatiecode, resourceType'),
      dependsOn: ['C-SNAP-01'],
      check: async ({ values }, { ask }) => {
        const of = await ask({ to: '{snapshot}?limit=50&organisatiecode={organisation}&resourceType=Vergadering' });
        const other = objectsIn(of.json, 'records').find(
          ({ resource, resourceType }) =>
            resourceType !== 'Vergadering' || textAt(resource, 'organisatiecode') !== values.organisation,
        );
        if (of.status !== 200 || other !== undefined)
          return { failed: other === undefined ? `status ${of.status}` : `it has ${keyOf(other)}` };
        const none = await ask({ to: '{snapshot}?organisatiecode={otherOrganisation}' });
        const isEmpty =
          none.status === 200 &&
          objectsIn(none.json, 'records').length === 0 &&
          textAt(none.json, 'feedCursor') !== undefined;
        return isEmpty
          ? undefined
          : { failed: 'a code that the feed does not carry gives no empty page with a `feedCursor`' };
      },
    },
    {
      id: 'C-SNAP-13',
      title: { nl: 'Een verminkte cursor krijgt 400', en: 'A garbled cursor gets 400' },
      level: 'should',
      source: contract('getSnapshot', '400'),
      dependsOn: ['C-SNAP-01'],
      ask: [{ to: '{snapshot}?cursor=geen-cursor' }],
      expect: { status: [400], mediaType: 'application/problem+json' },
    },
  ],
};
