/** Kills instances of an aggregator in the middle of reading changing suppliers; in the end its feed must match them. */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, startChild } from '../../../bench/support/children.ts';
import { createPool, type Pool } from '../../../src/database/pool.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { saveSources } from '../../../src/raadsfeed/aggregator/store/sources.ts';
import { mostCallsIn, startIbabs } from './ibabs/server.ts';
import {
  expectedKeys,
  type ImitatedBody,
  ibabsBody,
  type KnownMeeting,
  startGoBody,
  startParlaeusBody,
} from './imitated-body.ts';

interface DrillOptions {
  /** A migrated database. */
  readonly databaseUrl: string;
  /** Holds the key of Parlaeus. */
  readonly ridFile: string;
  readonly kills: number;
  /** Longest life of an instance, in milliseconds. */
  readonly longestLifeMs: number;
  readonly report: (line: string) => void;
}

interface DrillResult {
  readonly records: number;
  readonly calls: number;
  /** Kills while the instance had a source. */
  readonly inTheMiddle: number;
  readonly faults: readonly string[];
}

const AGGREGATOR = new URL('../../../bench/support/aggregator-server.ts', import.meta.url);
/** iBabs calls per minute: few enough for a reading to take seconds. */
const PER_MINUTE = 1500;
/** Milliseconds over which iBabs calls are counted. */
const SPAN_MS = 2000;
const MEETINGS = 24;
const CATCH_UP_MS = 300_000;

export async function runSupplierKillDrill(options: DrillOptions): Promise<DrillResult> {
  const { databaseUrl, kills, longestLifeMs, report } = options;
  const ibabs = await startIbabs();
  const bodies = [
    ibabsBody(ibabs, 'een', true),
    ibabsBody(ibabs, 'twee', false),
    ...(await Promise.all([startGoBody('v1'), startGoBody('v2'), startParlaeusBody(options.ridFile)])),
  ].map((body, n) => new Changing(body, n + 1));
  const pool = openPool(databaseUrl);
  const env = {
    NODE_ENV: 'test',
    DATABASE_URL: databaseUrl,
    'aggregator.backoffMs': '20',
    'aggregator.backoffMaxMs': '200',
    'aggregator.leaseSeconds': '1',
    'aggregator.callSlotSeconds': '4',
    IBABS_URL: ibabs.base,
    IBABS_CALLS_PER_MINUTE: `${PER_MINUTE}`,
  };
  let inTheMiddle = 0;
  let killed = 0;
  let last: Child | undefined;
  const killInTurn = async (): Promise<void> => {
    while (killed < kills) {
      killed += 1;
      const turn = killed;
      const instance = await startChild(AGGREGATOR, env);
      for (const body of bodies) body.change(turn);
      await makeDue(pool);
      await sleep(randomInt(longestLifeMs));
      const { pid } = Object(await instance.ask({}));
      if (await isReading(pool, Number(pid))) inTheMiddle += 1;
      await instance.kill();
      report(`killed ${turn} of ${kills}`);
    }
  };
  try {
    for (const body of bodies) {
      body.host.delay = 20;
      await saveSources(pool, [{ ...body.source, soort: 'leveranciers-api', vanaf: dayAt(-90) }]);
    }
    await Promise.all([killInTurn(), killInTurn()]);
    for (const body of bodies) body.change(kills + 1);
    await makeDue(pool);
    last = await startChild(AGGREGATOR, env);
    const faults = await waitUntilEqual(pool, bodies);
    const calls = [...new Set(bodies.map(({ host }) => host))].reduce((sum, host) => sum + host.calls.length, 0);
    const most = mostCallsIn(ibabs.calls, SPAN_MS);
    // A call that was allowed in time may arrive a little later.
    const allowed = (PER_MINUTE / 60_000) * SPAN_MS + 3;
    if (most > allowed) faults.push(`iBabs was called ${most} times in ${SPAN_MS} ms, ${allowed} are allowed`);
    for (const { host, scheme } of bodies) {
      const limit = scheme === 'ibabs' ? 2 : 4;
      if (host.mostAtOnce() > limit) faults.push(`${scheme} had ${host.mostAtOnce()} calls at a time`);
    }
    return { records: await countRecords(pool), calls, inTheMiddle, faults };
  } finally {
    await last?.stop();
    await pool.end();
    await Promise.all([...new Set(bodies.map(({ host }) => host))].map((host) => host.close()));
  }
}

/** A body of which a meeting is renamed each time, and occasionally one is added or withdrawn. */
class Changing {
  readonly #body: ImitatedBody;
  readonly #meetings = new Map<number, KnownMeeting>();
  readonly #number: number;

  constructor(body: ImitatedBody, number: number) {
    this.#body = body;
    this.#number = number;
    for (let id = 10; id < 10 + MEETINGS; id += 1) this.#put(id, `Raad ${id}`);
  }

  get host(): ImitatedBody['host'] {
    return this.#body.host;
  }

  get scheme(): ImitatedBody['scheme'] {
    return this.#body.scheme;
  }

  get code(): string {
    return `gm000${this.#number}`;
  }

  get source() {
    const { scheme, organisationId, options } = this.#body;
    const adres = `${scheme}:${organisationId}`;
    return { adres, organisatiecodes: [this.code], naam: this.code, options, portaal: 'https://raad.example' };
  }

  change(turn: number): void {
    const ids = [...this.#meetings.keys()];
    this.#put(ids[randomInt(ids.length)] ?? 10, `Beurt ${turn}`);
    if (turn % 4 === 0) this.#put(100 + turn, `Nieuw ${turn}`);
    // Fewer than the tenth of its resources that may be deleted without an operator.
    if (turn === 5 || turn === 13) {
      this.#meetings.delete(10 + turn);
      this.#body.remove(10 + turn);
    }
  }

  /** Its resources with the titles of its meetings, which are in the text of the record. */
  expected(): ReadonlyMap<string, string> {
    const titles = new Map([...this.#meetings.values()].map((one) => [expectedKeys(this.#body, [one]), one.title]));
    const meetings = [...titles].flatMap(([keys, title]) =>
      keys.filter((key) => key.startsWith('Vergadering/')).map((key) => [key, title] as const),
    );
    const all = expectedKeys(this.#body, this.#meetings.values()).map((key) => [key, ''] as const);
    return new Map([...all, ...meetings].map(([key, title]) => [`${this.code}/${key}`, title]));
  }

  #put(id: number, title: string): void {
    const day = dayAt(((id * 7) % 120) - 60);
    const meeting = { id, day, title, isSecret: id % 11 === 0, items: [id * 100, id * 100 + 1] };
    this.#meetings.set(id, meeting);
    this.#body.put(meeting);
  }
}

function dayAt(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}

function openPool(url: string): Pool {
  const limits = { size: 2, connectTimeoutMs: 20_000, statementTimeoutMs: 60_000 };
  return createPool({ url, ...limits, pooler: 'none', applicationName: 'drill', log: createLogger('error') });
}

/** As when the next full round is due. */
async function makeDue(pool: Pool): Promise<void> {
  await pool.query('update aggregator.windows set next_full_at = now(), next_quick_at = now()');
  await pool.query('update aggregator.sources set next_at = now()');
}

async function isReading(pool: Pool, pid: number): Promise<boolean> {
  const { rowCount } = await pool.query(
    "select from aggregator.sources where split_part(lease_holder, ' ', 2) = $1::text limit 1",
    [`${pid}`],
  );
  return (rowCount ?? 0) > 0;
}

async function waitUntilEqual(pool: Pool, bodies: readonly Changing[]): Promise<string[]> {
  const expected = new Map(bodies.flatMap((body) => [...body.expected()]));
  for (const end = performance.now() + CATCH_UP_MS; ; ) {
    const faults = await compare(pool, expected);
    if (faults.length === 0 || performance.now() > end) return faults;
    await sleep(200);
  }
}

async function compare(pool: Pool, expected: ReadonlyMap<string, string>): Promise<string[]> {
  const { rows } = await pool.query<{ key: string; text: string }>(
    `select s.organisatiecode || '/' || s.resource_type || '/' || s.bronidentificatie as key,
            t.record_prefix || coalesce(t.record_suffix, '') as text
       from raadsfeed.current_records s join raadsfeed.texts t using (sequence_number)`,
  );
  const ours = new Map(rows.map(({ key, text }) => [key, text]));
  const lost = [...expected].filter(([key, title]) => ours.get(key)?.includes(title) !== true);
  const extra = [...ours.keys()].filter((key) => !expected.has(key));
  const faults: string[] = [];
  if (lost.length > 0) faults.push(`${lost.length} resources are not as at their supplier: ${lost[0]?.[0]}`);
  if (extra.length > 0) faults.push(`${extra.length} resources that no supplier shows: ${extra[0]}`);
  const { gap, twice } = await judgeRecords(pool);
  if (gap) faults.push('the numbers have a gap');
  if (twice > 0) faults.push(`${twice} records say again what was said`);
  return faults;
}

/** Whether numbers are missing, and how many records repeat the previous one of their resource. */
export async function judgeRecords(pool: Pool): Promise<{ readonly gap: boolean; readonly twice: number }> {
  const { rows } = await pool.query<{ gap: boolean; twice: number }>(
    `select count(*) <> max(sequence_number) as gap,
            count(*) filter (where op = before_op and (op <> 'upsert' or hash = before)) as twice
       from (select sequence_number, op, hash, lag(op) over w as before_op, lag(hash) over w as before
               from raadsfeed.records join lateral (
                      select substring(record_prefix || coalesce(record_suffix, '') from '"contentHash":"([^"]+)"') as hash
                        from raadsfeed.texts t where t.sequence_number = records.sequence_number) h on true
             window w as (partition by organisatiecode, resource_type, bronidentificatie order by sequence_number)) r`,
  );
  return rows[0] ?? { gap: true, twice: 0 };
}

async function countRecords(pool: Pool): Promise<number> {
  return (await pool.query<{ head: number }>('select head from raadsfeed.feed')).rows[0]?.head ?? 0;
}
