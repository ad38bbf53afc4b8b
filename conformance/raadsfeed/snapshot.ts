import { isRecord } from '../../src/lib/json/json-value.ts';
import type { Finding } from '../case.ts';
import { objectsIn, textAt } from '../json-members.ts';
import { after, longerThan, startingAt, totalIn, withoutItems } from './pages.ts';
import { contract, draft, feedRule } from './sources.ts';
import { changedSince, feedChapters, firstSeen, gives, keyOf, nameOf, recordsOf, stateOf } from './subject.ts';

export const SNAPSHOT = feedChapters('C-SNAP-01')('C-SNAP', ['Huidige stand', 'Snapshot'], {
  'C-SNAP-01': {
    must: draft('Snapshot', 'The first page carries `feedCursor`'),
    nl: 'De eerste pagina heeft `feedCursor`',
    en: 'The first page carries `feedCursor`',
    ask: [{ to: '{snapshot}?limit=1' }],
    check: (_, { answers: [answer] }) =>
      textAt(answer?.json, 'feedCursor') === undefined ? '`feedCursor` is not a text' : undefined,
  },
  'C-SNAP-02': {
    must: draft('Snapshot', 'the feed position from which the consumer continues without a gap'),
    nl: 'Vanaf `feedCursor` is de feed verder te lezen',
    en: 'The feed can be read from `feedCursor`',
    needs: ['C-SNAP-01', 'C-FEED-01'],
    check: async ({ values }, { ask }) => {
      const { status } = await ask({ to: `{feed}?${startingAt(values.feedCursor)}` });
      return status === 200 ? undefined : `the feed answers with status ${status}`;
    },
  },
  'C-SNAP-03': {
    may: contract('getSnapshot', 'staat op elke pagina gelijk'),
    nl: 'Elke pagina heeft dezelfde `feedCursor`',
    en: 'Every page has the same `feedCursor`',
    check: async (_, { ask }) => {
      const first = await ask({ to: '{snapshot}?limit=1' });
      if (textAt(first.json, 'cursor') === undefined) return { skipped: 'the snapshot has one page' };
      const second = await ask({ to: `{snapshot}?limit=1&${after(first.json)}` });
      if (textAt(second.json, 'feedCursor') === textAt(first.json, 'feedCursor')) return undefined;
      return 'the second page has a different one';
    },
  },
  'C-SNAP-04': {
    must: draft('Snapshot', 'the current state of all resources'),
    nl: 'De huidige stand bestaat uit resources met hun inhoud',
    en: 'The snapshot consists of resources with their content',
    check: ({ snapshot }) =>
      firstSeen(recordsOf(snapshot), ({ record }) =>
        isRecord(record.data) ? undefined : `${nameOf(record)} has no \`data\``,
      ),
  },
  'C-SNAP-05': {
    must: draft('Snapshot', 'the current state of all resources'),
    nl: 'Elke resource komt één keer voor',
    en: 'Each resource occurs once',
    check: async ({ snapshot, values }, run) => {
      const keys = recordsOf(snapshot).map(({ record }) => keyOf(record));
      const twice = new Set(keys.filter((key, place) => keys.indexOf(key) < place));
      if (twice.size === 0) return undefined;
      // One that changed while the snapshot was read may occur again.
      const changed = await changedSince(values.feedCursor, run);
      return firstSeen(snapshot.records, ({ record }) => {
        const key = keyOf(record);
        return twice.has(key) && !changed.has(key) ? `${key} occurs twice` : undefined;
      });
    },
  },
  'C-SNAP-06': {
    must: feedRule(8, 'fixed before the snapshot rows are read, so that changes during the traversal are not lost'),
    nl: 'De hele feed leidt tot dezelfde stand',
    en: 'Reading the whole feed gives the same state',
    needs: ['C-SNAP-04', 'C-SNAP-05', 'C-FEED-04', 'C-REC-03'],
    check: async ({ history, snapshot, values }, run): Promise<Finding> => {
      const isWhole = history.complete && snapshot.complete && history.records[0]?.record.sequenceNumber === 1;
      if (!isWhole) return { skipped: 'the feed is larger than the part that was read' };
      const state = new Map([...stateOf(history.records)].filter(([, { record }]) => record.op === 'upsert'));
      // The snapshot may have been made long ago, and both may have changed since they were read.
      const afterHistory = await changedSince(textAt(history.pages.at(-1)?.page, 'cursor'), run);
      const afterSnapshot = await changedSince(values.feedCursor, run);
      const changed = new Set([...afterHistory, ...afterSnapshot]);
      const inSnapshot = new Map(snapshot.records.map((seen) => [keyOf(seen.record), seen] as const));
      for (const [key, { record, at }] of state) {
        if (changed.has(key)) continue;
        const found = inSnapshot.get(key)?.record;
        if (found === undefined) return { failed: `${key} is in the feed but not in the snapshot`, at };
        if (JSON.stringify(found.data) !== JSON.stringify(record.data))
          return { failed: `${key} differs in the snapshot`, at };
      }
      const extra = [...inSnapshot].find(([key]) => !state.has(key) && !changed.has(key));
      if (extra === undefined) return undefined;
      return { failed: `${extra[0]} is in the snapshot but not in the feed`, at: extra[1].at };
    },
  },
  'C-SNAP-07': {
    must: draft('Snapshot', 'the current state of all resources'),
    nl: 'Een verwijderde resource staat niet in de huidige stand',
    en: 'A removed resource is not in the snapshot',
    needs: ['C-SNAP-04', 'C-REC-03'],
    check: async ({ history, snapshot, values }, run) => {
      const removed = new Map([...stateOf(history.records)].filter(([, { record }]) => record.op !== 'upsert'));
      if (removed.size === 0) return { skipped: 'the part of the feed that was read removes nothing' };
      // A snapshot may predate the removal, which the feed after it then contains.
      const changed = await changedSince(values.feedCursor, run);
      return firstSeen(snapshot.records, ({ record }) => {
        const key = keyOf(record);
        const removal = removed.get(key)?.record;
        const isLater = Number(record.sequenceNumber) > Number(removal?.sequenceNumber);
        return removal === undefined || isLater || changed.has(key) ? undefined : `${nameOf(removal)} removed ${key}`;
      });
    },
  },
  'C-SNAP-08': {
    must: feedRule(5, '`limit` has a maximum of 1000 and a default of 500'),
    nl: 'Een pagina heeft hoogstens `limit` resources, en nooit meer dan 1000',
    en: 'A page has at most `limit` resources, and never more than 1000',
    needs: ['C-SNAP-04'],
    check: async (_, { ask }) => {
      for (const [limit, most] of Object.entries({ 'limit=1': 1, 'limit=1000': 1000, '': 500 })) {
        const wrong = longerThan((await ask({ to: `{snapshot}?${limit}` })).json, 'records', most);
        if (wrong !== undefined) return wrong;
      }
      return undefined;
    },
  },
  'C-SNAP-09': {
    must: feedRule(7, 'no `total`'),
    nl: 'Er staat geen totaal op een pagina',
    en: 'A page has no total',
    check: ({ snapshot }) => firstSeen(snapshot.pages, ({ page }) => totalIn(page)),
  },
  'C-SNAP-10': {
    may: contract('CursorOfNull, UrlOfNull', 'Plaats van de volgende pagina, of `null` als dit de laatste is.'),
    nl: 'De laatste pagina geeft aan dat zij de laatste is',
    en: 'The last page indicates that it is the last',
    check: ({ snapshot: { pages, complete } }) => {
      const last = pages.at(-1);
      if (!complete || last === undefined) return { skipped: 'the snapshot is larger than the part that was read' };
      if (last.page.cursor === null && last.page.next === null) return undefined;
      return { failed: '`hasMore` is false, but there is a `cursor` or a `next`', at: last.at };
    },
  },
  'C-SNAP-11': {
    may: contract('SnapshotPage', 'Een pagina van de huidige stand.'),
    nl: 'Een pagina voldoet aan het contract',
    en: 'A page matches the contract',
    needs: ['C-SNAP-01', 'C-SNAP-10'],
    check: ({ fault, snapshot }) =>
      firstSeen(snapshot.pages, ({ page }) => fault('SnapshotPage', withoutItems(page, 'records'))),
  },
  'C-SNAP-12': {
    may: contract('OrganisatiecodeFilter, ResourceTypeFilter', 'Alleen van deze organisatie.'),
    nl: 'De filters gelden ook voor de huidige stand',
    en: 'The filters apply to the snapshot too',
    check: async ({ values }, { ask }) => {
      const of = await ask({ to: '{snapshot}?limit=50&organisatiecode={organisation}&resourceType=Vergadering' });
      const other = objectsIn(of.json, 'records').find(
        ({ resource, resourceType }) =>
          resourceType !== 'Vergadering' || textAt(resource, 'organisatiecode') !== values.organisation,
      );
      if (other !== undefined) return `it has ${keyOf(other)}`;
      if (of.status !== 200) return `status ${of.status}`;
      const none = await ask({ to: '{snapshot}?organisatiecode={otherOrganisation}' });
      const isEmpty =
        none.status === 200 &&
        objectsIn(none.json, 'records').length === 0 &&
        textAt(none.json, 'feedCursor') !== undefined;
      return isEmpty ? undefined : 'an organisation code outside the feed gets no empty page with a `feedCursor`';
    },
  },
  'C-SNAP-13': {
    may: contract('info', 'Is hij niet (meer) geldig, dan is het antwoord 400'),
    nl: 'Een verminkte cursor krijgt 400',
    en: 'A garbled cursor gets 400',
    ...gives(400, '{snapshot}?cursor=geen-cursor'),
  },
  'C-SNAP-14': {
    may: contract('SnapshotRecord', 'De huidige stand van een resource, als het record waarmee zij in de feed kwam.'),
    nl: 'Een resource in de huidige stand voldoet aan het contract',
    en: 'A resource in the snapshot matches the contract',
    needs: ['C-SNAP-04', 'C-REC-22'],
    check: ({ fault, snapshot }) =>
      firstSeen(recordsOf(snapshot), ({ record }) => {
        const wrong = fault('SnapshotRecord', record);
        return wrong === undefined ? undefined : `${nameOf(record)}: ${wrong}`;
      }),
  },
});
