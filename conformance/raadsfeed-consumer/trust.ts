import { isRecord, type JsonObject } from '../../src/lib/json/json-value.ts';
import { Skipped } from '../case.ts';
import { textAt } from '../json-members.ts';
import { contract, draft } from '../raadsfeed/sources.ts';
import { type FeedSubject, organisationIn, pageAddress, walk } from '../raadsfeed/subject.ts';
import { playedContent } from './played-feed.ts';
import { publish, type SceneRun, sceneChapter } from './scene.ts';

const named = draft('Servicedocument', 'names the organisations in the feed');
/** Names that a program might mistake for something else. */
const ODD_NAMES = [
  '__proto__',
  'constructor',
  'a/b',
  '../../extensions',
  '100%',
  'a b+c&d=e?f#g',
  '“é”',
  '🗳️',
  'x\'y"z',
  'n'.repeat(500),
];

export const TRUST = sceneChapter('K-TRUST', ['Onbetrouwbare gegevens', 'Untrustworthy data'], {
  'K-TRUST-01': {
    should: named,
    nl: 'Een resource van een organisatie die de bron niet noemt, wordt niet overgenomen',
    en: 'A resource of an organisation that the source does not list is not copied',
    prepare: (feed) => feed.upsert('a'),
    play: async ({ feed, look }) => {
      feed.upsert('vreemd', {}, { code: 'gm0000' });
      feed.upsert('b');
      await look(['vreemd']);
    },
  },
  'K-TRUST-02': {
    should: named,
    nl: 'Een resource van een andere organisatie wordt ook niet uit de stand overgenomen',
    en: 'A resource of another organisation is not copied from the snapshot either',
    needs: ['K-BEG-01'],
    prepare: (feed) => {
      feed.upsert('a');
      feed.upsert('vreemd', {}, { code: 'gm0000' });
    },
    unread: true,
    play: ({ look }) => look(['vreemd']),
  },
  'K-TRUST-03': {
    may: contract('Bronidentificatie', 'Identificatie van een resource bij de bron.'),
    nl: 'Elke bronidentificatie is gewoon een tekst',
    en: 'Every `bronidentificatie` is plain text',
    needs: ['K-FEED-02'],
    prepare: (feed) => publish(feed, ...ODD_NAMES),
    changes: [
      (feed) => {
        for (const name of ODD_NAMES.slice(1)) feed.delete(name);
      },
    ],
  },
  'K-TRUST-04': {
    should: draft('Authentication', 'requires no authentication'),
    nl: 'De afnemer stuurt geen toegangstoken mee',
    en: 'The consumer sends no access token',
    needs: ['K-BEG-01'],
    prepare: (feed) => feed.upsert('a'),
    play: async ({ feed }) => {
      const sent = feed.calls.find(
        ({ request: { headers } }) => (headers.authorization ?? headers.cookie) !== undefined,
      );
      return sent === undefined ? undefined : 'it sends `Authorization` or `Cookie`';
    },
  },
  'K-TRUST-05': {
    open: draft('Resource identity rules 1', 'The identity of a resource'),
    nl: 'Wat er gebeurt met inhoud van een andere resource dan het record noemt',
    en: 'What happens to content of a resource other than the one that the record names',
    prepare: (feed) => feed.upsert('a'),
    play: async ({ feed, read }) => {
      feed.upsert('y', { bronidentificatie: 'x' });
      const held = await read();
      const found = ['x', 'y'].filter((name) => held.includes(name));
      return { seen: found.length === 0 ? 'it is not applied' : `it is applied to ${found.join(' and ')}` };
    },
  },
  'K-TRUST-06': {
    open: draft('Feed record', '`contentHash` Hash of the content'),
    nl: 'Wat er gebeurt bij een hash die niet bij de inhoud hoort',
    en: 'What happens for a hash that does not match the content',
    prepare: (feed) => feed.upsert('a'),
    play: async ({ feed, read }) => {
      const data = playedContent('b', feed.organisatiecode);
      feed.add({ op: 'upsert', contentHash: `sha256:${'0'.repeat(64)}`, data }, 'b');
      const found = (await read()).includes('b');
      return { seen: found ? 'it is applied' : 'it is not applied yet' };
    },
  },
});

const WORD = 'Geheim-Woord-van-Jansen';

/** @throws {Skipped} when the consumer does not publish */
function ownFeedOf({ consumer }: SceneRun): FeedSubject {
  if (consumer.ownFeed === undefined) throw new Skipped('it is not an aggregator (`--feed`)');
  return consumer.ownFeed;
}

/** The records that the aggregator publishes about the feed's organisation. */
async function published(run: SceneRun): Promise<readonly JsonObject[]> {
  const { client, values } = ownFeedOf(run);
  const { organisatiecode } = run.feed;
  const { records } = await walk(client, pageAddress(values.feed, { organisatiecode }));
  return records.map(({ record }) => record);
}

async function currentAsOf(run: SceneRun): Promise<string | undefined> {
  const { client, values } = ownFeedOf(run);
  const { json } = await client.send({ to: `${values.base}/` });
  return textAt(organisationIn(json, run.feed.organisatiecode), 'laatstBijgewerkt');
}

export const AGGREGATORS = sceneChapter('K-AGG', ['De eigen feed van een aggregator', "An aggregator's own feed"], {
  'K-AGG-01': {
    must: draft('Rules for aggregators 1', 'The `resource` identity is passed on unchanged'),
    nl: 'De identiteit blijft ongewijzigd',
    en: 'The identity is passed on unchanged',
    needs: ['K-BEG-01'],
    prepare: (feed) => feed.upsert('a/Ä 1'),
    unread: true,
    play: async (run) => {
      ownFeedOf(run);
      await run.look();
      const other = (await published(run)).find(({ resource }) => textAt(resource, 'bronidentificatie') !== 'a/Ä 1');
      return other === undefined ? undefined : `it publishes ${JSON.stringify(other.resource)}`;
    },
  },
  'K-AGG-02': {
    must: draft('Rules for aggregators 2', 'it removes the content from its own history'),
    nl: 'Weggehaalde inhoud verdwijnt ook uit de eigen geschiedenis',
    en: 'Redacted content also disappears from its own history',
    needs: ['K-RED-01', 'K-AGG-01'],
    prepare: (feed) => feed.upsert('a', { omschrijving: WORD }),
    changes: [(feed) => feed.upsert('a', { omschrijving: `${WORD} 2` }), (feed) => feed.redact('a')],
    play: async (run) => {
      const left = (await published(run)).filter((record) => JSON.stringify(record).includes(WORD));
      return left.length === 0 ? undefined : `${left.length} records of its feed still have the content`;
    },
  },
  'K-AGG-03': {
    must: draft('Rules for aggregators 2', 'and publishes its own `redact`'),
    nl: 'De aggregator publiceert zelf een redactie',
    en: 'The aggregator publishes its own redaction',
    needs: ['K-RED-01', 'K-AGG-01'],
    prepare: (feed) => feed.upsert('a'),
    play: async (run) => {
      const before = Math.max(0, ...(await published(run)).map(({ sequenceNumber }) => Number(sequenceNumber)));
      run.feed.redact('a');
      await run.look();
      const own = (await published(run)).find(
        ({ op, sequenceNumber }) => op === 'redact' && Number(sequenceNumber) > before,
      );
      if (own === undefined) return 'its feed has no `redact` after its own record';
      const { geredigeerdeSequenceNumbers: numbers } = own;
      if (Array.isArray(numbers) && numbers.includes(before)) return undefined;
      return `its \`redact\` does not name number ${before} of its own feed`;
    },
  },
  'K-AGG-04': {
    must: draft('Rules for aggregators 3', 'reports the lag through `laatstBijgewerkt`'),
    nl: 'Zolang de bron niet antwoordt, staat `laatstBijgewerkt` stil',
    en: 'While the source does not answer, `laatstBijgewerkt` does not advance',
    needs: ['K-AGG-01', 'K-ERR-01'],
    prepare: (feed) => feed.upsert('a'),
    play: async (run) => {
      const { feed, read } = run;
      feed.rule = ({ response }) => void response.destroy();
      await read();
      const first = await currentAsOf(run);
      await read();
      const second = await currentAsOf(run);
      if (first === undefined) return 'the service document has no `laatstBijgewerkt` of the organisation';
      return first === second ? undefined : `it goes from ${first} to ${second}`;
    },
  },
  'K-AGG-05': {
    may: contract('Herkomst', 'Waar een aggregator het record vandaan heeft.'),
    nl: 'Een record meldt zijn herkomst',
    en: 'A record states its origin',
    needs: ['K-AGG-01'],
    prepare: (feed) => feed.upsert('a'),
    play: async (run) => {
      const { url } = run.feed;
      const wrong = (await published(run)).find(
        ({ herkomst }) => !isRecord(herkomst) || herkomst.feedUrl !== `${url}/feed` || herkomst.sequenceNumber !== 1,
      );
      return wrong === undefined ? undefined : `\`herkomst\` is ${JSON.stringify(wrong.herkomst)}`;
    },
  },
});
