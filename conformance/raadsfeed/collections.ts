import { isRecord, type JsonObject } from '../../src/lib/json/json-value.ts';
import type { CaseRun, Finding } from '../case.ts';
import type { Ask } from '../exchange.ts';
import { objectsIn, textAt } from '../json-members.ts';
import { after, isTheSameInUpperCase, longerThan, totalIn, withoutItems } from './pages.ts';
import { contract, draft, encoded, feedRule } from './sources.ts';
import {
  changedSince,
  type FeedSubject,
  feedChapters,
  gives,
  keyOf,
  organisationsOf,
  recordsOf,
  stateOf,
} from './subject.ts';

/** The collections, with the resource type of each. */
export const COLLECTIONS = [
  ['vergaderingen', 'Vergadering', 'VergaderingPage'],
  ['agendapunten', 'Agendapunt', 'AgendapuntPage'],
  ['informatieobjecten', 'Informatieobject', 'InformatieObjectPage'],
] as const;

const listOf = (name: string, limit: number): Ask => ({
  to: `{base}/organisaties/{organisation}/${name}?limit=${limit}`,
});

/** Checks each collection until the first failure. */
async function inEach(judge: (collection: (typeof COLLECTIONS)[number]) => Promise<string | undefined>) {
  for (const collection of COLLECTIONS) {
    const wrong = await judge(collection);
    if (wrong !== undefined) return `${collection[0]}: ${wrong}`;
  }
  return undefined;
}

/** Where a resource can be read. */
export function addressOf({ resource, resourceType }: JsonObject): string {
  const [name] = COLLECTIONS.find(([, kind]) => kind === resourceType) ?? [];
  const [code, id] = [textAt(resource, 'organisatiecode') ?? '', textAt(resource, 'bronidentificatie') ?? ''];
  return `{base}/organisaties/${code}/${name}/${encodeURIComponent(id)}`;
}

/** Checks that a removed resource is no longer served. */
const isGoneAfter =
  (operation: 'delete' | 'redact') =>
  async ({ history }: FeedSubject, { ask }: CaseRun): Promise<Finding> => {
    const removed = [...stateOf(history.records).values()].find(({ record }) => record.op === operation)?.record;
    if (removed === undefined || !history.complete)
      return { skipped: `the part of the feed that was read contains no final ${operation} of a resource` };
    const { status } = await ask({ to: addressOf(removed) });
    if ([404, 410].includes(status)) return undefined;
    return `${keyOf(removed)} was removed, and its address gets status ${status}`;
  };

const idsOf = (page: unknown): readonly unknown[] =>
  objectsIn(page, 'results').map((one) => textAt(one, 'bronidentificatie'));

export const LISTS = feedChapters('C-COL-01')('C-COL', ['Resources per organisatie', 'Resources of an organisation'], {
  'C-COL-01': {
    may: contract('paths', '/organisaties/{organisatiecode}/vergaderingen … agendapunten … informatieobjecten'),
    nl: 'Een organisatie heeft drie lijsten',
    en: 'An organisation has three lists',
    ask: COLLECTIONS.map(([name]) => ({ to: `{base}/organisaties/{organisation}/${name}` })),
  },
  'C-COL-02': {
    may: contract('getVergaderingen', 'Een organisatie die niet in deze feed staat, heeft een lege lijst.'),
    nl: 'Een organisatie die niet in de feed staat, heeft lege lijsten',
    en: 'An organisation that is not in the feed has empty lists',
    needs: [],
    ask: COLLECTIONS.map(([name]) => ({ to: `{base}/organisaties/{otherOrganisation}/${name}` })),
    check: (_, { answers }) =>
      answers.some(({ json }) => objectsIn(json, 'results').length > 0)
        ? 'an organisation code outside the feed has resources'
        : undefined,
  },
  'C-COL-03': {
    may: contract('VergaderingPage', 'required: - results - cursor - hasMore - next'),
    nl: 'Een lijst voldoet aan het contract',
    en: 'A list matches the contract',
    check: ({ fault }, { ask }) =>
      inEach(async ([name, , schema]) => {
        const { json } = await ask(listOf(name, 50));
        const wrong = fault(schema, withoutItems(json, 'results'));
        return wrong === undefined ? undefined : `the page does not match ${schema}: ${wrong}`;
      }),
  },
  'C-COL-04': {
    must: draft('Endpoints', 'with `cursor` and `limit`'),
    nl: 'Een lijst heeft hoogstens `limit` resources',
    en: 'A list has at most `limit` resources',
    needs: ['C-COL-15'],
    check: (_, { ask }) => inEach(async ([name]) => longerThan((await ask(listOf(name, 1))).json, 'results', 1)),
  },
  'C-COL-05': {
    must: draft('Endpoints', 'with `cursor` and `limit`'),
    nl: 'De cursor geeft de volgende resource, zonder dubbelen of gaten',
    en: 'The cursor gives the next resource, without duplicates or gaps',
    needs: ['C-COL-04'],
    check: (_, { ask }) =>
      inEach(async ([name]) => {
        const both = await ask(listOf(name, 2));
        const first = await ask(listOf(name, 1));
        const expected = idsOf(both.json);
        if (expected.length < 2) return undefined;
        if (textAt(first.json, 'cursor') === undefined)
          return 'the first page has no `cursor`, and there are more resources';
        const second = await ask({ to: `{base}/organisaties/{organisation}/${name}?limit=1&${after(first.json)}` });
        const found = [first, second].flatMap(({ json }) => idsOf(json));
        if (found.join('\n') === expected.join('\n')) return undefined;
        return `one by one come ${found.join(', ')}; on one page ${expected.join(', ')}`;
      }),
  },
  'C-COL-06': {
    must: feedRule(7, 'no `total`'),
    nl: 'Er staat geen totaal op een pagina',
    en: 'A page has no total',
    check: (_, { ask }) => inEach(async ([name]) => totalIn((await ask(listOf(name, 1))).json)),
  },
  'C-COL-07': {
    may: contract('getVergadering', 'Levert de huidige stand.'),
    nl: 'Een resource is op te vragen, en is gelijk aan die in de huidige stand',
    en: 'A resource can be read and equals the one in the snapshot',
    needs: ['C-COL-01', 'C-SNAP-04'],
    check: ({ snapshot, values }, run) =>
      inEach(async ([, kind]) => {
        const seen = snapshot.records.find(({ record }) => record.resourceType === kind);
        if (seen === undefined) return undefined;
        const { json, status } = await run.ask({ to: addressOf(seen.record) });
        // Its own address is added when it is read.
        const text = (value: unknown): string => JSON.stringify(isRecord(value) ? { ...value, url: undefined } : value);
        if (status === 200 && text(json) === text(seen.record.data)) return undefined;
        const key = keyOf(seen.record);
        if ((await changedSince(values.feedCursor, run)).has(key)) return undefined;
        return status === 200 ? `${key} differs from the snapshot` : `${key} gets status ${status}`;
      }),
  },
  'C-COL-08': {
    may: contract('getVergadering', 'Onbekend of verwijderd: 404.'),
    nl: 'Een onbekende resource geeft 404',
    en: 'An unknown resource gets 404',
    ...gives(
      404,
      ...COLLECTIONS.map(([name]) => `{base}/organisaties/{organisation}/${name}/bestaat-niet-conformance`),
    ),
  },
  'C-COL-09': {
    may: contract('Organisatiecode', '^(?:[Gg][Mm][0-9]{4}|[Pp][Vv][0-9]{2}|[Ww][Ss][0-9]{4})$'),
    nl: 'Een organisatiecode die niet aan het patroon voldoet, krijgt 400',
    en: 'An organisation code that does not match the pattern gets 400',
    ...gives(400, '{base}/organisaties/utrecht/vergaderingen'),
  },
  'C-COL-10': {
    may: contract('Organisatiecode', 'Hoofdletters worden als kleine letters gelezen.'),
    nl: 'Een organisatiecode in hoofdletters geeft hetzelfde antwoord als in kleine letters',
    en: 'An organisation code in upper case gives the same answer as in lower case',
    check: isTheSameInUpperCase((code) => `{base}/organisaties/${code}/vergaderingen?limit=5`, 'resources', idsOf),
  },
  'C-COL-11': {
    may: contract('getVergadering', 'Onbekend of verwijderd: 404.'),
    nl: 'Een verwijderde resource is niet meer op te vragen',
    en: 'A deleted resource can no longer be read',
    needs: ['C-COL-08'],
    check: isGoneAfter('delete'),
  },
  'C-COL-12': {
    may: contract('getVergadering', 'Onbekend of verwijderd: 404.'),
    nl: 'Een resource waarvan alle inhoud is weggehaald, is niet meer op te vragen',
    en: 'A completely redacted resource can no longer be read',
    needs: ['C-COL-08'],
    check: isGoneAfter('redact'),
  },
  'C-COL-13': {
    may: encoded,
    nl: 'Een bronidentificatie met bijzondere tekens werkt in een adres',
    en: 'A `bronidentificatie` with special characters works in an address',
    needs: ['C-COL-07'],
    check: async ({ snapshot }, { ask }) => {
      const [special] = recordsOf(snapshot, ({ resource }) =>
        /[^\w.~-]/.test(textAt(resource, 'bronidentificatie') ?? ''),
      );
      const { json, status } = await ask({ to: addressOf(special.record) });
      return status === 200 &&
        textAt(json, 'bronidentificatie') === textAt(special.record.resource, 'bronidentificatie')
        ? undefined
        : `${keyOf(special.record)} gets status ${status}`;
    },
  },
  'C-COL-14': {
    must: feedRule(6, 'that is empty returns an empty result, not 404'),
    nl: 'Een lege lijst is geen 404',
    en: 'An empty list is not a 404',
    needs: ['C-COL-01', 'C-SNAP-04'],
    check: async ({ service, snapshot }, { ask }) => {
      const filled = new Set(
        snapshot.records.map(({ record }) => `${textAt(record.resource, 'organisatiecode')} ${record.resourceType}`),
      );
      const [empty] = organisationsOf(service).flatMap((code) =>
        COLLECTIONS.filter(([, kind]) => !filled.has(`${code} ${kind}`)).map(([name]) => ({ code, name })),
      );
      if (empty === undefined || !snapshot.complete) return { skipped: 'no organisation was found with an empty list' };
      const { status } = await ask({ to: `{base}/organisaties/${empty.code}/${empty.name}` });
      if (status === 200) return undefined;
      return `${empty.code} has no ${empty.name}, and their address gets status ${status}`;
    },
  },
  'C-COL-15': {
    may: contract('VergaderingPage', 'required: - results'),
    nl: 'De resources van een lijst staan in `results`',
    en: 'The resources of a list are in `results`',
    ask: COLLECTIONS.map(([name]) => listOf(name, 2)),
    check: (_, { answers }) => {
      const at = answers.find(({ json }) => !isRecord(json) || !Array.isArray(json.results));
      return at && { failed: '`results` is not a list', at };
    },
  },
});
