import { isDeepStrictEqual } from 'node:util';
import { isRecord, type JsonObject } from '../../lib/json/json-value.ts';
import { type DemoClient, recordsOf } from '../demo-client.ts';
import type { TourNeeds } from '../demo-part.ts';
import { examplesIn, publish, raadsinformatie, raden } from '../example-data.ts';

/** Reads events from a stream of server-sent events until it ends; ending the iteration closes the connection. */
export async function* readEvents(
  url: string,
  lastEventId: string,
  signal: AbortSignal,
): AsyncGenerator<{ readonly id: string; readonly data: string }> {
  const headers = { accept: 'text/event-stream', 'last-event-id': lastEventId };
  const response = await fetch(url, { headers, signal });
  if (response.status !== 200 || response.body === null) throw new Error(`the stream answered ${response.status}`);
  let rest = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + chunk).split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const { id, data } = Object.fromEntries(part.split('\n').map((line) => line.split(/: (.*)/, 2)));
      if (id !== undefined && data !== undefined) yield { id, data };
    }
  }
}

interface Followed {
  readonly records: readonly JsonObject[];
  readonly pages: number;
  /** The head at the last page; 0 for a snapshot. */
  readonly head: number;
  /** Where the feed continues after a snapshot, else empty. */
  readonly feedCursor: string;
}

/** Follows `next` until there are no more pages. @throws {Error} when one is not answered with 200 */
export async function followFeed(client: DemoClient, start: string): Promise<Followed> {
  const records: JsonObject[] = [];
  let address: string = start;
  for (let pages = 1; ; pages += 1) {
    const { status, body } = await client.call('GET', address);
    if (status !== 200 || !Array.isArray(body.records)) throw new Error(`${address} answered ${status}`);
    records.push(...recordsOf(body.records));
    if (body.hasMore !== true || typeof body.next !== 'string') {
      return { records, pages, head: Number(body.head ?? 0), feedCursor: String(body.feedCursor ?? '') };
    }
    address = body.next;
  }
}

const STREAM_DEADLINE_MS = 10_000;
const MOST_RECORDS = 5000;

export async function tourFeed(needs: TourNeeds): Promise<void> {
  const { transcript, demo, client } = needs;
  const url = demo.file.mounts.raadsfeed;
  transcript.section('The council feed: open data, no token', 'feed');
  await transcript.part('the feed was followed', async () => {
    const service = await client.call('GET', `${url}/`);
    const organisations = recordsOf(service.body.organisaties);
    transcript.line(`GET ${url}/ -> ${service.status}`);
    transcript.line(organisations.map(({ organisatiecode, naam }) => `${organisatiecode} ${naam}`).join('; '));
    transcript.check(
      'the service document names both organisations',
      raden.every((code) => organisations.some(({ organisatiecode }) => organisatiecode === code)),
    );
    const hint = await client.call('GET', `${demo.file.baseUrl}/.well-known/council-feed`);
    transcript.status('the well-known address leads to it (307)', hint, 307);
    const start = await client.call('GET', `${url}/feed?limit=1`);
    const head = Number(start.body.head);
    if (head <= MOST_RECORDS) await readHistory(needs, url);
    else transcript.line(`the feed has ${head} records: it is not read whole here`);
    const before = Math.max(0, head - 2);
    await listen(needs, url, { before, head });
    const bad = await client.call('GET', `${url}/feed?limit=0&kleur=rood`);
    const faults = Array.isArray(bad.body.invalidParams) ? bad.body.invalidParams.length : 0;
    transcript.check('a wrong question is refused with every fault (400)', bad.status === 400 && faults === 2);
    transcript.line('try:');
    transcript.command(`curl -s ${url}/`);
    transcript.command(`curl -s "${url}/feed?limit=3&resourceType=Vergadering"`);
    transcript.command(`curl -s ${url}/organisaties/gm9901/agendapunten`);
    transcript.command(`curl -sN -H "Last-Event-ID: ${before}" ${url}/feed/stream`);
  });
}

async function readHistory({ transcript, client }: TourNeeds, url: string): Promise<void> {
  const { records, pages, head } = await followFeed(client, `${url}/feed?limit=10`);
  transcript.line(`GET ${url}/feed -> ${records.length} records in ${pages} pages of at most 10, head ${head}`);
  transcript.check(
    'the numbers run from 1 to the head without a gap',
    records.length === head && records.every(({ sequenceNumber }, i) => sequenceNumber === i + 1),
  );
  const redactions = records.filter(({ op }) => op === 'redact');
  transcript.check(
    'what was redacted holds its place, without content',
    redactions.length >= 2 && redactions.every((record) => !('data' in record)),
  );
  const deletions = records.filter(({ op }) => op === 'delete');
  transcript.check(
    'every removal says why',
    deletions.length >= 1 && deletions.every(({ verwijderreden }) => typeof verwijderreden === 'string'),
  );
  const snapshot = await followFeed(client, `${url}/snapshot?limit=10`);
  const tail = await followFeed(client, `${url}/feed?cursor=${encodeURIComponent(snapshot.feedCursor)}`);
  const counts = `${snapshot.records.length} resources; then the feed from its cursor: ${tail.records.length} more`;
  transcript.line(`GET ${url}/snapshot -> ${counts}`);
  transcript.check(
    'the snapshot with what follows is the whole history, replayed',
    isDeepStrictEqual(replay([...snapshot.records, ...tail.records]), replay(records)),
  );
}

async function listen(
  { transcript, demo }: TourNeeds,
  url: string,
  { before, head }: { before: number; head: number },
): Promise<void> {
  transcript.line(`GET ${url}/feed/stream with Last-Event-ID: ${before}`);
  const seen: number[] = [];
  for await (const { id, data } of readEvents(
    `${url}/feed/stream`,
    String(before),
    AbortSignal.timeout(STREAM_DEADLINE_MS),
  )) {
    seen.push(Number(id));
    const record: unknown = JSON.parse(data);
    transcript.line(`   event ${id}: ${isRecord(record) ? `${record.op} ${keyOf(record)}` : data}`);
    if (Number(id) === head) {
      await publish(demo.file, [await changedMeeting(examplesIn(demo.home))]);
      transcript.line('   (an application publishes a change of a meeting now, with the sealing key of demo.json)');
    }
    if (seen.length === head - before + 1) break;
  }
  transcript.check(
    'the stream catches up and then shows what is published meanwhile',
    seen.length === head - before + 1 && seen.every((id, i) => id === before + 1 + i),
  );
}

async function changedMeeting(directory: string): Promise<JsonObject> {
  const line = (await raadsinformatie(directory)).findLast(
    ({ resourceType, data }) => resourceType === 'Vergadering' && Object(data).organisatie?.gemeente === raden[0],
  );
  const vergadertoelichting = `De vergadering is online te volgen (toegevoegd op ${new Date().toISOString()}).`;
  return { ...line, data: { ...Object(line?.data), vergadertoelichting } };
}

function keyOf({ resourceType, resource }: JsonObject): string {
  const { organisatiecode, bronidentificatie } = isRecord(resource) ? resource : {};
  return `${organisatiecode}/${resourceType}/${bronidentificatie}`;
}

function replay(records: readonly JsonObject[]): ReadonlyMap<string, unknown> {
  const state = new Map<string, unknown>();
  for (const record of records) {
    if (record.op === 'upsert') state.set(keyOf(record), record.contentHash);
    else state.delete(keyOf(record));
  }
  return state;
}
