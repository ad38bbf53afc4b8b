import { isRecord } from '../../../lib/json/json-value.ts';
import type { Chapter } from '../case.ts';
import { addressOf } from '../raadsfeed/collections.ts';
import { isSameContent } from '../raadsfeed/same-content.ts';
import { CLOCK_SKEW_MS } from '../raadsfeed/service-document.ts';
import { contract, draft, rfc } from '../raadsfeed/sources.ts';
import { eventsOf } from '../raadsfeed/stream.ts';
import { objectsIn, textAt } from '../raadsfeed/subject.ts';
import { DOCUMENT, ITEM, MEETING, ODD, type PublishSubject, TOGETHER } from './story.ts';

const feedRule = (number: number, quote: string) => draft(`Feed rules ${number}`, quote);
const NEW = [MEETING, ITEM, DOCUMENT];

export const APPEARING: Chapter<PublishSubject> = {
  id: 'P-NEW',
  title: { nl: 'Wat gepubliceerd wordt', en: 'What is published' },
  cases: [
    {
      id: 'P-NEW-01',
      title: { nl: 'komt in de feed', en: 'appears in the feed' },
      level: 'must',
      source: draft('Events', 'A resource was created or changed. `data` holds the full object.'),
      check: async ({ story }) => {
        const { feed } = await story.created();
        const missing = NEW.find((own) => !story.of(feed, own).some(({ record }) => record.op === 'upsert'));
        return missing === undefined ? undefined : { failed: `there is no upsert of ${story.keyOfOwn(missing)}` };
      },
    },
    {
      id: 'P-NEW-02',
      title: { nl: 'staat na alles wat er al was', en: 'comes after all that was there' },
      level: 'must',
      source: feedRule(4, 'never inserts a record before a sequence number that has already been read'),
      dependsOn: ['P-NEW-01'],
      check: async ({ story }) => {
        const { head } = await story.begin();
        const { feed } = await story.created();
        const early = NEW.flatMap((own) => story.of(feed, own)).find(
          ({ record }) => Number(record.sequenceNumber) <= head,
        );
        return early === undefined
          ? undefined
          : {
              failed: `number ${String(early.record.sequenceNumber)} is given where ${head} was the highest`,
              at: early.at,
            };
      },
    },
    {
      id: 'P-NEW-03',
      title: { nl: 'krijgt nummers zonder gat', en: 'gets numbers without a gap' },
      level: 'must',
      source: feedRule(4, 'A gap in the sequence occurs only as an explicit `redact` record'),
      dependsOn: ['P-NEW-02'],
      check: async ({ story }) => {
        const { head } = await story.begin();
        const { feed } = await story.created();
        const wrong = feed.records.find(({ record }, i) => record.sequenceNumber !== head + 1 + i);
        return wrong === undefined
          ? undefined
          : {
              failed: `after ${head} comes ${feed.records.map(({ record }) => record.sequenceNumber).join(', ')}`,
              at: wrong.at,
            };
      },
    },
    {
      id: 'P-NEW-04',
      title: { nl: 'staat in de volgorde waarin het gepubliceerd is', en: 'is in the order in which it was published' },
      level: 'must',
      source: draft('Feed record', '`sequenceNumber` Assigned by the source holder when the change is recorded.'),
      dependsOn: ['P-NEW-01'],
      check: async ({ story }) => {
        const { feed } = await story.created();
        const numbers = NEW.map((own) => Number(story.of(feed, own)[0]?.record.sequenceNumber));
        return numbers.every((number, i) => i === 0 || number > (numbers[i - 1] ?? 0))
          ? undefined
          : { failed: `one after the other they have the numbers ${numbers.join(', ')}` };
      },
    },
    {
      id: 'P-NEW-05',
      title: { nl: 'heeft de inhoud die gepubliceerd is', en: 'has the content that was published' },
      level: 'must',
      source: draft('Feed record', '`data` The complete resource object'),
      dependsOn: ['P-NEW-01'],
      check: async ({ story }) => {
        const { feed, data } = await story.created();
        for (const own of NEW) {
          const [found] = story.of(feed, own);
          if (!isSameContent(found?.record.data, data.get(story.keyOfOwn(own))))
            return { failed: `the \`data\` of ${story.keyOfOwn(own)} is another`, at: found?.at };
        }
        return undefined;
      },
    },
    {
      id: 'P-NEW-06',
      title: { nl: 'zegt wanneer het vastgelegd is', en: 'says when it was recorded' },
      level: 'must',
      source: draft('Feed record', '`storedAt` Time of recording.'),
      dependsOn: ['P-NEW-01'],
      check: async ({ story }) => {
        const { startedAt } = await story.begin();
        const { feed } = await story.created();
        const [found] = story.of(feed, MEETING);
        const at = Date.parse(String(found?.record.storedAt));
        return at >= startedAt - CLOCK_SKEW_MS && at <= Date.now() + CLOCK_SKEW_MS
          ? undefined
          : { failed: `\`storedAt\` is ${String(found?.record.storedAt)}`, at: found?.at };
      },
    },
    {
      id: 'P-NEW-07',
      title: { nl: 'telt mee in `head`', en: 'counts in `head`' },
      level: 'must',
      source: feedRule(1, 'a `head` value that tells a consumer how far it is behind'),
      dependsOn: ['P-NEW-02'],
      check: async ({ story }) => {
        const { feed } = await story.created();
        const last = feed.pages.at(-1);
        const number = Number(feed.records.at(-1)?.record.sequenceNumber);
        return Number(last?.page.head) >= number
          ? undefined
          : { failed: `\`head\` is ${String(last?.page.head)}, and there is a number ${number}`, at: last?.at };
      },
    },
    {
      id: 'P-NEW-08',
      title: { nl: 'staat in de huidige stand', en: 'is in the snapshot' },
      level: 'must',
      source: draft('Snapshot', 'the current state of all resources'),
      dependsOn: ['P-NEW-01'],
      check: async ({ story }) => {
        const { data } = await story.created();
        const [found] = await story.inSnapshot(MEETING);
        if (found === undefined) return { failed: `${story.keyOfOwn(MEETING)} is not in it` };
        return isSameContent(found.record.data, data.get(story.keyOfOwn(MEETING)))
          ? undefined
          : { failed: 'it has another content there', at: found.at };
      },
    },
    {
      id: 'P-NEW-09',
      title: { nl: 'is op zijn adres te lezen', en: 'can be read at its address' },
      level: 'should',
      source: contract('getVergadering', 'Levert de huidige stand.'),
      dependsOn: ['P-NEW-01'],
      check: async ({ story }, { ask }) => {
        const { data } = await story.created();
        const { status, json } = await ask({ to: addressOf(story.recordOf(MEETING)) });
        return status === 200 && isSameContent(json, data.get(story.keyOfOwn(MEETING)))
          ? undefined
          : { failed: `its address gives status ${status}, and not what was published` };
      },
    },
    {
      id: 'P-NEW-10',
      title: { nl: 'staat in de lijst van zijn organisatie', en: 'is in the list of its organisation' },
      level: 'should',
      source: contract('getVergaderingen', 'De vergaderingen.'),
      dependsOn: ['P-NEW-01'],
      check: async ({ story }) => {
        const { data } = await story.created();
        return isSameContent(await story.inCollection(MEETING), data.get(story.keyOfOwn(MEETING)))
          ? undefined
          : { failed: `${story.keyOfOwn(MEETING)} is not in it as it was published` };
      },
    },
    {
      id: 'P-NEW-11',
      title: { nl: 'komt uit een stroom die al open was', en: 'comes out of a stream that was open' },
      level: 'must',
      source: draft('Endpoints', 'Server-sent events stream of new records.'),
      dependsOn: ['P-NEW-01'],
      check: async ({ service, story }) => {
        const { stream } = await story.created();
        const at = await stream;
        if (service.streamUrl === undefined && at.status === 404) return { skipped: 'a stream is not offered' };
        const { bronidentificatie } = story.resourceOf(MEETING);
        return eventsOf(at.text).some(({ data = '' }) => data.includes(bronidentificatie))
          ? undefined
          : { failed: `no event is about ${bronidentificatie}`, at };
      },
    },
    {
      id: 'P-NEW-12',
      title: {
        nl: 'is er ook voor wie de vorige pagina al had',
        en: 'is also there for a consumer that had the page before',
      },
      level: 'must',
      source: rfc(
        9110,
        '13.1.2',
        'the condition is false if one of the listed tags matches the entity tag of the selected representation. Otherwise, the condition is true.',
      ),
      dependsOn: ['P-NEW-01'],
      check: async ({ story }, { ask }) => {
        const { at } = await story.begin();
        const { etag } = at.headers;
        if (etag === undefined) return { skipped: 'the page has no `ETag`' };
        await story.created();
        const again = await ask({ to: at.url, headers: { 'if-none-match': etag } });
        return again.status === 200 && objectsIn(again.json, 'records').length > 0
          ? undefined
          : { failed: `the page of before gives status ${again.status}, and not what is new` };
      },
    },
    {
      id: 'P-NEW-13',
      title: {
        nl: 'is op zijn adres te lezen, ook met bijzondere tekens in de bronidentificatie',
        en: 'can be read at its address, also with special characters in its `bronidentificatie`',
      },
      level: 'should',
      source: contract(
        'info',
        'Tekens in een `bronidentificatie` die in een pad niet kunnen, ook `/`, staan daar procent-gecodeerd.',
      ),
      dependsOn: ['P-NEW-09'],
      check: async ({ story }, { ask }) => {
        await story.odd();
        const { bronidentificatie } = story.resourceOf(ODD);
        const { status, json } = await ask({ to: addressOf(story.recordOf(ODD)) });
        return status === 200 && textAt(json, 'bronidentificatie') === bronidentificatie
          ? undefined
          : { failed: `the address of ${bronidentificatie} gives status ${status}` };
      },
    },
    {
      id: 'P-NEW-14',
      title: {
        nl: 'raakt niet kwijt als het tegelijk gepubliceerd wordt, en laat geen gat',
        en: 'is not lost when it is published at the same time, and leaves no gap',
      },
      level: 'must',
      source: feedRule(4, 'A gap in the sequence occurs only as an explicit `redact` record'),
      dependsOn: ['P-NEW-03'],
      check: async ({ story }) => {
        const { head } = await story.begin();
        const { feed } = await story.together();
        const lost = TOGETHER.find((own) => story.of(feed, own).length !== 1);
        if (lost !== undefined)
          return { failed: `${story.keyOfOwn(lost)} is ${story.of(feed, lost).length} times in the feed` };
        const wrong = feed.records.find(({ record }, i) => record.sequenceNumber !== head + 1 + i);
        return wrong === undefined
          ? undefined
          : { failed: `number ${String(wrong.record.sequenceNumber)} does not follow the one before it`, at: wrong.at };
      },
    },
    {
      id: 'P-NEW-15',
      title: {
        nl: 'maakt de organisatie bijgewerkt',
        en: 'makes the organisation up to date',
      },
      level: 'should',
      source: draft('Servicedocument', '`laatstBijgewerkt` (how current)'),
      dependsOn: ['P-NEW-06'],
      check: async ({ story, values }, { ask }) => {
        const { feed } = await story.created();
        const storedAt = String(story.of(feed, DOCUMENT)[0]?.record.storedAt);
        const { json } = await ask({ to: '{base}/' });
        const organisation = objectsIn(json, 'organisaties').find((one) => one.organisatiecode === values.organisation);
        const current = isRecord(organisation) ? textAt(organisation, 'laatstBijgewerkt') : undefined;
        if (current === undefined) return { failed: 'the organisation has no `laatstBijgewerkt`' };
        return Date.parse(current) >= Date.parse(storedAt) - 1000
          ? undefined
          : { failed: `\`laatstBijgewerkt\` is ${current}, and a record was stored at ${storedAt}` };
      },
    },
  ],
};
