/**
 * Kills the primary under appends and publications and promotes the standby. Afterwards every acknowledged entry must
 * exist exactly once, the feed's numbers must have no gap, and no reader may have seen a number with two contents.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFeedPublisher } from '../../src/client/raadsfeed.ts';
import { createLogger } from '../../src/lib/log.ts';
import { startTokens } from '../../test/support/tokens.ts';
import { startChild } from './children.ts';
import { sampleActie } from './sample-actie.ts';
import { sampleLine } from './sample-records.ts';
import { type Pair, query, type Replication, startPair } from './standby.ts';

export interface FailoverOptions {
  /** An empty directory for the two servers. */
  readonly dir: string;
  readonly replication: Replication;
  /** Milliseconds of load before the primary is killed, and after the standby takes over. */
  readonly loadMs: number;
  readonly writers: number;
  /** Milliseconds between a writer's appends, and between two publications. */
  readonly pauseMs: number;
}

export interface FailoverResult {
  readonly appended: number;
  readonly published: number;
  /** Milliseconds from the loss to the first acknowledged append and the first acknowledged publication. */
  readonly appendAfterMs: number;
  readonly publishAfterMs: number;
  /** Acknowledged and lost. */
  readonly lostActions: readonly string[];
  readonly lostRecords: readonly number[];
  /** Numbers that a reader saw with content other than their present one. */
  readonly givenTwice: readonly number[];
  /** Answer to a reader that continues from its cursor from before the loss. */
  readonly oldCursor: string;
  /** Faults in any replication mode. */
  readonly faults: readonly string[];
}

interface Entry {
  readonly key: string;
  readonly body: string;
  actieId?: string;
}

interface Publication {
  readonly titel: string;
  number?: number;
}

/** Entries of each kind required before the failover. */
const LEAST_LOAD = 10;
/**
 * How long the standby is unreachable: before the loss in asynchronous mode, to verify that nothing is acknowledged in
 * synchronous mode.
 */
const HELD_MS = 1500;
const RETRY_MS = 20;
/**
 * An instance answers from its cached head for a second, so a reader at that head does not yet notice a different
 * history.
 */
const HEAD_KNOWN_MS = 1100;

export async function runFailoverDrill(options: FailoverOptions): Promise<FailoverResult> {
  const tokens = await startTokens();
  const pair = await startPair(options.dir, options.replication);
  const service = await startChild(new URL('hostile-server.ts', import.meta.url), {
    ...tokens.env,
    NODE_ENV: 'test',
    AREAS: 'verwerkingenlog,raadsfeed',
    DATABASE_URL: pair.url,
    'database.connectTimeoutMs': '2000',
    PORT: '0',
    MANAGEMENT_PORT: '0',
    SHUTDOWN_DRAIN_MS: '0',
    'server.overloadEventLoopDelayMs': '0',
    RAADSFEED_RATE_LIMIT: '0',
    VERWERKINGENLOG_KEY: `drill:${Buffer.alloc(32, 3).toString('base64')}`,
  });
  try {
    const { authorization } = await tokens.bearer(['create:normal']);
    return await lose(pair, String(Object(await service.ask({})).url), authorization, options);
  } finally {
    await service.stop();
    await pair.stop();
    await tokens.close();
  }
}

async function lose(
  pair: Pair,
  url: string,
  authorization: string,
  { replication, loadMs, writers, pauseMs }: FailoverOptions,
): Promise<FailoverResult> {
  const faults: string[] = [];
  const stop = new AbortController();
  const load = startLoad({ pair, url, authorization, writers, pauseMs, signal: stop.signal });
  const reader = startReader(url, stop.signal);
  await sleep(loadMs);
  const amounts = () => ({ ...load.acknowledged(), seen: reader.seen.size });
  const isEnough = () => Object.values(amounts()).every((amount) => amount >= LEAST_LOAD);
  // A busy machine takes longer.
  for (const until = performance.now() + 20 * loadMs; !isEnough() && performance.now() < until; ) await sleep(50);
  if (!isEnough()) faults.push(`too little load: ${JSON.stringify(amounts())}`);
  const goOn = await pair.holdReplication();
  // Appends in flight when the standby disconnected may still be acknowledged.
  await sleep(200);
  const held = load.acknowledged();
  await sleep(HELD_MS);
  const { appended, published } = load.acknowledged();
  const heldBack = appended - held.appended + published - held.published;
  if (replication === 'synchronous') {
    if (heldBack > 0) faults.push(`${heldBack} acknowledged before the standby wrote them`);
    goOn();
    await sleep(loadMs);
  } else if (heldBack === 0) {
    faults.push('nothing was acknowledged while the standby was out of reach');
  }
  const lostAt = performance.now();
  const wasAcknowledged = load.acknowledged();
  await pair.killPrimary();
  // In asynchronous mode the standby's receiver keeps using the dead server.
  if (replication === 'asynchronous') goOn();
  await pair.promote();
  const since = async (kind: 'appended' | 'published'): Promise<number> => {
    const giveUp = lostAt + 60_000;
    while (performance.now() < giveUp) {
      if (load.acknowledged()[kind] > wasAcknowledged[kind] + (kind === 'appended' ? writers : 1)) {
        return performance.now() - lostAt;
      }
      await sleep(5);
    }
    faults.push(`nothing ${kind} within 60 s after the loss`);
    return Number.POSITIVE_INFINITY;
  };
  const [appendAfterMs, publishAfterMs] = await Promise.all([since('appended'), since('published')]);
  await sleep(HEAD_KNOWN_MS);
  const oldCursor = await reader.tryOld();
  await sleep(loadMs);
  stop.abort();
  await Promise.all([load.ended, reader.ended]);
  const found = await inspect(pair.standby.url, load.entries, load.publications, reader.seen);
  if (replication === 'synchronous') {
    const { lostActions, lostRecords, givenTwice } = found;
    if (lostActions.length + lostRecords.length > 0) {
      faults.push(`lost: ${lostActions.length} actions, ${lostRecords.length} records`);
    }
    if (givenTwice.length > 0) faults.push(`numbers given twice: ${givenTwice.join(', ')}`);
  }
  return {
    ...load.acknowledged(),
    appendAfterMs,
    publishAfterMs,
    oldCursor,
    ...found,
    faults: [...faults, ...found.faults],
  };
}

interface LoadOptions {
  readonly pair: Pair;
  readonly url: string;
  readonly authorization: string;
  readonly writers: number;
  readonly pauseMs: number;
  readonly signal: AbortSignal;
}

interface Load {
  readonly entries: readonly Entry[];
  readonly publications: readonly Publication[];
  acknowledged(): { appended: number; published: number };
  readonly ended: Promise<unknown>;
}

/** Clients that retry unacknowledged requests with the same key, as docs/verwerkingenlog.md prescribes. */
function startLoad({ pair, url, authorization, writers, pauseMs, signal }: LoadOptions): Load {
  const entries: Entry[] = [];
  const publications: Publication[] = [];
  const write = async (): Promise<void> => {
    while (!signal.aborted) {
      const body = sampleActie(String(randomInt(1e8, 1e9)), randomInt(1e9));
      const entry: Entry = { key: randomUUID(), body };
      entries.push(entry);
      while (entry.actieId === undefined && !signal.aborted) {
        const actieId = await append(url, authorization, entry);
        if (actieId === undefined) await sleep(RETRY_MS);
        else entry.actieId = actieId;
      }
      await sleep(pauseMs);
    }
  };
  const publish = async (): Promise<void> => {
    const publisher = createFeedPublisher({ databaseUrl: pair.url, log: createLogger('silent') });
    for (let n = 1; !signal.aborted; n += 1) {
      const line: { data: { titel: string } } = JSON.parse(sampleLine(n));
      const publication: Publication = { titel: line.data.titel };
      publications.push(publication);
      while (publication.number === undefined && !signal.aborted) {
        // When the answer to a commit is lost, the retry is a `no-op`, which returns no number to check.
        const outcomes = await publisher.publish([line]).catch(() => []);
        const [outcome] = outcomes;
        if (outcome === 'no-op') break;
        if (outcome === undefined) await sleep(RETRY_MS);
        else publication.number = outcome.recorded;
      }
      await sleep(pauseMs);
    }
    await publisher.close();
  };
  return {
    entries,
    publications,
    acknowledged: () => ({
      appended: entries.filter(({ actieId }) => actieId !== undefined).length,
      published: publications.filter(({ number }) => number !== undefined).length,
    }),
    ended: Promise.all([...Array.from({ length: writers }, write), publish()]),
  };
}

async function append(url: string, authorization: string, { key, body }: Entry): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/verwerkingenlog/v1/verwerkingsacties`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', 'idempotency-key': key },
      body,
      signal: AbortSignal.timeout(20_000),
    });
    const answer: unknown = await response.json();
    return response.ok ? String(Object(answer).actieId) : undefined;
  } catch {
    // The client does not know the outcome and retries.
    return undefined;
  }
}

interface Reader {
  /** When each number ever read was stored: a different record with that number has a different time. */
  readonly seen: ReadonlyMap<number, string>;
  /** The feed's answer to the cursor of the last page that the reader got before this call. */
  tryOld(): Promise<string>;
  readonly ended: Promise<void>;
}

/** Follows the feed as a client does, starting over when its cursor is refused. */
function startReader(url: string, signal: AbortSignal): Reader {
  const seen = new Map<number, string>();
  let cursor: string | undefined;
  let [old, refused] = ['', ''];
  const read = async (from: string | undefined): Promise<Response> => {
    const query = from === undefined ? '' : `&cursor=${encodeURIComponent(from)}`;
    return fetch(`${url}/ori/v1/feed?limit=1000${query}`, { signal: AbortSignal.timeout(10_000) });
  };
  const follow = async (): Promise<void> => {
    while (!signal.aborted) {
      await sleep(30);
      const response = await read(cursor).catch(() => undefined);
      if (response === undefined) continue;
      const text = await response.text().catch(() => '');
      if (response.status === 400) {
        refused = describe(response.status, text);
        cursor = undefined;
      }
      if (!response.ok) continue;
      const page: { records?: Record<string, unknown>[]; cursor?: string } = JSON.parse(text);
      for (const record of page.records ?? []) {
        const number = Number(record.sequenceNumber);
        if (!seen.has(number)) seen.set(number, new Date(String(record.storedAt)).toISOString());
      }
      cursor = page.cursor ?? cursor;
      old = cursor ?? old;
    }
  };
  return {
    seen,
    ended: follow(),
    async tryOld() {
      if (refused !== '') return refused;
      const response = await read(old);
      return describe(response.status, await response.text());
    },
  };
}

/** The status, and the problem's explanation about the cursor. */
function describe(status: number, text: string): string {
  const { invalidParams = [] }: { invalidParams?: { reason?: string }[] } = JSON.parse(text);
  return [status, ...invalidParams.map(({ reason }) => reason)].join(' ');
}

type Found = Pick<FailoverResult, 'lostActions' | 'lostRecords' | 'givenTwice' | 'faults'>;

async function inspect(
  url: string,
  entries: readonly Entry[],
  publications: readonly Publication[],
  seen: ReadonlyMap<number, string>,
): Promise<Found> {
  const faults: string[] = [];
  const rows = await query(
    url,
    'select actie_id::text as id, count(*)::int as n from verwerkingenlog.versies group by 1',
  );
  const actions = new Map(rows.map(({ id, n }) => [String(id), Number(n)]));
  const lostActions = entries.flatMap(({ actieId }) =>
    actieId !== undefined && !actions.has(actieId) ? [actieId] : [],
  );
  const known = new Set(entries.map(({ actieId }) => actieId));
  const open = entries.filter(({ actieId }) => actieId === undefined).length;
  const strangers = [...actions.keys()].filter((id) => !known.has(id)).length;
  if (strangers > open)
    faults.push(`${strangers} actions never acknowledged to a client, of ${open} unanswered requests`);
  if ([...actions.values()].some((versions) => versions !== 1)) faults.push('an action has two versions');

  const records = await query(
    url,
    `select r.sequence_number::int as number, r.stored_at as stored, r.bronidentificatie as id
       from raadsfeed.records r order by r.sequence_number`,
  );
  const [feed] = await query(url, 'select head::int as head from raadsfeed.feed');
  if (records.some(({ number }, i) => number !== i + 1) || records.length !== feed?.head) {
    faults.push(`the numbers have a gap: ${records.length} records, head ${String(feed?.head)}`);
  }
  const now = new Map(
    records.map(({ number, stored }) => [
      Number(number),
      stored instanceof Date ? stored.toISOString() : String(stored),
    ]),
  );
  const ids = new Map(records.map(({ number, id }) => [Number(number), String(id)]));
  const lostRecords = publications.flatMap(({ number }, i) =>
    number !== undefined && ids.get(number) !== `document-${i + 1}` ? [number] : [],
  );
  const givenTwice = [...seen].flatMap(([number, stored]) =>
    now.has(number) && now.get(number) !== stored ? [number] : [],
  );
  return { lostActions, lostRecords, givenTwice, faults };
}
