import type { Chapter } from '../case.ts';
import { contract, draft } from '../raadsfeed/sources.ts';
import { nameOf } from '../raadsfeed/subject.ts';
import { DOCUMENT, MEETING, type PublishSubject } from './story.ts';

const everywhere = draft('Events', 'Remove the affected content everywhere, including … caches');

export const REDACTING: Chapter<PublishSubject> = {
  id: 'P-RED',
  title: { nl: 'Waarvan de inhoud weggehaald wordt', en: 'What is redacted' },
  cases: [
    {
      id: 'P-RED-01',
      title: { nl: 'komt als redact in de feed', en: 'comes into the feed as a redact' },
      level: 'must',
      source: draft('Events', 'Earlier content was removed from the feed history.'),
      dependsOn: ['P-CHG-01'],
      check: async ({ story }) => {
        const { before, feed } = await story.redacted();
        const last = Number(before.records.at(-1)?.record.sequenceNumber);
        const found = story
          .of(feed, DOCUMENT)
          .some(({ record }) => record.op === 'redact' && Number(record.sequenceNumber) > last);
        return found ? undefined : { failed: 'there is no redact after what was there' };
      },
    },
    {
      id: 'P-RED-02',
      title: { nl: 'met elk nummer dat inhoud had', en: 'with every number that had content' },
      level: 'must',
      source: draft('Events', 'The record states which `sequenceNumber`s are affected.'),
      dependsOn: ['P-RED-01'],
      check: async ({ story }) => {
        const { before, feed } = await story.redacted();
        const had = story.of(before, DOCUMENT).map(({ record }) => record.sequenceNumber);
        const last = story.of(feed, DOCUMENT).at(-1);
        const { geredigeerdeSequenceNumbers: named } = last?.record ?? {};
        const missing = had.filter((number) => !Array.isArray(named) || !named.includes(number));
        return missing.length === 0 ? undefined : { failed: `it does not name ${missing.join(', ')}`, at: last?.at };
      },
    },
    {
      id: 'P-RED-03',
      title: { nl: 'staat nergens meer in de feed', en: 'is nowhere in the feed any more' },
      level: 'must',
      source: everywhere,
      dependsOn: ['P-RED-01'],
      check: async ({ story }) => {
        const { feed } = await story.redacted();
        const found = feed.records.find(({ record }) => JSON.stringify(record).includes(story.word));
        return found === undefined ? undefined : { failed: `${nameOf(found.record)} still has it`, at: found.at };
      },
    },
    {
      id: 'P-RED-04',
      title: { nl: 'laat geen gat zonder uitleg', en: 'leaves no gap without an explanation' },
      level: 'must',
      source: draft('Events', 'fills the place of a removed sequence number, so the sequence has no silent gaps'),
      dependsOn: ['P-RED-01', 'P-NEW-03'],
      check: async ({ story }) => {
        const { before, feed } = await story.redacted();
        const there = new Set(feed.records.map(({ record }) => record.sequenceNumber));
        const named = new Set(
          feed.records.flatMap(({ record: { geredigeerdeSequenceNumbers: numbers } }) =>
            Array.isArray(numbers) ? numbers : [],
          ),
        );
        const missing = before.records
          .map(({ record }) => record.sequenceNumber)
          .find((number) => !there.has(number) && !named.has(number));
        return missing === undefined ? undefined : { failed: `number ${String(missing)} is missing, and is not named` };
      },
    },
    {
      id: 'P-RED-05',
      title: { nl: 'staat niet meer in de stand', en: 'is no longer in the snapshot' },
      level: 'must',
      source: everywhere,
      dependsOn: ['P-RED-01'],
      check: async ({ story }) => {
        const { gone } = await story.redacted();
        return gone.snapshot === undefined ? undefined : { failed: 'it is still there', at: gone.snapshot.at };
      },
    },
    {
      id: 'P-RED-06',
      title: { nl: 'is niet meer op zijn adres', en: 'is no longer at its address' },
      level: 'must',
      source: everywhere,
      dependsOn: ['P-RED-01'],
      check: async ({ story }) => {
        const { gone } = await story.redacted();
        return [404, 410].includes(gone.resource.status)
          ? undefined
          : { failed: `its address gives status ${gone.resource.status}`, at: gone.resource };
      },
    },
    {
      id: 'P-RED-07',
      title: { nl: 'staat niet meer in de lijst', en: 'is no longer in the list' },
      level: 'must',
      source: everywhere,
      dependsOn: ['P-RED-01'],
      check: async ({ story }) => {
        const { gone } = await story.redacted();
        return gone.listed === undefined ? undefined : { failed: 'it is still there' };
      },
    },
    {
      id: 'P-RED-08',
      title: { nl: 'komt niet meer uit de stroom', en: 'does not come out of the stream any more' },
      level: 'must',
      source: everywhere,
      dependsOn: ['P-RED-01', 'P-NEW-11'],
      check: async ({ client, story, values }) => {
        const { head } = await story.begin();
        const { feed } = await story.redacted();
        const last = String(feed.records.at(-1)?.record.sequenceNumber);
        const at = await client.readStream(
          { to: values.stream ?? '', headers: { 'last-event-id': String(head) } },
          (text) => new RegExp(`^id: ?${last}$`, 'm').test(text) && text.endsWith('\n\n'),
          5000,
        );
        return at.text.includes(story.word) ? { failed: 'an event still has the content', at } : undefined;
      },
    },
    {
      id: 'P-RED-09',
      title: {
        nl: 'blijft niet in een bewaarde pagina: wie die had, krijgt de nieuwe',
        en: 'does not stay in a page that was kept: a consumer that had it gets the new one',
      },
      level: 'must',
      source: everywhere,
      dependsOn: ['P-RED-01'],
      check: async ({ story }, { ask }) => {
        const { before } = await story.redacted();
        const { at } = story.of(before, DOCUMENT)[0] ?? {};
        const etag = at?.headers.etag;
        if (at === undefined || etag === undefined) return { skipped: 'the page has no `ETag`' };
        const { status, body } = await ask({ to: at.url, headers: { 'if-none-match': etag } });
        return status === 200 && !body.includes(story.word)
          ? undefined
          : { failed: `with the \`ETag\` of before the page gives status ${status}` };
      },
    },
    {
      id: 'P-RED-10',
      title: { nl: 'heeft een reden', en: 'has a reason' },
      level: 'should',
      source: contract('Verwijderreden', 'Waarom iets verwijderd is.'),
      dependsOn: ['P-RED-01'],
      check: async ({ story }) => {
        const { feed } = await story.redacted();
        const last = story.of(feed, DOCUMENT).at(-1);
        return last?.record.verwijderreden === 'persoonsgegevens'
          ? undefined
          : { failed: 'it has no `verwijderreden` persoonsgegevens', at: last?.at };
      },
    },
    {
      id: 'P-RED-11',
      title: { nl: 'laat al het andere zoals het was', en: 'leaves all else as it was' },
      level: 'must',
      source: draft('Feed rules 4', 'never inserts a record before a sequence number that has already been read'),
      dependsOn: ['P-RED-01'],
      check: async ({ story }) => {
        const { before, feed } = await story.redacted();
        const [first, second] = [before, feed].map((walked) => story.of(walked, MEETING)[0]);
        return JSON.stringify(first?.record) === JSON.stringify(second?.record)
          ? undefined
          : { failed: `the record of ${story.keyOfOwn(MEETING)} is another than before`, at: second?.at };
      },
    },
    {
      id: 'P-RED-12',
      title: {
        nl: 'verdwijnt ook uit de geschiedenis van wat al verwijderd was',
        en: 'also disappears from the history of what was deleted already',
      },
      level: 'must',
      source: draft('Events', 'Earlier content was removed from the feed history.'),
      dependsOn: ['P-RED-03', 'P-DEL-01'],
      check: async ({ story }) => {
        const { feed } = await story.redactedDeleted();
        const found = feed.records.find(({ record }) => JSON.stringify(record).includes(story.withdrawnWord));
        return found === undefined ? undefined : { failed: `${nameOf(found.record)} still has it`, at: found.at };
      },
    },
  ],
};
