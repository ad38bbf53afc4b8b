import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { createFeedPublisher } from '../../src/client/raadsfeed.ts';
import { startChild } from './children.ts';
import { sampleLine } from './sample-records.ts';
import { middle } from './turns.ts';

const WRITERS = 16;
const READERS = 100;
/** Between two requests of a reader that is at the head, in milliseconds. */
const POLL_MS = 100;
/** How long writers and readers are watched without a redaction, in milliseconds. */
const UNDISTURBED_MS = 5000;
const REDACTED = 1000;
/** Lines of one call of the publisher: one transaction. */
const BATCH = 1000;

/** The waits of one kind of client, in milliseconds. */
class Waits {
  readonly #found: number[] = [];

  async of<Result>(work: () => Promise<Result>): Promise<Result> {
    const from = performance.now();
    const result = await work();
    this.#found.push(performance.now() - from);
    return result;
  }

  take(): string {
    const found = this.#found.splice(0);
    return `${found.length} times, middle ${middle(found).toFixed(1)} ms, longest ${Math.max(...found).toFixed(0)} ms`;
  }
}

/**
 * Redacts the oldest documents of a feed while 16 writers publish and 100 readers poll at its head: how long each of them waits, without
 * the redaction and beside it.
 * @param records in the feed before the first redaction
 */
export async function measureRedaction(databaseUrl: string, records: number): Promise<void> {
  const server = await startChild(new URL('feed-server.ts', import.meta.url), { DATABASE_URL: databaseUrl });
  const { url } = Object(await server.ask({}));
  const publishers = Array.from({ length: WRITERS + 1 }, () => createFeedPublisher({ databaseUrl }));
  const [redactor, ...writers] = publishers;
  const agent = new Agent({ connections: READERS });
  try {
    await redactor?.publish(Array.from({ length: records }, (_, n) => JSON.parse(sampleLine(n))));
    const stop = new AbortController();
    const [published, read] = [new Waits(), new Waits()];
    const work = [
      ...writers.map(async (writer, index) => {
        for (let round = 0; !stop.signal.aborted; round += 1) {
          const line = JSON.parse(sampleLine(records + index, round));
          await published.of(() => writer.publish([line]));
        }
      }),
      ...Array.from({ length: READERS }, async () => {
        let cursor = await headOf(url, agent);
        while (!stop.signal.aborted) {
          const page = await read.of(() => pageAfter(url, cursor, agent));
          cursor = page.cursor;
          if (!page.hasMore) await sleep(POLL_MS);
        }
      }),
    ];
    await sleep(UNDISTURBED_MS);
    console.log(`without a redaction: a line published ${published.take()}; a page at the head ${read.take()}`);
    const from = performance.now();
    for (let first = 0; first < REDACTED; first += BATCH) {
      await redactor?.publish(Array.from({ length: BATCH }, (_, n) => redaction(first + n)));
    }
    const took = performance.now() - from;
    console.log(
      `beside a redaction of the ${REDACTED} oldest of ${records} (${(took / 1000).toFixed(1)} s): a line published ${published.take()}; a page at the head ${read.take()}`,
    );
    stop.abort();
    await Promise.all(work);
  } finally {
    await agent.close();
    await Promise.all(publishers.map((publisher) => publisher.close()));
    await server.stop();
  }
}

function redaction(n: number): unknown {
  const { resourceType, data } = JSON.parse(sampleLine(n));
  const resource = { organisatiecode: data.organisatie.gemeente, bronidentificatie: data.bronidentificatie };
  return { op: 'redact', resourceType, resource, verwijderreden: 'persoonsgegevens' };
}

async function headOf(url: string, agent: Agent): Promise<string> {
  const { body } = await request(`${url}/ori/v1/snapshot?limit=1`, { dispatcher: agent });
  return String(Object(await body.json()).feedCursor);
}

async function pageAfter(url: string, cursor: string, agent: Agent): Promise<{ cursor: string; hasMore: boolean }> {
  const { statusCode, body } = await request(`${url}/ori/v1/feed?limit=500&cursor=${cursor}`, { dispatcher: agent });
  const page = Object(await body.json());
  if (statusCode !== 200) throw new Error(`a page was answered with ${statusCode}: ${JSON.stringify(page)}`);
  return { cursor: page.cursor, hasMore: page.hasMore };
}
