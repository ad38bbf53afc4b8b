import { isRecord } from '../../http/openapi-document.ts';
import { raden, vergadering } from '../data/raadsinformatie.ts';
import { publish } from '../load-example-data.ts';
import { readEvents } from './event-stream.ts';
import { followFeed } from './follow-feed.ts';
import type { TourNeeds } from './tour.ts';

/** Milliseconds that the stream gets to show what it must. */
const STREAM_DEADLINE_MS = 10_000;

/** A re-user starts at the snapshot, follows the feed to its head, and then listens to the stream. */
export async function tourFeed(needs: TourNeeds): Promise<void> {
  const { transcript, demo, client, platform } = needs;
  const url = demo.file.mounts.raadsfeed;
  transcript.section('The council feed: open data, no token');
  await transcript.part('the feed was followed', async () => {
    const service = await client.call('GET', `${url}/`);
    const organisations = (Array.isArray(service.body.organisaties) ? service.body.organisaties : []).filter(isRecord);
    transcript.line(`GET ${url}/ -> ${service.status}`);
    transcript.line(organisations.map(({ organisatiecode, naam }) => `${organisatiecode} ${naam}`).join('; '));
    transcript.check(
      'feed: the service document names both organisations',
      ['gm9901', 'ws9901'].every((code) => organisations.some(({ organisatiecode }) => organisatiecode === code)),
    );
    const hint = await client.call('GET', `${demo.file.baseUrl}/.well-known/council-feed`);
    transcript.check('feed: the well-known address leads to it (307)', hint.status === 307, String(hint.status));

    const history = await followFeed(client, `${url}/feed?limit=10`, 'the feed');
    transcript.line(
      `GET ${url}/feed -> ${history.records.length} records in ${history.pages} pages of at most 10, head ${history.head}`,
    );
    const numbers = history.records.map(({ sequenceNumber }) => sequenceNumber);
    transcript.check(
      'feed: the numbers run from 1 to the head without a gap',
      numbers.length === history.head && numbers.every((number, i) => number === i + 1),
    );
    const redactions = history.records.filter(({ op }) => op === 'redact');
    transcript.check(
      'feed: what was redacted holds its place, without content',
      redactions.length >= 2 && redactions.every((record) => !('data' in record)),
    );
    transcript.check(
      'feed: a removal says why',
      history.records.some(({ op, verwijderreden }) => op === 'delete' && verwijderreden === 'ingetrokken'),
    );

    const snapshot = await followFeed(client, `${url}/snapshot?limit=10`, 'the snapshot');
    const tail = await followFeed(client, `${url}/feed?cursor=${encodeURIComponent(snapshot.feedCursor)}`, 'the feed');
    const state = new Map(snapshot.records.map((record) => [keyOf(record), record]));
    for (const record of tail.records) apply(state, record);
    const replayed = new Map<string, Record<string, unknown>>();
    for (const record of history.records) apply(replayed, record);
    transcript.line(
      `GET ${url}/snapshot -> ${snapshot.records.length} resources; then the feed from its cursor: ${tail.records.length} more`,
    );
    transcript.check('feed: the snapshot with what follows is the whole history, replayed', sameState(state, replayed));

    const before = Math.max(0, history.head - 2);
    const stop = AbortSignal.timeout(STREAM_DEADLINE_MS);
    transcript.line(`GET ${url}/feed/stream with Last-Event-ID: ${before}`);
    const seen: number[] = [];
    let published = 0;
    for await (const event of readEvents(`${url}/feed/stream`, String(before), stop)) {
      seen.push(Number(event.id));
      transcript.line(`   event ${event.id}: ${summary(event.data)}`);
      if (Number(event.id) === history.head) {
        const remark = `Bijgewerkt door de rondleiding van ${new Date().toISOString()}`;
        published = await publish(platform, [
          { op: 'upsert', resourceType: 'Vergadering', data: vergadering(raden.stad, undefined, remark) },
        ]);
        transcript.line('   (a change of a meeting is published now)');
      }
      if (seen.length === history.head - before + 1) break;
    }
    transcript.check(
      'feed: the stream catches up and then shows what is published meanwhile',
      published === 1 && seen.every((id, i) => id === before + 1 + i),
    );
    const bad = await client.call('GET', `${url}/feed?limit=0&kleur=rood`);
    transcript.check(
      'feed: a wrong question is refused with every fault (400)',
      bad.status === 400 && Array.isArray(bad.body.invalidParams) && bad.body.invalidParams.length === 2,
    );
    transcript.line('try:');
    transcript.command(`curl -s ${url}/`);
    transcript.command(`curl -s "${url}/feed?limit=3&resourceType=Vergadering"`);
    transcript.command(`curl -s ${url}/organisaties/gm9901/agendapunten`);
    transcript.command(`curl -sN -H "Last-Event-ID: ${before}" ${url}/feed/stream`);
  });
}

function keyOf({ resourceType, resource }: Record<string, unknown>): string {
  const { organisatiecode, bronidentificatie } = isRecord(resource) ? resource : {};
  return `${organisatiecode}/${resourceType}/${bronidentificatie}`;
}

/** What a consumer does with a record. */
function apply(state: Map<string, Record<string, unknown>>, record: Record<string, unknown>): void {
  if (record.op === 'upsert') state.set(keyOf(record), record);
  else state.delete(keyOf(record));
}

function sameState(
  a: ReadonlyMap<string, Record<string, unknown>>,
  b: ReadonlyMap<string, Record<string, unknown>>,
): boolean {
  return a.size === b.size && [...a].every(([key, record]) => b.get(key)?.contentHash === record.contentHash);
}

function summary(data: string): string {
  const record: unknown = JSON.parse(data);
  return isRecord(record) ? `${String(record.op)} ${keyOf(record)}` : data;
}
