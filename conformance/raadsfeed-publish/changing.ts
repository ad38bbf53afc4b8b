import { isSameContent } from '../raadsfeed/same-content.ts';
import { contract, draft, otherTag } from '../raadsfeed/sources.ts';
import { nameOf } from '../raadsfeed/subject.ts';
import { DOCUMENT, ITEM, isALog, notIn, storyChapters } from './story.ts';

const snapshotRule = draft('Snapshot', 'the current state of all resources');

export const CHANGING = storyChapters('P-CHG-01')('P-CHG', ['Wat verandert', 'What changes'], {
  'P-CHG-01': {
    must: draft('Events', 'A resource was created or changed.'),
    nl: 'Een wijziging komt als nieuw record in de feed',
    en: 'A change appears in the feed as a new record',
    needs: ['P-NEW-01'],
    test: async ({ story }) => {
      const { feed, data } = await story.changed();
      const last = story.of(feed, DOCUMENT).at(-1);
      if (story.of(feed, DOCUMENT).length === 2 && isSameContent(last?.record.data, data)) return undefined;
      return { failed: `there is no second record of ${story.keyOfOwn(DOCUMENT)} with its new content`, at: last?.at };
    },
  },
  'P-CHG-02': {
    must: isALog,
    nl: 'Een wijziging verandert eerdere records niet',
    en: 'A change does not alter earlier records',
    test: async ({ story }) => {
      const { before, feed } = await story.changed();
      for (const [i, { record }] of before.records.entries())
        if (JSON.stringify(feed.records[i]?.record) !== JSON.stringify(record))
          return { failed: `${nameOf(record)} differs from before`, at: feed.records[i]?.at };
      return undefined;
    },
  },
  'P-CHG-03': {
    must: draft('Feed record', '`contentHash` Hash of the content'),
    nl: 'Andere inhoud heeft een andere hash',
    en: 'Different content has a different hash',
    test: async ({ story }) => {
      const { feed } = await story.changed();
      const [first, second] = story.of(feed, DOCUMENT);
      if (second?.record.contentHash === undefined) return { skipped: 'a record has no `contentHash`' };
      if (first?.record.contentHash !== second?.record.contentHash) return undefined;
      return { failed: 'the `contentHash` is the same', at: second?.at };
    },
  },
  'P-CHG-04': {
    must: snapshotRule,
    nl: 'Een gewijzigde resource staat één keer in de stand, in de nieuwe versie',
    en: 'A changed resource is in the snapshot once, in its new version',
    test: async ({ story }) => {
      const { data } = await story.changed();
      const found = await story.inSnapshot(DOCUMENT);
      if (found.length === 1 && isSameContent(found[0]?.record.data, data)) return undefined;
      return { failed: `it is there ${found.length} times, or with different content`, at: found[0]?.at };
    },
  },
  'P-CHG-05': {
    must: otherTag,
    nl: 'Een afnemer met de vorige versie krijgt de nieuwe',
    en: 'A consumer with the previous version gets the new one',
    test: async ({ story, ask }) => {
      const { resourceBefore, data } = await story.changed();
      const { etag } = resourceBefore.headers;
      if (resourceBefore.status !== 200 || etag === undefined) return { skipped: 'a resource has no `ETag`' };
      const { status, json } = await ask({ to: resourceBefore.url, headers: { 'if-none-match': etag } });
      if (status === 200 && isSameContent(json, data)) return undefined;
      return `with the previous \`ETag\` it gets status ${status}, and not the new content`;
    },
  },
  'P-CHG-06': {
    must: draft('Feed record', '`contentHash` … suppresses no-op records'),
    nl: 'Een ongewijzigde resource komt niet in de feed',
    en: 'An unchanged resource does not enter the feed',
    test: async ({ story }) => {
      const found = story.of(await story.repeated(), DOCUMENT);
      if (found.length === 2) return undefined;
      return { failed: 'the same content produced another record', at: found.at(-1)?.at };
    },
  },
  'P-CHG-07': {
    must: draft('Events', 'A resource was created or changed.'),
    nl: 'Een resource die weer wordt zoals eerst, komt opnieuw in de feed',
    en: 'A resource that changes back appears in the feed again',
    needs: ['P-CHG-06'],
    test: async ({ story }) => {
      const found = story.of(await story.returned(), DOCUMENT);
      if (found.length === 3 && isSameContent(found[2]?.record.data, found[0]?.record.data)) return undefined;
      return { failed: 'there is no third record, with the content of the first', at: found.at(-1)?.at };
    },
  },
  'P-CHG-08': {
    must: draft('Feed record', '`contentHash` Hash of the content'),
    nl: 'Dezelfde inhoud heeft dezelfde hash',
    en: 'The same content has the same hash',
    needs: ['P-CHG-07'],
    test: async ({ story }) => {
      const found = story.of(await story.returned(), DOCUMENT);
      if (found[0]?.record.contentHash === found[2]?.record.contentHash) return undefined;
      return { failed: 'the first and the third have a different `contentHash`', at: found[2]?.at };
    },
  },
});

export const DELETING = storyChapters('P-DEL-01')('P-DEL', ['Verwijderingen', 'Deletions'], {
  'P-DEL-01': {
    must: draft('Events', '`verwijderreden` (coded) is required'),
    nl: 'Een verwijdering komt in de feed als delete met de opgegeven reden',
    en: 'A removal appears in the feed as a delete with its reason',
    needs: ['P-NEW-01'],
    test: async ({ story }) => {
      const { feed } = await story.deleted();
      const [found] = story.of(feed, ITEM, 'delete');
      if (found?.record.verwijderreden === 'ingetrokken') return undefined;
      return { failed: 'there is no delete with `verwijderreden` ingetrokken', at: found?.at };
    },
  },
  'P-DEL-02': {
    must: draft('Feed record', '`data` … Present for `upsert`.'),
    nl: 'Een delete heeft geen inhoud',
    en: 'A delete has no content',
    test: async ({ story }) => {
      const { feed } = await story.deleted();
      const [found] = story.of(feed, ITEM, 'delete');
      return found?.record.data === undefined ? undefined : { failed: 'the delete has `data`', at: found?.at };
    },
  },
  'P-DEL-03': {
    must: snapshotRule,
    nl: 'Een verwijderde resource staat niet meer in de stand',
    en: 'A deleted resource is no longer in the snapshot',
    test: notIn('deleted', 'snapshot'),
  },
  'P-DEL-04': {
    may: contract('getVergadering', 'Onbekend of verwijderd: 404.'),
    nl: 'Een verwijderde resource staat niet meer op haar adres',
    en: 'A deleted resource is no longer at its address',
    test: notIn('deleted', 'resource'),
  },
  'P-DEL-05': {
    must: draft('Events', 'The resource was removed.'),
    nl: 'Een verwijderde resource staat niet meer in de lijst',
    en: 'A deleted resource is no longer in the list',
    test: notIn('deleted', 'listed'),
  },
  'P-DEL-06': {
    must: draft('Events', 'A resource was created or changed.'),
    nl: 'Een resource die opnieuw gepubliceerd wordt, komt terug',
    en: 'A resource that is published again comes back',
    test: async ({ story }) => {
      const { feed, snapshot } = await story.recreated();
      const last = story.of(feed, ITEM).at(-1);
      if (last?.record.op !== 'upsert') return { failed: 'there is no upsert after the delete', at: last?.at };
      return snapshot === undefined ? 'it is in the feed but not in the snapshot' : undefined;
    },
  },
  'P-DEL-07': {
    open: contract('FeedRecord', '`delete`: de resource is verwijderd.'),
    nl: 'Wat er gebeurt als een resource wordt verwijderd die niet bestaat',
    en: 'What happens when a resource is deleted that does not exist',
    test: async ({ story }) => {
      const count = story.of(await story.deletedTwice(), ITEM, 'delete').length;
      return { seen: count === 1 ? 'there is no second record' : `there are ${count} records` };
    },
  },
});
