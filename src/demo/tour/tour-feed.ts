import { createFeedPublisher, type Outcome } from '../../client/raadsfeed.ts';
import { isRecord } from '../../lib/json/json-value.ts';
import type { DemoClient, DemoFile } from '../demo-client.ts';
import { raden, vergadering } from '../example-data.ts';
import type { TourNeeds } from '../run-demo.ts';

/** One event of a stream (WHATWG, server-sent events): only what the feed uses. */
interface StreamEvent {
  readonly id: string;
  readonly data: string;
}

/** Reads events from a stream of server-sent events until it ends; ending the iteration closes the connection. */
export async function* readEvents(url: string, lastEventId: string, signal: AbortSignal): AsyncGenerator<StreamEvent> {
  const response = await fetch(url, {
    headers: { accept: 'text/event-stream', 'last-event-id': lastEventId },
    signal,
  });
  if (response.status !== 200 || response.body === null) throw new Error(`the stream answered ${response.status}`);
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const fields = Object.fromEntries(
        part.split('\n').map((line) => [line.split(': ', 1)[0] ?? '', line.slice(line.indexOf(': ') + 2)]),
      );
      if (fields.data !== undefined && fields.id !== undefined) yield { id: fields.id, data: fields.data };
    }
  }
}

/** Everything that was read on the way to the end. */
interface Followed {
  readonly records: readonly Record<string, unknown>[];
  readonly pages: number;
  /** The head at the last page; 0 for a snapshot. */
  readonly head: number;
  /** Where the feed goes on after a snapshot, else empty. */
  readonly feedCursor: string;
}

const MOST_PAGES = 1000;

/** Reads pages along `next` until there are no more. @throws {Error} when one is not answered with 200 */
export async function followFeed(client: DemoClient, start: string, what: string): Promise<Followed> {
  const records: Record<string, unknown>[] = [];
  let address: string = start;
  for (let pages = 1; pages <= MOST_PAGES; pages += 1) {
    const { status, body } = await client.call('GET', address);
    if (status !== 200 || !Array.isArray(body.records)) throw new Error(`${what} answered ${status}`);
    records.push(...body.records.filter(isRecord));
    if (body.hasMore !== true || typeof body.next !== 'string') {
      return { records, pages, head: Number(body.head ?? 0), feedCursor: String(body.feedCursor ?? '') };
    }
    address = body.next;
  }
  throw new Error(`${what} does not end`);
}

/** Milliseconds that the stream gets to show what it must. */
const STREAM_DEADLINE_MS = 10_000;
/** A feed that someone has filled with more records than this is not read whole. */
const MOST_RECORDS = 5000;

type FeedRecord = Readonly<Record<string, unknown>>;

/** A re-user starts at the snapshot, follows the feed to its head, and then listens to the stream. */
export async function tourFeed(needs: TourNeeds): Promise<void> {
  const { transcript, demo, client } = needs;
  const url = demo.file.mounts.raadsfeed;
  transcript.section('The council feed: open data, no token');
  await transcript.part('the feed was followed', async () => {
    const service = await client.call('GET', `${url}/`);
    const organisations = (Array.isArray(service.body.organisaties) ? service.body.organisaties : []).filter(isRecord);
    transcript.line(`GET ${url}/ -> ${service.status}`);
    transcript.line(organisations.map(({ organisatiecode, naam }) => `${organisatiecode} ${naam}`).join('; '));
    transcript.check(
      'feed: the service document names both organisations',
      Object.values(raden).every(({ code }) => organisations.some(({ organisatiecode }) => organisatiecode === code)),
    );
    const hint = await client.call('GET', `${demo.file.baseUrl}/.well-known/council-feed`);
    transcript.status('feed: the well-known address leads to it (307)', hint, 307);
    const start = await client.call('GET', `${url}/feed?limit=1`);
    const head = Number(start.body.head);
    if (head <= MOST_RECORDS) await readHistory(needs, url);
    else transcript.line(`the feed has ${head} records: it is not read whole here`);
    const before = Math.max(0, head - 2);
    await listen(needs, url, { before, head });
    const bad = await client.call('GET', `${url}/feed?limit=0&kleur=rood`);
    const faults = Array.isArray(bad.body.invalidParams) ? bad.body.invalidParams.length : 0;
    transcript.check('feed: a wrong question is refused with every fault (400)', bad.status === 400 && faults === 2);
    transcript.line('try:');
    transcript.command(`curl -s ${url}/`);
    transcript.command(`curl -s "${url}/feed?limit=3&resourceType=Vergadering"`);
    transcript.command(`curl -s ${url}/organisaties/gm9901/agendapunten`);
    transcript.command(`curl -sN -H "Last-Event-ID: ${before}" ${url}/feed/stream`);
  });
}

/** Reads the whole history, and the short way round it: the snapshot and what follows. */
async function readHistory({ transcript, client }: TourNeeds, url: string): Promise<void> {
  const history = await followFeed(client, `${url}/feed?limit=10`, 'the feed');
  const { records, pages, head } = history;
  transcript.line(`GET ${url}/feed -> ${records.length} records in ${pages} pages of at most 10, head ${head}`);
  const first = Number(records[0]?.sequenceNumber);
  transcript.check(
    `feed: the numbers run from ${first} to the head without a gap`,
    records.length === head - first + 1 && records.every(({ sequenceNumber }, i) => sequenceNumber === first + i),
  );
  const redactions = records.filter(({ op }) => op === 'redact');
  transcript.check(
    'feed: what was redacted holds its place, without content',
    redactions.every((record) => !('data' in record)) && (first > 1 || redactions.length >= 2),
  );
  const deletions = records.filter(({ op }) => op === 'delete');
  transcript.check(
    'feed: every removal says why',
    deletions.every(({ verwijderreden }) => typeof verwijderreden === 'string') && (first > 1 || deletions.length >= 1),
  );
  const snapshot = await followFeed(client, `${url}/snapshot?limit=10`, 'the snapshot');
  const cursor = encodeURIComponent(snapshot.feedCursor);
  const tail = await followFeed(client, `${url}/feed?cursor=${cursor}`, 'the feed');
  const counts = `${snapshot.records.length} resources; then the feed from its cursor: ${tail.records.length} more`;
  transcript.line(`GET ${url}/snapshot -> ${counts}`);
  if (first === 1) {
    transcript.check(
      'feed: the snapshot with what follows is the whole history, replayed',
      sameState(replay(snapshot, tail), replay(history)),
    );
  }
}

/** Catches up with the stream from two records back, and sees what is published meanwhile. */
async function listen(
  needs: TourNeeds,
  url: string,
  { before, head }: { before: number; head: number },
): Promise<void> {
  const { transcript, demo } = needs;
  transcript.line(`GET ${url}/feed/stream with Last-Event-ID: ${before}`);
  const seen: number[] = [];
  let published: readonly Outcome[] = [];
  for await (const event of readEvents(`${url}/feed/stream`, String(before), AbortSignal.timeout(STREAM_DEADLINE_MS))) {
    seen.push(Number(event.id));
    transcript.line(`   event ${event.id}: ${summary(event.data)}`);
    if (Number(event.id) === head) {
      const remark = `Bijgewerkt door de rondleiding van ${new Date().toISOString()}`;
      const data = vergadering(raden.stad, undefined, remark);
      published = await publishElsewhere(demo.file, { op: 'upsert', resourceType: 'Vergadering', data });
      transcript.line('   (an application publishes a change of a meeting now, with the sealing key of demo.json)');
    }
    if (seen.length === head - before + 1) break;
  }
  transcript.check(
    'feed: the stream catches up and then shows what is published meanwhile',
    published.length === 1 && seen.every((id, i) => id === before + 1 + i),
  );
}

/** As an application that has the records does it, with what the package exports. */
async function publishElsewhere(
  { databaseUrl, environment: { PROOF_SEALING_KEY: sealingKey } }: DemoFile,
  line: object,
): Promise<readonly Outcome[]> {
  const application = createFeedPublisher({ databaseUrl, ...(sealingKey === undefined ? {} : { sealingKey }) });
  try {
    return await application.publish([line]);
  } finally {
    await application.close();
  }
}

function keyOf({ resourceType, resource }: FeedRecord): string {
  const { organisatiecode, bronidentificatie } = isRecord(resource) ? resource : {};
  return `${organisatiecode}/${resourceType}/${bronidentificatie}`;
}

/** The state that a consumer has after these records. */
function replay(...parts: readonly Followed[]): ReadonlyMap<string, FeedRecord> {
  const state = new Map<string, FeedRecord>();
  for (const record of parts.flatMap(({ records }) => records)) {
    if (record.op === 'upsert') state.set(keyOf(record), record);
    else state.delete(keyOf(record));
  }
  return state;
}

function sameState(a: ReadonlyMap<string, FeedRecord>, b: ReadonlyMap<string, FeedRecord>): boolean {
  return a.size === b.size && [...a].every(([key, record]) => b.get(key)?.contentHash === record.contentHash);
}

function summary(data: string): string {
  const record: unknown = JSON.parse(data);
  return isRecord(record) ? `${String(record.op)} ${keyOf(record)}` : data;
}
