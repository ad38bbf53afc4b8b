import { contract, draft, feedRule } from '../raadsfeed/sources.ts';
import { publish, sceneChapter } from './scene.ts';

const upsertRule = draft('Events', 'Replace the state held for that `resource`');

export const FOLLOWING = sceneChapter('K-FEED', ['De feed volgen', 'Following the feed'], {
  'K-FEED-01': {
    must: upsertRule,
    nl: 'Een upsert vervangt de hele resource',
    en: 'An upsert replaces the whole resource',
    prepare: (feed) => feed.upsert('a', { omschrijving: 'Vervalt', auteur: 'De griffie' }),
    changes: [(feed) => feed.upsert('a', { titel: 'Zonder omschrijving' })],
  },
  'K-FEED-02': {
    must: draft('Events', 'Remove the resource.'),
    nl: 'Een delete verwijdert de resource',
    en: 'A delete removes the resource',
    prepare: (feed) => publish(feed, 'a', 'b'),
    changes: [(feed) => feed.delete('a')],
  },
  'K-FEED-03': {
    must: draft('Events', 'A resource was created or changed.'),
    nl: 'Een resource die na een delete opnieuw wordt gepubliceerd, is terug',
    en: 'A resource published again after a delete is back',
    needs: ['K-FEED-02'],
    prepare: (feed) => publish(feed, 'a', 'b'),
    changes: [(feed) => feed.delete('a'), (feed) => publish(feed, 'a')],
  },
  'K-FEED-04': {
    must: feedRule(2, '`hasMore: false` tells the consumer it has caught up'),
    nl: 'De afnemer leest door tot `hasMore` onwaar is',
    en: 'The consumer reads until `hasMore` is false',
    prepare: (feed) => {
      feed.pageSize = 2;
      publish(feed, 'a');
    },
    play: async ({ feed, lookOnce }) => {
      publish(feed, 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i');
      return lookOnce();
    },
  },
  'K-FEED-05': {
    must: feedRule(2, '`hasMore: false` tells the consumer it has caught up'),
    nl: 'Een pagina zonder records is niet het einde zolang `hasMore` waar is',
    en: 'A page without records is not the end while `hasMore` is true',
    prepare: (feed) => publish(feed, 'a'),
    play: async ({ feed, lookOnce }) => {
      publish(feed, 'b');
      const cursor = feed.cursor('/feed', feed.head - 1, 0, 'verder');
      const next = `${feed.url}/feed?cursor=${encodeURIComponent(cursor)}`;
      feed.answerOn('/feed', ({ query, answer }) => {
        if (query.get('cursor') !== cursor) answer({ records: [], cursor, head: feed.head, hasMore: true, next });
      });
      return lookOnce();
    },
  },
  'K-FEED-06': {
    must: feedRule(3, 'The cursor is opaque'),
    nl: 'Een cursor is een tekst zonder betekenis voor de afnemer',
    en: 'A cursor is an opaque text',
    needs: ['K-BEG-03', 'K-FEED-04'],
    prepare: (feed) => {
      feed.pageSize = 1;
      feed.dress = (cursor) => `+/=&?#%2F é"${'0'.repeat(300)}${cursor}`;
      publish(feed, 'a', 'b');
    },
    changes: [(feed) => publish(feed, 'c', 'd')],
  },
  'K-FEED-07': {
    must: feedRule(4, 'Records are always delivered ascending'),
    nl: 'Wijzigingen van een resource worden in volgorde verwerkt',
    en: 'Changes to a resource are applied in order',
    needs: ['K-FEED-02'],
    prepare: (feed) => publish(feed, 'a', 'c'),
    changes: [
      (feed) => {
        feed.upsert('a', { titel: 'Tweede' });
        feed.delete('a');
        feed.upsert('a', { titel: 'Laatste' });
        feed.upsert('b', { titel: 'Even' });
        feed.delete('b');
      },
    ],
  },
  'K-FEED-08': {
    must: draft('Resource identity rules 1', 'organisation code plus `bronidentificatie`'),
    nl: 'Dezelfde bronidentificatie bij een andere organisatie is een andere resource',
    en: 'The same `bronidentificatie` from another organisation is another resource',
    needs: ['K-FEED-02'],
    prepare: (feed) => {
      const code = feed.organisatiecode.replace('gm', 'ws');
      feed.organisations.push(code);
      publish(feed, 'a', 'b');
      feed.upsert('a', { titel: 'Van het waterschap' }, { code });
    },
    changes: [(feed) => feed.delete('a')],
  },
  'K-FEED-09': {
    may: contract(
      'info',
      'De identiteit van een resource is `organisatiecode` met `bronidentificatie` (en het `resourceType`)',
    ),
    nl: 'Dezelfde bronidentificatie bij een andere soort is een andere resource',
    en: 'The same `bronidentificatie` with another resource type is another resource',
    needs: ['K-FEED-02'],
    prepare: (feed) => {
      publish(feed, 'a', 'b');
      feed.upsert('a', {}, { kind: 'Vergadering' });
    },
    changes: [(feed) => feed.delete('a')],
  },
  'K-FEED-10': {
    must: upsertRule,
    nl: 'Een pagina die twee keer komt, leidt niet tot dubbelen',
    en: 'A page that comes twice causes no duplicates',
    needs: ['K-FEED-04'],
    prepare: (feed) => {
      feed.pageSize = 2;
      publish(feed, 'a');
    },
    changes: [
      (feed) => {
        publish(feed, 'b', 'c', 'd', 'e');
        feed.answerOn('/feed', ({ page, answer }) => {
          const first = page();
          answer(first);
          // The second request gets a cached answer to the first.
          feed.answerOn('/feed', (second) => {
            feed.rule = undefined;
            second.answer({ ...first, cursor: feed.cursor('/feed', 3, 0, 'nogmaals') });
          });
        });
      },
    ],
  },
  'K-FEED-11': {
    must: upsertRule,
    nl: 'Na een afgebroken antwoord ontstaan geen dubbelen of gaten',
    en: 'After a truncated answer nothing is duplicated or missing',
    prepare: (feed) => publish(feed, 'a'),
    changes: [
      (feed) => {
        publish(feed, 'b', 'c');
        feed.answerOn('/feed', ({ page, response }) => {
          feed.rule = undefined;
          const text = JSON.stringify(page());
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
          response.write(text.slice(0, text.length - 20), () => response.destroy());
        });
      },
      (feed) => publish(feed, 'd'),
    ],
  },
  'K-FEED-12': {
    should: feedRule(5, 'Paging uses `cursor` and `limit`'),
    nl: 'De cursor is genoeg: `next` mag ontbreken',
    en: 'The cursor is enough: `next` may be absent',
    needs: ['K-FEED-04'],
    prepare: (feed) => {
      feed.pageSize = 1;
      publish(feed, 'a', 'b');
      feed.rule = ({ path, page, answer }) => {
        const body = page();
        if (path !== '/' && body.status === undefined) answer({ ...body, next: undefined });
      };
    },
    changes: [(feed) => publish(feed, 'c', 'd')],
  },
  'K-FEED-13': {
    must: feedRule(5, '`limit` has a maximum of 1000'),
    nl: 'De afnemer verzoekt om hoogstens 1000 tegelijk',
    en: 'The consumer requests at most 1000 at a time',
    prepare: (feed) => publish(feed, 'a'),
    play: async ({ feed }) => {
      const most = Math.max(...feed.calls.map(({ query }) => Number(query.get('limit') ?? 1)));
      return most > 1000 ? `it requests \`limit=${most}\`` : undefined;
    },
  },
  'K-FEED-14': {
    must: draft('Feed record', '`data` The complete resource object'),
    nl: 'De inhoud blijft ongewijzigd',
    en: 'The content is unchanged',
    prepare: (feed) => feed.upsert('a', { titel: 'Raad\u2028“é”\u202e𐍈🗳️ </script>\\u0041\t', omvang: 0 }),
    changes: [
      (feed) => feed.upsert('b', { omvang: 9007199254740991, omschrijving: '', gerelateerdinformatieobject: null }),
    ],
  },
  'K-FEED-15': {
    should: draft('Feed record', '`data` The complete resource object'),
    nl: 'Onbekende leden van de inhoud blijven erin',
    en: 'Unknown members of the content are kept',
    prepare: (feed) => feed.upsert('a', { eigenveld: { van: ['de', 'bron'] } }),
    changes: [(feed) => feed.upsert('a', { eigenveld: { van: ['een', 'andere'] } })],
  },
  'K-FEED-16': {
    may: contract('FeedRecord', 'Andere leden dan deze kan een afnemer overslaan.'),
    nl: 'Onbekende leden van een record of een pagina storen niet',
    en: 'Unknown members of a record or page do no harm',
    prepare: (feed) => publish(feed, 'a'),
    changes: [
      (feed) => {
        publish(feed, 'b');
        feed.records = feed.records.map((record) => ({ ...record, extra: { later: true } }));
        feed.answerOn('/feed', ({ page, answer }) => answer({ ...page(), versie: '0.0.3' }));
      },
    ],
  },
  'K-FEED-17': {
    open: draft('Feed record', 'One of `upsert`, `delete`, `redact`'),
    nl: 'Wat er gebeurt met een record met een onbekende `op`',
    en: 'What happens to a record with an unknown `op`',
    prepare: (feed) => publish(feed, 'a'),
    play: async ({ feed, read }) => {
      feed.add({ op: 'merge' }, 'a');
      publish(feed, 'b');
      const names = await read();
      const kept = names.includes('a') ? 'the resource is kept' : 'the resource is gone';
      return { seen: `${kept}, and the record after it is ${names.includes('b') ? 'applied' : 'not applied yet'}` };
    },
  },
  'K-FEED-18': {
    open: feedRule(4, 'A gap in the sequence occurs only as an explicit `redact` record'),
    nl: 'Wat er gebeurt als een nummer ontbreekt',
    en: 'What happens when a number is missing',
    prepare: (feed) => publish(feed, 'a'),
    play: async ({ feed, read }) => {
      publish(feed, 'weg', 'b');
      const records = feed.records.filter(({ sequenceNumber }) => sequenceNumber === 3);
      feed.answerOn('/feed', ({ page, answer }) => answer({ ...page(), records }));
      const found = (await read()).includes('b');
      return { seen: found ? 'the record after it is applied' : 'the record after it is not applied yet' };
    },
  },
});
