/** Documents to search in, their index, and the searches that are measured. */
import pg from 'pg';
import { createPool, type Pool } from '../../src/kernel/database/pool.ts';
import { createLogger } from '../../src/kernel/log.ts';
import { systemClock } from '../../src/kernel/time.ts';
import { prepareChange } from '../../src/raadsfeed/domain/change.ts';
import { search } from '../../src/raadsfeed/search/find.ts';
import { readQuery } from '../../src/raadsfeed/search/fold.ts';
import { followStep } from '../../src/raadsfeed/search/follow-feed.ts';
import { createLineValidator } from '../../src/raadsfeed/writer/line-validator.ts';
import { createPublisher } from '../../src/raadsfeed/writer/publisher.ts';

/** Queries of the address: rare and common words, a phrase, a beginning, a filter, a date. */
export const QUERIES = {
  rare: 'q=kenmerk77',
  common: 'q=voorstel',
  phrase: 'q=%22vaststellen+begroting%22',
  beginning: 'q=onderwi',
  filtered: 'q=woning&organisatie=gm9901&soort=informatieobjecten&van=2015-01-01&tot=2020-12-31',
  byDate: 'q=begroting&sorteer=datum',
} as const;

const WORDS =
  'voorstel begroting woning onderwijs verkeer veiligheid riolering subsidie bestemmingsplan jeugdzorg energie water groen cultuur sport'.split(
    ' ',
  );
const BATCH = 2000;
/** Documents of one meeting. */
const PER_MEETING = 20;

function pool(url: string): Pool {
  const shared = {
    connectTimeoutMs: 10_000,
    statementTimeoutMs: 60_000,
    pooler: 'none',
    role: 'koppelvlak_dienst',
  } as const;
  return createPool({ ...shared, url, size: 10, applicationName: 'bench pages', log: createLogger('error') });
}

/** Publishes documents with these numbers, and the meetings that they belong to. */
export async function growPages(url: string, first: number, last: number): Promise<void> {
  const own = pool(url);
  const validate = createLineValidator();
  const publisher = createPublisher({ pool: own, clock: systemClock });
  const change = (line: object) => {
    const checked = validate(line);
    if ('faults' in checked) throw new Error(checked.faults.join('; '));
    return prepareChange(checked.line);
  };
  try {
    for (let at = first; at < last; at += BATCH) {
      const lines: object[] = [];
      for (let i = at; i < Math.min(last, at + BATCH); i += 1) {
        if (i % PER_MEETING === 0) lines.push(meeting(i / PER_MEETING));
        lines.push(document(i));
      }
      await publisher.publish(lines.map(change));
    }
  } finally {
    await own.end();
  }
}

const organisatie = (i: number) => ({
  gemeente: `gm99${String(1 + (i % 20)).padStart(2, '0')}`,
  naam: `Gemeente ${1 + (i % 20)}`,
});

/** The same for every run. */
function moment(i: number): string {
  return new Date(Date.UTC(2010, 0, 1) + ((i * 7919) % 5500) * 86_400_000).toISOString();
}

function meeting(i: number): object {
  const data = {
    bronidentificatie: `v-${i}`,
    dossiertype: 'vergadering',
    organisatie: organisatie(i),
    naam: `Commissie ${i % 9}`,
    aanvang: moment(i),
    georganiseerddoorgremium: { gremiumidentificatie: `c-${i % 9}`, gremiumnaam: `Commissie ${i % 9}` },
  };
  return { op: 'upsert', resourceType: 'Vergadering', data };
}

function document(i: number): object {
  const m = Math.floor(i / PER_MEETING);
  // A power law, as words of texts have.
  const word = (n: number): string =>
    WORDS[Math.floor(WORDS.length * (((i * 31 + n * 7919) % 1000) / 1000) ** 2)] ?? '';
  const data = {
    bronidentificatie: `d-${i}`,
    dossiertype: 'informatieobject',
    organisatie: organisatie(m),
    titel: `Brief over ${word(1)} ${word(2)} kenmerk${i}`,
    omschrijving: `Vaststellen ${word(3)}, ${word(4)}: ${Array.from({ length: 40 }, (_, n) => word(n + 5)).join(' ')}`,
    auteur: `Auteur ${i % 5000}`,
    webpaginalink: `https://raad.example/${i}`,
    bestandsurl: `https://raad.example/${i}.pdf`,
    formaat: 'application/pdf',
    wooinformatiecategorie: 'c_db4862c3',
    datumingediend: moment(i).slice(0, 10),
    vergaderingen: [{ bronidentificatie: `v-${m}` }],
  };
  return { op: 'upsert', resourceType: 'Informatieobject', data };
}

/** Brings the index up to the feed. */
export async function indexAll(url: string): Promise<{ records: number; ms: number }> {
  const own = pool(url);
  try {
    const numberOf = async (): Promise<number> =>
      Number((await own.query('select count(*) as n from raadsfeed_zoek.stuk')).rows[0]?.n);
    const before = await numberOf();
    const since = performance.now();
    while ((await followStep(own)) !== 'done');
    const ms = performance.now() - since;
    return { records: (await numberOf()) - before, ms };
  } finally {
    await own.end();
  }
}

export async function indexSize(url: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query('vacuum analyze raadsfeed_zoek.stuk');
    const { rows } = await client.query(`
      select pg_size_pretty(pg_table_size('raadsfeed_zoek.stuk')) as rows, pg_size_pretty(pg_indexes_size('raadsfeed_zoek.stuk')) as indexes,
             pg_size_pretty(pg_total_relation_size('raadsfeed_zoek.verwijzing')) as refs,
             (select pg_size_pretty(sum(pg_total_relation_size(c.oid))) from pg_class c join pg_namespace n on n.oid = c.relnamespace
               where n.nspname = 'raadsfeed' and c.relkind = 'r') as feed`);
    return `rows ${rows[0].rows}, indexes ${rows[0].indexes}, references ${rows[0].refs}; the feed itself ${rows[0].feed}`;
  } finally {
    await client.end();
  }
}

export interface Latencies {
  readonly p50: number;
  readonly p95: number;
  readonly perSecond: number;
}

/** Does something again and again on so many connections. */
export async function latencies(connections: number, seconds: number, work: () => Promise<void>): Promise<Latencies> {
  const times: number[] = [];
  const end = performance.now() + seconds * 1000;
  const one = async (): Promise<void> => {
    while (performance.now() < end) {
      const since = performance.now();
      await work();
      times.push(performance.now() - since);
    }
  };
  await work();
  await Promise.all(Array.from({ length: connections }, one));
  times.sort((a, b) => a - b);
  const at = (share: number): number => Math.round((times[Math.floor(times.length * share)] ?? 0) * 10) / 10;
  return { p50: at(0.5), p95: at(0.95), perSecond: Math.round(times.length / seconds) };
}

/** The statement of the search alone, without a page around it. */
export async function bareSearch(url: string, query: string, connections: number, seconds: number): Promise<Latencies> {
  const own = pool(url);
  const parameters = new URLSearchParams(query);
  const text = (name: string): string | undefined => parameters.get(name) ?? undefined;
  const request = {
    query: readQuery(text('q') ?? ''),
    organisatiecode: text('organisatie'),
    resourceType: text('soort') === undefined ? undefined : ('Informatieobject' as const),
    from: text('van'),
    to: text('tot'),
    sort: text('sorteer') === 'datum' ? ('datum' as const) : ('relevantie' as const),
    offset: 0,
    limit: 20,
  };
  try {
    return await latencies(connections, seconds, async () => {
      await search(own, request, new Date());
    });
  } finally {
    await own.end();
  }
}
