/**
 * What the first page of a person costs over HTTP, with the entry that it leaves, among ten thousand and among ten million processed
 * objects; beside the bare query through `pg` and an empty request in the same run: `node bench/log-reads.ts [objects]`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import pg from 'pg';
import { startEmbedded } from '../src/kernel/database/embedded.ts';
import { createLogger } from '../src/kernel/log.ts';
import { startTokens } from '../test/support/tokens.ts';
import { barePage } from './floors/log-page.ts';
import { startChild } from './support/children.ts';
import { generateLog, personOf } from './support/generate-log.ts';
import type { LoadResult } from './support/raw-client.ts';

const large = Number(process.argv[2] ?? 10_000_000);
const SMALL = 10_000;
const ASKED = 500;
const tokens = await startTokens();
const client = await startChild(new URL('./support/load-process.ts', import.meta.url));
const { authorization } = await tokens.bearer(['read:normal']);

interface Costs {
  readonly http: LoadResult;
  readonly bare: number;
  readonly empty: LoadResult;
}

async function measure(objects: number, logReads: boolean): Promise<Costs> {
  const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-bench-'));
  const postgres = await startEmbedded({ dir, log: createLogger('error'), settings: { shared_buffers: '2GB' } });
  const server = await startChild(new URL('./support/log-server.ts', import.meta.url), {
    DATABASE_URL: postgres.url,
    VERWERKINGENLOG_LOG_READS: String(logReads),
    OVERLOAD_EVENT_LOOP_DELAY_MS: '0',
    ...tokens.env,
  });
  try {
    const { url } = Object(await server.ask({}));
    const db = new pg.Client(postgres.url);
    await db.connect();
    const persons = await generateLog(db, objects);
    const numbers = Array.from({ length: ASKED }, (_, i) => personOf(Math.floor((i * persons) / ASKED) + 1));
    const bare = await barePage(db, numbers);
    await db.end();
    const load = {
      url: `${url}/verwerkingenlog/v1/verwerkingsacties`,
      method: 'GET',
      connections: 1,
      warmUpMs: 2000,
      measureMs: 5000,
      headers: {
        authorization,
        oin: '00000099000000001000',
        verwerkingid: '48086bf2-11b7-4603-9526-67d7c3bb6587',
        vertrouwelijkheid: 'normaal',
        bewaartermijn: 'P1Y',
      },
      idempotencyKeys: false,
      bodies: [],
      expectStatus: 200,
    };
    const paths = numbers.map(
      (bsn) =>
        `/verwerkingenlog/v1/verwerkingsacties?objecttype=persoon&soortObjectId=BSN&objectId=${bsn}&vertrouwelijkheid=normaal`,
    );
    const http: LoadResult = Object(await client.ask({ ...load, paths }));
    const empty: LoadResult = Object(
      await client.ask({ ...load, paths: ['/verwerkingenlog/v1/verwerkingsactiviteiten/x'], expectStatus: 400 }),
    );
    return { http, bare, empty };
  } finally {
    await server.stop();
    await postgres.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

try {
  const results: Costs[] = [];
  for (const objects of [SMALL, large]) {
    for (const logReads of [false, true]) {
      const costs = await measure(objects, logReads);
      results.push(costs);
      const floor = costs.bare + costs.empty.medianMs;
      console.log(
        `${String(objects).padStart(9)} objects, ${logReads ? 'reads logged ' : 'reads silent '} first page ${costs.http.medianMs.toFixed(2)} ms (p99 ${costs.http.p99Ms.toFixed(2)}), bare query ${costs.bare.toFixed(2)} ms, empty request ${costs.empty.medianMs.toFixed(2)} ms: ${(costs.http.medianMs / floor).toFixed(2)} times (at most 3)`,
      );
    }
  }
  const [small, , big] = results;
  console.log(
    `first page among ${large} / among ${SMALL}: ${((big?.http.medianMs ?? Number.NaN) / (small?.http.medianMs ?? Number.NaN)).toFixed(2)} (at most 1.3)`,
  );
} finally {
  await client.stop();
  await tokens.close();
}
