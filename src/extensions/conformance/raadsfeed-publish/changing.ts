import type { Chapter } from '../case.ts';
import { isSameContent } from '../raadsfeed/same-content.ts';
import { contract, draft, rfc } from '../raadsfeed/sources.ts';
import { nameOf } from '../raadsfeed/subject.ts';
import { DOCUMENT, ITEM, type PublishSubject } from './story.ts';

const snapshotRule = draft('Snapshot', 'the current state of all resources');
const noOp = draft('Feed record', '`contentHash` … suppresses no-op records');

export const CHANGING: Chapter<PublishSubject> = {
  id: 'P-CHG',
  title: { nl: 'Wat verandert', en: 'What changes' },
  cases: [
    {
      id: 'P-CHG-01',
      title: { nl: 'komt als nieuw record in de feed', en: 'comes into the feed as a new record' },
      level: 'must',
      source: draft('Events', 'A resource was created or changed.'),
      dependsOn: ['P-NEW-01'],
      check: async ({ story }) => {
        const { feed, data } = await story.changed();
        const last = story.of(feed, DOCUMENT).at(-1);
        return story.of(feed, DOCUMENT).length === 2 && isSameContent(last?.record.data, data)
          ? undefined
          : { failed: `there is no second record of ${story.keyOfOwn(DOCUMENT)} with its new content`, at: last?.at };
      },
    },
    {
      id: 'P-CHG-02',
      title: { nl: 'laat staan wat er al gelezen was', en: 'leaves what had been read' },
      level: 'must',
      source: draft('Feed rules 4', 'never inserts a record before a sequence number that has already been read'),
      dependsOn: ['P-CHG-01'],
      check: async ({ story }) => {
        const { before, feed } = await story.changed();
        for (const [i, { record }] of before.records.entries())
          if (JSON.stringify(feed.records[i]?.record) !== JSON.stringify(record))
            return { failed: `${nameOf(record)} is another than before`, at: feed.records[i]?.at };
        return undefined;
      },
    },
    {
      id: 'P-CHG-03',
      title: { nl: 'heeft een andere hash', en: 'has another hash' },
      level: 'must',
      source: draft('Feed record', '`contentHash` Hash of the content'),
      dependsOn: ['P-CHG-01'],
      check: async ({ story }) => {
        const { feed } = await story.changed();
        const [first, second] = story.of(feed, DOCUMENT);
        return first?.record.contentHash !== second?.record.contentHash
          ? undefined
          : { failed: 'the `contentHash` is the same', at: second?.at };
      },
    },
    {
      id: 'P-CHG-04',
      title: { nl: 'staat een keer in de stand, zoals het nu is', en: 'is in the snapshot once, as it is now' },
      level: 'must',
      source: snapshotRule,
      dependsOn: ['P-CHG-01'],
      check: async ({ story }) => {
        const { data } = await story.changed();
        const found = await story.inSnapshot(DOCUMENT);
        return found.length === 1 && isSameContent(found[0]?.record.data, data)
          ? undefined
          : { failed: `it is there ${found.length} times, or with another content`, at: found[0]?.at };
      },
    },
    {
      id: 'P-CHG-05',
      title: { nl: 'is ook nieuw voor wie de resource al had', en: 'is also new for a consumer that had the resource' },
      level: 'must',
      source: rfc(
        9110,
        '13.1.2',
        'the condition is false if one of the listed tags matches the entity tag of the selected representation. Otherwise, the condition is true.',
      ),
      dependsOn: ['P-CHG-01'],
      check: async ({ story }, { ask }) => {
        const { address, resourceBefore, data } = await story.changed();
        const { etag } = resourceBefore.headers;
        if (resourceBefore.status !== 200 || etag === undefined) return { skipped: 'a resource has no `ETag`' };
        const { status, json } = await ask({ to: address, headers: { 'if-none-match': etag } });
        return status === 200 && isSameContent(json, data)
          ? undefined
          : { failed: `with the \`ETag\` of before it gives status ${status}, and not the new content` };
      },
    },
    {
      id: 'P-CHG-06',
      title: { nl: 'Wat gelijk blijft, komt niet in de feed', en: 'What stays the same does not come into the feed' },
      level: 'must',
      source: noOp,
      dependsOn: ['P-CHG-01'],
      check: async ({ story }) => {
        const { feed } = await story.repeated();
        const found = story.of(feed, DOCUMENT);
        return found.length === 2
          ? undefined
          : { failed: `the same content gave another record`, at: found.at(-1)?.at };
      },
    },
    {
      id: 'P-CHG-07',
      title: { nl: 'Wat terugverandert, komt in de feed', en: 'What changes back comes into the feed' },
      level: 'must',
      source: draft('Events', 'A resource was created or changed.'),
      dependsOn: ['P-CHG-06'],
      check: async ({ story }) => {
        const { feed } = await story.returned();
        const found = story.of(feed, DOCUMENT);
        return found.length === 3 && isSameContent(found[2]?.record.data, found[0]?.record.data)
          ? undefined
          : { failed: 'there is no third record, with the content of the first', at: found.at(-1)?.at };
      },
    },
    {
      id: 'P-CHG-08',
      title: { nl: 'Dezelfde inhoud heeft dezelfde hash', en: 'The same content has the same hash' },
      level: 'must',
      source: draft('Feed record', '`contentHash` Hash of the content'),
      dependsOn: ['P-CHG-07'],
      check: async ({ story }) => {
        const { feed } = await story.returned();
        const found = story.of(feed, DOCUMENT);
        return found[0]?.record.contentHash === found[2]?.record.contentHash
          ? undefined
          : { failed: 'the first and the third have another `contentHash`', at: found[2]?.at };
      },
    },
  ],
};

export const DELETING: Chapter<PublishSubject> = {
  id: 'P-DEL',
  title: { nl: 'Wat verwijderd wordt', en: 'What is deleted' },
  cases: [
    {
      id: 'P-DEL-01',
      title: { nl: 'komt als delete met zijn reden in de feed', en: 'comes into the feed as a delete with its reason' },
      level: 'must',
      source: draft('Events', '`verwijderreden` (coded) is required'),
      dependsOn: ['P-NEW-01'],
      check: async ({ story }) => {
        const { feed } = await story.deleted();
        const found = story.of(feed, ITEM).find(({ record }) => record.op === 'delete');
        return found?.record.verwijderreden === 'ingetrokken'
          ? undefined
          : { failed: 'there is no delete with `verwijderreden` ingetrokken', at: found?.at };
      },
    },
    {
      id: 'P-DEL-02',
      title: { nl: 'heeft daarin geen inhoud', en: 'has no content there' },
      level: 'must',
      source: draft('Feed record', '`data` … Present for `upsert`.'),
      dependsOn: ['P-DEL-01'],
      check: async ({ story }) => {
        const { feed } = await story.deleted();
        const found = story.of(feed, ITEM).find(({ record }) => record.op === 'delete');
        return found?.record.data === undefined ? undefined : { failed: 'the delete has `data`', at: found?.at };
      },
    },
    {
      id: 'P-DEL-03',
      title: { nl: 'staat niet meer in de stand', en: 'is no longer in the snapshot' },
      level: 'must',
      source: snapshotRule,
      dependsOn: ['P-DEL-01'],
      check: async ({ story }) => {
        const { gone } = await story.deleted();
        return gone.snapshot === undefined ? undefined : { failed: 'it is still there', at: gone.snapshot.at };
      },
    },
    {
      id: 'P-DEL-04',
      title: { nl: 'is niet meer op zijn adres', en: 'is no longer at its address' },
      level: 'must',
      source: draft('Events', 'Remove the resource.'),
      dependsOn: ['P-DEL-01'],
      check: async ({ story }) => {
        const { gone } = await story.deleted();
        return [404, 410].includes(gone.resource.status)
          ? undefined
          : { failed: `its address gives status ${gone.resource.status}`, at: gone.resource };
      },
    },
    {
      id: 'P-DEL-05',
      title: { nl: 'staat niet meer in de lijst', en: 'is no longer in the list' },
      level: 'must',
      source: draft('Events', 'Remove the resource.'),
      dependsOn: ['P-DEL-01'],
      check: async ({ story }) => {
        const { gone } = await story.deleted();
        return gone.listed === undefined ? undefined : { failed: 'it is still there' };
      },
    },
    {
      id: 'P-DEL-06',
      title: { nl: 'komt terug als het opnieuw gepubliceerd wordt', en: 'comes back when it is published again' },
      level: 'must',
      source: draft('Events', 'A resource was created or changed.'),
      dependsOn: ['P-DEL-01'],
      check: async ({ story }) => {
        const { feed, snapshot } = await story.recreated();
        const last = story.of(feed, ITEM).at(-1);
        if (last?.record.op !== 'upsert') return { failed: 'there is no upsert after the delete', at: last?.at };
        return snapshot === undefined ? { failed: 'it is in the feed, and not in the snapshot' } : undefined;
      },
    },
    {
      id: 'P-DEL-07',
      title: {
        nl: 'Wat er niet is nog eens verwijderen: wat er gebeurt',
        en: 'Deleting what is not there: what happens',
      },
      level: 'open',
      source: contract('FeedRecord', '`delete`: de resource is verwijderd.'),
      dependsOn: ['P-DEL-01'],
      check: async ({ story }) => {
        const { feed } = await story.deletedTwice();
        const count = story.of(feed, ITEM).filter(({ record }) => record.op === 'delete').length;
        return { seen: count === 1 ? 'there is no second record' : `there are ${count} records` };
      },
    },
  ],
};
