import { objectsIn, textAt } from '../json-members.ts';
import { isSameContent } from '../raadsfeed/same-content.ts';
import { CLOCK_SKEW_MS } from '../raadsfeed/service-document.ts';
import { contract, draft, encoded, feedRule, otherTag } from '../raadsfeed/sources.ts';
import { eventsOf } from '../raadsfeed/stream.ts';
import { firstSeen, organisationIn } from '../raadsfeed/subject.ts';
import { DOCUMENT, ITEM, MEETING, ODD, storyChapters, TOGETHER } from './story.ts';

const NEW = [MEETING, ITEM, DOCUMENT];

export const APPEARING = storyChapters('P-NEW-01')('P-NEW', ['Nieuwe resources', 'New resources'], {
  'P-NEW-01': {
    must: draft('Events', 'A resource was created or changed. `data` holds the full object.'),
    nl: 'Een gepubliceerde resource komt in de feed',
    en: 'A published resource appears in the feed',
    test: async ({ story }) => {
      const { feed } = await story.created();
      const missing = NEW.find((own) => story.of(feed, own, 'upsert').length === 0);
      return missing === undefined ? undefined : `there is no upsert of ${story.keyOfOwn(missing)}`;
    },
  },
  'P-NEW-02': {
    must: feedRule(4, 'never inserts a record before a sequence number that has already been read'),
    nl: 'Nieuwe records staan na alle eerdere',
    en: 'New records come after all earlier ones',
    test: async ({ story }) => {
      const { head } = await story.begin();
      const { feed } = await story.created();
      const records = NEW.flatMap((own) => story.of(feed, own));
      return firstSeen(records, ({ record: { sequenceNumber: number } }) =>
        Number(number) <= head ? `number ${String(number)} is given where ${head} was the highest` : undefined,
      );
    },
  },
  'P-NEW-03': {
    must: feedRule(4, 'A gap in the sequence occurs only as an explicit `redact` record'),
    nl: 'Nieuwe records krijgen aansluitende nummers',
    en: 'New records get consecutive numbers',
    needs: ['P-NEW-02'],
    test: async ({ story }) => {
      const { head } = await story.begin();
      const { feed } = await story.created();
      const numbers = feed.records.map(({ record }) => record.sequenceNumber);
      return firstSeen(feed.records, (_, i) =>
        numbers[i] === head + 1 + i ? undefined : `after ${head} comes ${numbers.join(', ')}`,
      );
    },
  },
  'P-NEW-04': {
    must: draft('Feed record', '`sequenceNumber` Assigned by the source holder when the change is recorded.'),
    nl: 'Nieuwe records staan in de volgorde van publicatie',
    en: 'New records are in order of publication',
    test: async ({ story }) => {
      const { feed } = await story.created();
      const numbers = NEW.map((own) => Number(story.of(feed, own)[0]?.record.sequenceNumber));
      if (numbers.every((number, i) => i === 0 || number > (numbers[i - 1] ?? 0))) return undefined;
      return `in order they have the numbers ${numbers.join(', ')}`;
    },
  },
  'P-NEW-05': {
    must: draft('Feed record', '`data` The complete resource object'),
    nl: 'Een record heeft de gepubliceerde inhoud',
    en: 'A record has the published content',
    test: async ({ story }) => {
      const { feed, data } = await story.created();
      for (const own of NEW) {
        const [found] = story.of(feed, own);
        if (!isSameContent(found?.record.data, data.get(own)))
          return { failed: `the \`data\` of ${story.keyOfOwn(own)} differs`, at: found?.at };
      }
      return undefined;
    },
  },
  'P-NEW-06': {
    must: draft('Feed record', '`storedAt` Time of recording.'),
    nl: 'Een record meldt wanneer het is vastgelegd',
    en: 'A record says when it was stored',
    test: async ({ story }) => {
      const { startedAt } = await story.begin();
      const { feed } = await story.created();
      const [found] = story.of(feed, MEETING);
      const at = Date.parse(String(found?.record.storedAt));
      if (at >= startedAt - CLOCK_SKEW_MS && at <= Date.now() + CLOCK_SKEW_MS) return undefined;
      return { failed: `\`storedAt\` is ${String(found?.record.storedAt)}`, at: found?.at };
    },
  },
  'P-NEW-07': {
    must: feedRule(1, 'a `head` value that tells a consumer how far it is behind'),
    nl: 'Een nieuw record telt mee in `head`',
    en: 'A new record counts in `head`',
    needs: ['P-NEW-02'],
    test: async ({ story }) => {
      const { feed } = await story.created();
      const last = feed.pages.at(-1);
      const number = Number(feed.records.at(-1)?.record.sequenceNumber);
      if (Number(last?.page.head) >= number) return undefined;
      return { failed: `\`head\` is ${String(last?.page.head)}, and there is a number ${number}`, at: last?.at };
    },
  },
  'P-NEW-08': {
    must: draft('Snapshot', 'the current state of all resources'),
    nl: 'Een nieuwe resource staat in de huidige stand',
    en: 'A new resource is in the snapshot',
    test: async ({ story }) => {
      const { data } = await story.created();
      const [found] = await story.inSnapshot(MEETING);
      if (found === undefined) return `${story.keyOfOwn(MEETING)} is not in it`;
      if (isSameContent(found.record.data, data.get(MEETING))) return undefined;
      return { failed: 'it has another content there', at: found.at };
    },
  },
  'P-NEW-09': {
    may: contract('getVergadering', 'Levert de huidige stand.'),
    nl: 'Een nieuwe resource is op haar adres te lezen',
    en: 'A new resource can be read at its address',
    test: async ({ story, ask }) => {
      const { data } = await story.created();
      const { status, json } = await ask({ to: story.addressOfOwn(MEETING) });
      if (status === 200 && isSameContent(json, data.get(MEETING))) return undefined;
      return `its address gets status ${status} instead of the published content`;
    },
  },
  'P-NEW-10': {
    may: contract('getVergaderingen', 'De vergaderingen.'),
    nl: 'Een nieuwe resource staat in de lijst van haar organisatie',
    en: "A new resource is in its organisation's list",
    test: async ({ story }) => {
      const { data } = await story.created();
      if (isSameContent(await story.inCollection(MEETING), data.get(MEETING))) return undefined;
      return `${story.keyOfOwn(MEETING)} is not in it as it was published`;
    },
  },
  'P-NEW-11': {
    should: draft(
      'Events; Feed rules 10',
      'delivers new records as server-sent events … The stream gives no synchronisation guarantee',
    ),
    nl: 'Een nieuw record verschijnt in een al geopende stroom',
    en: 'A new record arrives on an open stream',
    test: async ({ service, story }) => {
      const { stream } = await story.created();
      const at = await stream;
      if (service.streamUrl === undefined && at.status === 404) return { skipped: 'a stream is not offered' };
      const id = story.idOf(MEETING);
      if (eventsOf(at.text).some(({ data = '' }) => data.includes(id))) return undefined;
      return { failed: `no event is about ${id}`, at };
    },
  },
  'P-NEW-12': {
    must: otherTag,
    nl: 'Een afnemer met de vorige pagina krijgt de nieuwe, geen 304',
    en: 'A consumer with the previous page gets the new one, not a 304',
    test: async ({ story, ask }) => {
      const { at } = await story.begin();
      const { etag } = at.headers;
      if (etag === undefined) return { skipped: 'the page has no `ETag`' };
      await story.created();
      const again = await ask({ to: at.url, headers: { 'if-none-match': etag } });
      if (again.status === 200 && objectsIn(again.json, 'records').length > 0) return undefined;
      return `a request with the previous ETag gets status ${again.status} instead of the new page`;
    },
  },
  'P-NEW-13': {
    may: encoded,
    nl: 'Een resource is op haar adres te lezen, ook met bijzondere tekens in de bronidentificatie',
    en: 'A resource can be read at its address, even with special characters in its `bronidentificatie`',
    needs: ['P-NEW-09'],
    test: async ({ story, ask }) => {
      await story.odd();
      const { status, json } = await ask({ to: story.addressOfOwn(ODD) });
      if (status === 200 && textAt(json, 'bronidentificatie') === story.idOf(ODD)) return undefined;
      return `the address of ${story.idOf(ODD)} gets status ${status}`;
    },
  },
  'P-NEW-14': {
    must: feedRule(4, 'A gap in the sequence occurs only as an explicit `redact` record'),
    nl: 'Resources die tegelijk worden gepubliceerd, gaan niet verloren en laten geen gat in de nummers',
    en: 'Resources published at the same time are not lost and leave no gap in the numbers',
    needs: ['P-NEW-03'],
    test: async ({ story }) => {
      const { head } = await story.begin();
      const feed = await story.together();
      const lost = TOGETHER.find((own) => story.of(feed, own).length !== 1);
      if (lost !== undefined) return `${story.keyOfOwn(lost)} is ${story.of(feed, lost).length} times in the feed`;
      return firstSeen(feed.records, ({ record: { sequenceNumber: number } }, i) =>
        number === head + 1 + i ? undefined : `number ${String(number)} does not follow the one before it`,
      );
    },
  },
  'P-NEW-15': {
    should: draft('Servicedocument', '`laatstBijgewerkt` (how current)'),
    nl: 'Na een publicatie is `laatstBijgewerkt` van de organisatie actueel',
    en: "After a publication the organisation's `laatstBijgewerkt` is current",
    needs: ['P-NEW-06'],
    test: async ({ story, values, ask }) => {
      const { feed } = await story.created();
      const storedAt = String(story.of(feed, DOCUMENT)[0]?.record.storedAt);
      const { json } = await ask({ to: '{base}/' });
      const current = textAt(organisationIn(json, values.organisation), 'laatstBijgewerkt');
      if (current === undefined) return 'the organisation has no `laatstBijgewerkt`';
      if (Date.parse(current) >= Date.parse(storedAt) - 1000) return undefined;
      return `\`laatstBijgewerkt\` is ${current}, and a record was stored at ${storedAt}`;
    },
  },
});
