import { isRecord } from '../../src/lib/json/json-value.ts';
import { firstFaulty } from '../case.ts';
import type { Exchange } from '../exchange.ts';
import { objectsIn, textAt } from '../json-members.ts';
import { after, linkTo, longerThan, numbersOf, startingAt, totalIn, withoutItems } from './pages.ts';
import { contract, draft, feedRule } from './sources.ts';
import { feedChapters, firstSeen, gives, isWholeAddress, redactedIn, type SeenRecord } from './subject.ts';

/** Link relations that every page of the feed has. */
const RELATIONS = ['next', 'self', 'service-desc'];

/** Why a page does not begin with this record. */
function leadsTo(seen: SeenRecord | undefined, { json }: Exchange): string | undefined {
  const [following] = numbersOf(json);
  const expected = seen?.record.sequenceNumber;
  return following === expected ? undefined : `it leads to record ${String(following)} instead of ${String(expected)}`;
}

export const FEED_PAGES = feedChapters('C-FEED-22')('C-FEED', ["Pagina's van de feed", 'Pages of the feed'], {
  'C-FEED-01': {
    must: feedRule(1, 'a `head` value that tells a consumer how far it is behind'),
    nl: 'Een pagina geeft met `head` en `hasMore` aan hoe ver de afnemer is',
    en: '`head` and `hasMore` on a page show how far the consumer is',
    needs: [],
    ask: [{ to: '{feed}' }],
    check: (_, { answers: [answer] }) => {
      const page = answer?.json;
      if (!isRecord(page)) return 'the body is not a JSON object';
      if (!Number.isSafeInteger(page.head)) return '`head` is not a number';
      return typeof page.hasMore === 'boolean' ? undefined : '`hasMore` is not a boolean';
    },
  },
  'C-FEED-02': {
    must: feedRule(4, 'Records are always delivered ascending'),
    nl: 'De nummers van de records lopen op',
    en: 'The numbers of the records ascend',
    check: ({ history: { records } }) =>
      firstSeen(records, ({ record }, place) => {
        const before = Number(records[place - 1]?.record.sequenceNumber);
        const number = Number(record.sequenceNumber);
        return number <= before ? `${number} comes after ${before}` : undefined;
      }),
  },
  'C-FEED-03': {
    must: feedRule(3, 'It denotes a position in the complete feed'),
    nl: 'De volgende pagina gaat verder waar de vorige ophield',
    en: 'The next page continues where the previous one ended',
    needs: ['C-FEED-02'],
    check: async (_, { ask }) => {
      const both = await ask({ to: '{feed}?limit=2' });
      const first = await ask({ to: '{feed}?limit=1' });
      const second = await ask({ to: `{feed}?limit=1&${after(first.json)}` });
      const expected = numbersOf(both.json);
      if (expected.length < 2) return { skipped: 'the feed has fewer than two records' };
      const found = [...numbersOf(first.json), ...numbersOf(second.json)];
      if (found.join() === expected.join()) return undefined;
      return `one by one the numbers are ${found.join(', ')}; on one page ${expected.join(', ')}`;
    },
  },
  'C-FEED-04': {
    must: feedRule(4, 'A gap in the sequence occurs only as an explicit `redact` record'),
    nl: 'Er ontbreekt geen nummer',
    en: 'No number is missing',
    needs: ['C-FEED-02'],
    check: ({ history: { records, complete } }) => {
      const named = new Set(records.flatMap(({ record }) => (record.op === 'redact' ? redactedIn(record) : [])));
      let last: number | undefined;
      for (const { record, at } of records) {
        const number = Number(record.sequenceNumber);
        for (let missing = (last ?? number - 1) + 1; missing < number; missing += 1)
          if (!named.has(missing))
            return complete
              ? { failed: `number ${missing} is missing, and no redaction names it`, at }
              : { skipped: `number ${missing} is missing; a redaction beyond the part that was read may name it` };
        last = number;
      }
      return last === undefined ? { skipped: 'the feed is empty' } : undefined;
    },
  },
  'C-FEED-05': {
    must: feedRule(5, 'Paging uses `cursor` and `limit`'),
    nl: 'Een pagina heeft hoogstens `limit` records',
    en: 'A page has at most `limit` records',
    ask: [{ to: '{feed}?limit=1' }],
    check: (_, { answers: [answer] }) => longerThan(answer?.json, 'records', 1),
  },
  'C-FEED-06': {
    must: feedRule(5, '`limit` has a maximum of 1000'),
    nl: 'Een `limit` van 1000 mag',
    en: 'A `limit` of 1000 is accepted',
    ask: [{ to: '{feed}?limit=1000' }],
    check: (_, { answers: [answer] }) => longerThan(answer?.json, 'records', 1000),
  },
  'C-FEED-07': {
    must: feedRule(5, '`limit` has a maximum of 1000'),
    nl: 'Een pagina heeft nooit meer dan 1000 records',
    en: 'A page never has more than 1000 records',
    ask: [{ to: '{feed}?limit=1001' }],
    expect: { status: [200, 400, 404, 422] },
    check: (_, { answers: [answer] }) =>
      answer?.status === 200 ? longerThan(answer.json, 'records', 1000) : undefined,
  },
  'C-FEED-08': {
    must: feedRule(5, 'a default of 500'),
    nl: 'Zonder `limit` heeft een pagina hoogstens 500 records',
    en: 'Without `limit` a page has at most 500 records',
    ask: [{ to: '{feed}' }],
    check: (_, { answers: [answer] }) => longerThan(answer?.json, 'records', 500),
  },
  'C-FEED-09': {
    may: contract('Limit', 'minimum: 1 maximum: 1000'),
    nl: 'Een `limit` die geen getal van 1 tot 1000 is, krijgt 400',
    en: 'A `limit` that is not a number from 1 to 1000 gets 400',
    needs: ['C-FEED-01'],
    ...gives(400, ...['0', '-1', '1001', '1.5', 'veel', ''].map((limit) => `{feed}?limit=${limit}`)),
  },
  'C-FEED-10': {
    must: feedRule(2, '`hasMore: false` tells the consumer it has caught up'),
    nl: 'Een afnemer die volgens `hasMore` bij is, heeft `head` bereikt',
    en: 'A consumer that has caught up according to `hasMore` has reached `head`',
    needs: ['C-FEED-02'],
    check: ({ history }) =>
      firstSeen(history.pages, ({ page }) => {
        const last = Number(numbersOf(page).at(-1) ?? 0);
        const isBehind = page.hasMore === false && last > 0 && last < Number(page.head);
        return isBehind ? `\`hasMore\` is false at ${last}, and \`head\` is ${page.head}` : undefined;
      }),
  },
  'C-FEED-11': {
    must: feedRule(2, '`hasMore: false` tells the consumer it has caught up'),
    nl: 'Zolang er meer is, is `hasMore` waar',
    en: '`hasMore` is true while there is more',
    ask: [{ to: '{feed}?limit=1' }],
    check: ({ history }, { answers: [answer] }) => {
      if (history.records.length < 2) return { skipped: 'the feed has fewer than two records' };
      if (isRecord(answer?.json) && answer.json.hasMore === true) return undefined;
      return 'a page with only the first record says that there is no more';
    },
  },
  'C-FEED-12': {
    must: feedRule(1, 'a `head` value that tells a consumer how far it is behind'),
    nl: '`head` is minstens het laatste nummer op de pagina',
    en: '`head` is at least the last number on the page',
    check: ({ history }) =>
      firstSeen(history.pages, ({ page }) => {
        const last = Math.max(0, ...numbersOf(page).map(Number));
        return Number(page.head) < last ? `\`head\` is ${page.head}, and record ${last} is on the page` : undefined;
      }),
  },
  'C-FEED-13': {
    must: feedRule(2, '`hasMore: false` tells the consumer it has caught up'),
    nl: 'Een afnemer die doorleest, komt bij en krijgt dan een lege pagina',
    en: 'A consumer that keeps reading catches up and then gets an empty page',
    needs: ['C-FEED-22', 'C-SNAP-01'],
    check: async ({ values }, { ask }) => {
      let cursor = values.feedCursor;
      for (let pages = 0; pages < 20; pages += 1) {
        const { json } = await ask({ to: `{feed}?${startingAt(cursor)}` });
        const next = textAt(json, 'cursor');
        const isEmpty = numbersOf(json).length === 0;
        if (isRecord(json) && json.hasMore === false && isEmpty) return undefined;
        if (next === undefined) return 'a page that is not the last has no `cursor`';
        if (isEmpty && next === cursor) return 'an empty page announces more, but its cursor does not advance';
        cursor = next;
      }
      return { skipped: 'the feed grows faster than it was read' };
    },
  },
  'C-FEED-14': {
    must: feedRule(4, 'never inserts a record before a sequence number that has already been read'),
    nl: 'Er komt geen record bij vóór een al gelezen nummer',
    en: 'No record is inserted before a number that was already read',
    needs: ['C-FEED-02'],
    ask: [{ to: '{feed}?limit=50' }],
    check: ({ history }, { answers: [again] }) => {
      const read = new Set(history.records.map(({ record }) => record.sequenceNumber));
      const [first, last] = [history.records[0], history.records.at(-1)].map((seen) => seen?.record.sequenceNumber);
      const inserted = numbersOf(again?.json).find(
        (number) => Number(number) > Number(first) && Number(number) < Number(last) && !read.has(number),
      );
      return inserted === undefined ? undefined : `number ${inserted} was not there at the first reading`;
    },
  },
  'C-FEED-15': {
    must: feedRule(7, 'Total counts per page are not returned'),
    nl: 'Er staat geen totaal op een pagina',
    en: 'A page has no total',
    needs: ['C-FEED-01'],
    check: ({ history }) => firstSeen(history.pages, ({ page }) => totalIn(page)),
  },
  'C-FEED-16': {
    must: feedRule(9, 'the feed response carries `Cache-Control` and `Link`'),
    nl: 'Een pagina meldt hoe lang zij gecachet mag worden',
    en: 'A page says how long it may be cached',
    needs: ['C-FEED-01'],
    ask: [{ to: '{feed}' }],
    expect: { headers: { 'cache-control': /\S/ } },
  },
  'C-FEED-17': {
    must: feedRule(9, 'the feed response carries `Cache-Control` and `Link`'),
    nl: 'Een pagina heeft de header `Link`',
    en: 'A page has the header `Link`',
    needs: ['C-FEED-01'],
    ask: [{ to: '{feed}?limit=1' }],
    expect: { headers: { link: /<[^<>]*>/ } },
  },
  'C-FEED-18': {
    may: contract('LinkFeed', '`rel="next"` staat er altijd'),
    nl: '`Link` met `rel="next"` leidt naar de volgende pagina',
    en: '`Link` with `rel="next"` leads to the next page',
    needs: ['C-FEED-03', 'C-FEED-17'],
    ask: [{ to: '{feed}?limit=1' }],
    check: async ({ history }, { answers: [answer], ask }) => {
      if (history.records.length < 2) return { skipped: 'the feed has fewer than two records' };
      const target = linkTo(answer?.headers.link, 'next');
      const next = target === undefined ? null : URL.parse(target, answer?.url);
      if (next === null) return 'the header has no `rel="next"`';
      return leadsTo(history.records[1], await ask({ to: next.href }));
    },
  },
  'C-FEED-19': {
    may: contract('FeedPage', 'Adres van de volgende pagina'),
    nl: '`next` op de pagina is het volledige adres van de volgende pagina',
    en: '`next` on the page is the full address of the following page',
    needs: ['C-FEED-03'],
    ask: [{ to: '{feed}?limit=1' }],
    check: async ({ history }, { answers: [answer], ask }) => {
      if (history.records.length < 2) return { skipped: 'the feed has fewer than two records' };
      const next = textAt(answer?.json, 'next');
      if (!isWholeAddress(next)) return '`next` is not a full address';
      return leadsTo(history.records[1], await ask({ to: next }));
    },
  },
  'C-FEED-20': {
    may: contract('FeedPage', 'Een pagina van de feed.'),
    nl: 'Een pagina voldoet aan het contract',
    en: 'A page matches the contract',
    needs: ['C-FEED-01'],
    check: ({ fault, history }) =>
      firstSeen(history.pages, ({ page }) => {
        const wrong = fault('FeedPage', withoutItems(page, 'records'));
        return wrong && `the page does not match FeedPage: ${wrong}`;
      }),
  },
  'C-FEED-21': {
    may: contract('info', 'Onbekende query-parameters worden geweigerd.'),
    nl: 'Een onbekende parameter krijgt 400',
    en: 'An unknown parameter gets 400',
    needs: ['C-FEED-01'],
    ...gives(400, '{feed}?limit=1&onbekend=1'),
  },
  'C-FEED-22': {
    may: contract('FeedPage', 'required: - records - cursor'),
    nl: 'De records staan in `records`, en de positie om verder te lezen in `cursor`',
    en: 'The records are in `records`, and the position to continue from is in `cursor`',
    needs: ['C-FEED-01'],
    ask: [{ to: '{feed}?limit=1' }],
    check: (_, { answers: [answer] }) => {
      if (!isRecord(answer?.json) || !Array.isArray(answer.json.records)) return '`records` is not a list';
      return textAt(answer.json, 'cursor') === undefined ? '`cursor` is not a text' : undefined;
    },
  },
  'C-FEED-23': {
    should: draft('What the service does, area C 1', 'The feed is a log, not a query interface'),
    nl: 'Een gelezen record verandert niet',
    en: 'A record does not change after it was read',
    ask: [{ to: '{feed}?limit=50' }, { to: '{feed}?limit=50' }],
    check: (_, { answers: [first, second] }) => {
      const again = new Map(objectsIn(second?.json, 'records').map((record) => [record.sequenceNumber, record]));
      for (const record of objectsIn(first?.json, 'records')) {
        const other = again.get(record.sequenceNumber);
        // Only a redaction in between may change it.
        if (other?.op !== 'redact' && JSON.stringify(other) !== JSON.stringify(record))
          return `record ${String(record.sequenceNumber)} differs when it is read again`;
      }
      return undefined;
    },
  },
  'C-FEED-24': {
    may: contract('LinkFeed', '`rel="next"` staat er altijd … verder `rel="self"` en `rel="service-desc"`'),
    nl: '`Link` noemt altijd het vervolg, de pagina zelf en het contract',
    en: '`Link` always names the next page, the page itself and the contract',
    needs: ['C-FEED-17', 'C-SNAP-01'],
    ask: [{ to: '{feed}?limit=1' }, ({ values }) => ({ to: `{feed}?${startingAt(values.feedCursor)}` })],
    check: (_, { answers }) =>
      firstFaulty(answers, ({ headers }) => {
        const missing = RELATIONS.find((relation) => linkTo(headers.link, relation) === undefined);
        return missing && `the header has no \`rel="${missing}"\``;
      }),
  },
});
