import type { JsonObject } from '../../src/lib/json/json-value.ts';
import type { Finding } from '../case.ts';
import { contract, draft } from '../raadsfeed/sources.ts';
import { firstSeen, nameOf, type Walk } from '../raadsfeed/subject.ts';
import { DOCUMENT, isALog, MEETING, notIn, storyChapters } from './story.ts';

const fromHistory = draft('Events', 'Earlier content was removed from the feed history.');
const everywhere = draft('Events', 'Remove the affected content everywhere, including … derived products.');

/** The numbers that a redact names. */
const namedIn = ({ geredigeerdeSequenceNumbers: numbers }: JsonObject): readonly unknown[] =>
  Array.isArray(numbers) ? numbers : [];

const stillIn = ({ records }: Walk, word: string): Finding =>
  firstSeen(records, ({ record }) =>
    JSON.stringify(record).includes(word) ? `${nameOf(record)} still has it` : undefined,
  );

export const REDACTING = storyChapters('P-RED-01')('P-RED', ['Redacties', 'Redactions'], {
  'P-RED-01': {
    must: fromHistory,
    nl: 'Bij een redactie komt er een redact in de feed',
    en: 'A redaction appears in the feed as a redact',
    needs: ['P-CHG-01'],
    test: async ({ story }) => {
      const { before, feed } = await story.redacted();
      const last = Number(before.records.at(-1)?.record.sequenceNumber);
      const found = story.of(feed, DOCUMENT, 'redact').some(({ record }) => Number(record.sequenceNumber) > last);
      return found ? undefined : 'there is no redact after the earlier records';
    },
  },
  'P-RED-02': {
    must: draft('Events', 'The record states which `sequenceNumber`s are affected.'),
    nl: 'De redact noemt elk nummer met weggehaalde inhoud',
    en: 'The redact names every number whose content it removed',
    test: async ({ story }) => {
      const { before, feed } = await story.redacted();
      const had = story.of(before, DOCUMENT).map(({ record }) => record.sequenceNumber);
      const last = story.of(feed, DOCUMENT).at(-1);
      const named = namedIn(last?.record ?? {});
      const missing = had.filter((number) => !named.includes(number));
      return missing.length === 0 ? undefined : { failed: `it does not name ${missing.join(', ')}`, at: last?.at };
    },
  },
  'P-RED-03': {
    must: fromHistory,
    nl: 'Weggehaalde inhoud staat nergens meer in de feed',
    en: 'Redacted content is no longer anywhere in the feed',
    test: async ({ story }) => {
      const { feed } = await story.redacted();
      return stillIn(feed, story.word);
    },
  },
  'P-RED-04': {
    must: draft('Events', 'fills the place of a removed sequence number, so the sequence has no silent gaps'),
    nl: 'Een redact laat geen gat zonder uitleg',
    en: 'A redact leaves no gap without an explanation',
    needs: ['P-RED-01', 'P-NEW-03'],
    test: async ({ story }) => {
      const { before, feed } = await story.redacted();
      const explained = new Set(feed.records.flatMap(({ record }) => [record.sequenceNumber, ...namedIn(record)]));
      const missing = before.records.find(({ record }) => !explained.has(record.sequenceNumber));
      return missing && `number ${String(missing.record.sequenceNumber)} is missing, and is not named`;
    },
  },
  'P-RED-05': {
    should: everywhere,
    nl: 'Weggehaalde inhoud staat niet meer in de stand',
    en: 'Redacted content is no longer in the snapshot',
    test: notIn('redacted', 'snapshot'),
  },
  'P-RED-06': {
    should: everywhere,
    nl: 'Weggehaalde inhoud staat niet meer op haar adres',
    en: 'Redacted content is no longer at its address',
    test: notIn('redacted', 'resource'),
  },
  'P-RED-07': {
    should: everywhere,
    nl: 'Weggehaalde inhoud staat niet meer in de lijst',
    en: 'Redacted content is no longer in the list',
    test: notIn('redacted', 'listed'),
  },
  'P-RED-08': {
    must: fromHistory,
    nl: 'Weggehaalde inhoud komt niet meer in de stroom voor',
    en: 'Redacted content no longer appears on the stream',
    needs: ['P-RED-01', 'P-NEW-11'],
    test: async ({ client, story, values }) => {
      const { head } = await story.begin();
      const { feed } = await story.redacted();
      const last = String(feed.records.at(-1)?.record.sequenceNumber);
      const at = await client.readStream(
        { to: values.stream, headers: { 'last-event-id': String(head) } },
        (text) => new RegExp(`^id: ?${last}$`, 'm').test(text) && text.endsWith('\n\n'),
        5000,
      );
      return at.text.includes(story.word) ? { failed: 'an event still has the content', at } : undefined;
    },
  },
  'P-RED-09': {
    must: fromHistory,
    nl: 'Een afnemer die een pagina met weggehaalde inhoud bewaarde, krijgt de nieuwe',
    en: 'A consumer that cached a page with redacted content gets the new one',
    test: async ({ story, ask }) => {
      const { before } = await story.redacted();
      const { at } = story.of(before, DOCUMENT)[0] ?? {};
      const etag = at?.headers.etag;
      if (at === undefined || etag === undefined) return { skipped: 'the page has no `ETag`' };
      const { status, body } = await ask({ to: at.url, headers: { 'if-none-match': etag } });
      if (status === 200 && !body.includes(story.word)) return undefined;
      return `with the \`ETag\` of before the page gets status ${status}`;
    },
  },
  'P-RED-10': {
    may: contract('Verwijderreden', 'Waarom iets verwijderd is.'),
    nl: 'Een redact heeft de opgegeven reden',
    en: 'A redact has the given reason',
    test: async ({ story }) => {
      const { feed } = await story.redacted();
      const last = story.of(feed, DOCUMENT).at(-1);
      if (last?.record.verwijderreden === 'persoonsgegevens') return undefined;
      return { failed: 'it has no `verwijderreden` persoonsgegevens', at: last?.at };
    },
  },
  'P-RED-11': {
    must: isALog,
    nl: 'Een redact laat andere records ongewijzigd',
    en: 'A redact leaves other records unchanged',
    test: async ({ story }) => {
      const { before, feed } = await story.redacted();
      const [first, second] = [before, feed].map((walked) => story.of(walked, MEETING)[0]);
      if (JSON.stringify(first?.record) === JSON.stringify(second?.record)) return undefined;
      return { failed: `the record of ${story.keyOfOwn(MEETING)} differs from before`, at: second?.at };
    },
  },
  'P-RED-12': {
    must: fromHistory,
    nl: 'Ook inhoud van een al verwijderde resource verdwijnt uit de geschiedenis',
    en: 'Content of an already deleted resource also disappears from the history',
    needs: ['P-RED-03', 'P-DEL-01'],
    test: async ({ story }) => {
      return stillIn(await story.redactedDeleted(), story.withdrawnWord);
    },
  },
});
