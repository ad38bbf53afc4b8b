/** The measured searches, as addresses and as a bare statement. */
import type { Db } from '../../src/database/transaction.ts';
import { commonWord, ending, ordinaryWord } from './council-texts.ts';

export interface Search {
  readonly q: string;
  readonly parameters?: Readonly<Record<string, string>>;
}

/** Search number `i` of each kind; consecutive ones differ. */
export const SEARCHES: Readonly<Record<string, (i: number) => Search>> = {
  'a common word': (i) => ({ q: commonWord(i) }),
  'two common words': (i) => ({ q: `${commonWord(i)} ${commonWord(i + 7)}` }),
  'an ordinary word': (i) => ({ q: ordinaryWord(i) }),
  'a word of one document': (i) => ({ q: `kenmerk${(i * 7919) % 100_000}` }),
  'a phrase': (i) => ({ q: `"${commonWord(i)} ${ordinaryWord(i)}"` }),
  'a phrase of two common words': (i) => ({ q: `"${commonWord(i)} ${commonWord(i + 3)}"` }),
  'a beginning': (i) => ({ q: ordinaryWord(i).slice(0, 7) }),
  'with organisation, kind and years': (i) => ({
    q: commonWord(i),
    parameters: {
      organisatie: `gm99${String(1 + (i % 40)).padStart(2, '0')}`,
      soort: 'informatieobjecten',
      van: '2015-01-01',
      tot: '2020-12-31',
    },
  }),
  'an ending of compounds': (i) => ({ q: ending(i) }),
  "an organisation's name and a word": (i) => ({ q: `gemeente ${1 + (i % 40)} ${ordinaryWord(i)}` }),
  'a month and a word': (i) => ({ q: `${commonWord(i)} maart ${2012 + (i % 14)}` }),
  'one word or another': (i) => ({ q: `${ordinaryWord(i)} OR ${ordinaryWord(i + 11)}` }),
  'newest first': (i) => ({ q: commonWord(i), parameters: { sorteer: 'datum' } }),
  'the third page': (i) => ({ q: commonWord(i), parameters: { pagina: '3' } }),
  'one organisation, no words': (i) => ({
    q: '',
    parameters: { organisatie: `gm99${String(1 + (i % 40)).padStart(2, '0')}` },
  }),
  'no matches': (i) => ({ q: `onvindbaar${i}` }),
  'a misspelt word': (i) => ({ q: ordinaryWord(i).replace(/(.)(.)$/, '$2$1q') }),
};

export function searchAddress({ q, parameters = {} }: Search): string {
  return `/raad/zoeken?${new URLSearchParams({ q, ...parameters })}`;
}

/** The newest twenty with these words and filters only: no prefixes, ranking, counts or highlights. */
export async function bareSearch(db: Db, { q, parameters = {} }: Search): Promise<void> {
  const { organisatie, soort, van, tot } = parameters;
  const values: string[] = [];
  const conditions = [
    q === '' ? [] : `words @@ websearch_to_tsquery('simple', $${values.push(q)})`,
    organisatie === undefined ? [] : `organisatiecode = $${values.push(organisatie)}`,
    soort === undefined ? [] : `resource_type = 'Informatieobject'`,
    van === undefined ? [] : `datum >= $${values.push(van)}::date`,
    tot === undefined ? [] : `datum < $${values.push(tot)}::date + 1`,
  ].flat();
  await db.query(
    `select titel, summary from pages.items where ${conditions.join(' and ')} order by datum desc nulls last, number desc limit 20`,
    values,
  );
}

export interface Latencies {
  readonly p50: number;
  readonly p95: number;
  readonly count: number;
}

/**
 * Runs all kinds in rotation over this many connections.
 * @returns by kind, and `all`
 */
export async function latencies(
  connections: number,
  seconds: number,
  work: (search: Search) => Promise<void>,
): Promise<Map<string, Latencies>> {
  const kinds = Object.entries(SEARCHES);
  const times = new Map<string, number[]>(['all', ...kinds.map(([kind]) => kind)].map((kind) => [kind, []]));
  let turn = 0;
  for (const [, make] of kinds) await work(make(0));
  const end = performance.now() + seconds * 1000;
  const one = async (): Promise<void> => {
    while (performance.now() < end) {
      const at = turn++;
      const [kind, make] = kinds[at % kinds.length] ?? ['', () => ({ q: '' })];
      const since = performance.now();
      await work(make(Math.floor(at / kinds.length)));
      const ms = performance.now() - since;
      times.get(kind)?.push(ms);
      times.get('all')?.push(ms);
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  return new Map([...times].map(([kind, list]) => [kind, summary(list)]));
}

export function summary(times: number[]): Latencies {
  times.sort((a, b) => a - b);
  const at = (share: number): number => Math.round(times[Math.floor(times.length * share)] ?? Number.NaN);
  return { p50: at(0.5), p95: at(0.95), count: times.length };
}

/**
 * Runs each kind a number of times, sequentially.
 * @returns each kind's cost by a clock, in milliseconds
 */
export async function costs(
  times: number,
  work: (search: Search) => Promise<void>,
  clock: () => number,
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const [kind, make] of Object.entries(SEARCHES)) {
    const since = clock();
    for (let i = 0; i < times; i += 1) await work(make(i));
    found.set(kind, Math.round((clock() - since) / times));
  }
  return found;
}
