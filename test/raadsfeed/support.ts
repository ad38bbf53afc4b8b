import type { Listener } from '../../src/database/listen.ts';
import { createPool, type Pool } from '../../src/database/pool.ts';
import { transaction } from '../../src/database/transaction.ts';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { createLogger } from '../../src/lib/log.ts';
import { type Clock, systemClock } from '../../src/lib/time.ts';
import { type Change, type Herkomst, prepareChange } from '../../src/raadsfeed/domain/change.ts';
import { type Outcome, publishBatch } from '../../src/raadsfeed/store/publish.ts';
import { createLineValidator } from '../../src/raadsfeed/writer/line-validator.ts';
import { createPublisher } from '../../src/raadsfeed/writer/publisher.ts';
import { type Api, createApi } from '../support/api.ts';
import { createDatabase } from '../support/database.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** How long a condition may take to become true: not a measure of speed, because the machine may be busy. */
export const PATIENT = { timeout: 60_000, interval: 50 };

export const quiet = createLogger('silent');

/** Disables notifications. */
export const silentListener: Listener = {
  subscribe: () => () => undefined,
  state: () => 'live',
  close: async () => undefined,
};

export interface FeedServer {
  readonly server: TestServer;
  readonly api: Api;
  /** Full address of the mount. */
  readonly mount: string;
  readonly pool: Pool;
  readonly databaseUrl: string;
  publish(lines: readonly object[]): Promise<Outcome[]>;
  /** A second instance on the same database. */
  another(env?: Record<string, string>): Promise<{ server: TestServer; api: Api; mount: string }>;
  stop(): Promise<void>;
}

/** A pool like the service's own. */
export function servicePool(url: string, size = 10): Pool {
  return createPool({
    url,
    size,
    connectTimeoutMs: 60_000,
    statementTimeoutMs: 60_000,
    pooler: 'none',
    role: 'koppelvlak_dienst',
    applicationName: 'test',
    log: quiet,
  });
}

const validate = createLineValidator();

/** A source holder's line, validated like one. */
export function changeOf(line: object): Change {
  const checked = validate(line);
  if ('faults' in checked) throw new Error(checked.faults.join('; '));
  return prepareChange(checked.line);
}

/** Publishes lines as a source holder does. */
export async function publishLines(
  pool: Pool,
  lines: readonly object[],
  clock: Clock = systemClock,
): Promise<Outcome[]> {
  return createPublisher({ pool, clock }).publish(lines.map(changeOf));
}

/** Waits until an instance knows a number, so that a test does not read its own publication too early. */
async function hasHeard({ managementUrl }: TestServer, number: number): Promise<void> {
  for (let attempt = 0; number > 0 && attempt < 500; attempt += 1) {
    const metrics = await fetch(`${managementUrl}/metrics`).then(
      (answer) => answer.text(),
      () => undefined,
    );
    // A stopped instance gets no more notifications.
    if (metrics === undefined || Number(/^koppelvlak_raadsfeed_head(?:\{.*\})? (\d+)/m.exec(metrics)?.[1]) >= number)
      return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The whole server with only the feed, and a writer beside it. */
export async function startFeed(env: Record<string, string> = {}, clock?: Clock): Promise<FeedServer> {
  const database = await createDatabase();
  const options = (extra: Record<string, string>) => ({
    env: { AREAS: 'raadsfeed', RAADSFEED_RATE_LIMIT: '0', ...env, ...extra },
    databaseUrl: database.url,
    ...(clock === undefined ? {} : { clock }),
  });
  const others: TestServer[] = [];
  const server = await startServer(options({}));
  const pool = servicePool(database.url);
  const mount = `${server.url}/ori/v1`;
  return {
    server,
    mount,
    api: createApi(mount, 'raadsfeed.yaml'),
    pool,
    databaseUrl: database.url,
    async publish(lines) {
      const outcomes = await publishLines(pool, lines, clock);
      const recorded = outcomes.flatMap((outcome) => (outcome === 'no-op' ? [] : outcome.recorded));
      await Promise.all([server, ...others].map((one) => hasHeard(one, Math.max(0, ...recorded))));
      return outcomes;
    },
    async another(extra = {}) {
      const second = await startServer(options(extra));
      others.push(second);
      const address = `${second.url}/ori/v1`;
      return { server: second, api: createApi(address, 'raadsfeed.yaml'), mount: address };
    },
    async stop() {
      await pool.end();
      for (const other of others) await other.stop();
      await server.stop();
      await database.drop();
    },
  };
}

const GM = { gemeente: 'gm9901', naam: 'Gemeente Voorbeeldstad' };

export function vergadering(id: string, extra: object = {}, organisatie: object = GM): object {
  const data = { bronidentificatie: id, dossiertype: 'vergadering', organisatie, naam: `Vergadering ${id}`, ...extra };
  return { op: 'upsert', resourceType: 'Vergadering', data };
}

export function agendapunt(id: string, extra: object = {}, organisatie: object = GM): object {
  const data = {
    bronidentificatie: id,
    dossiertype: 'agendapunt',
    organisatie,
    agendapuntnaam: `Agendapunt ${id}`,
    vergadering: { bronidentificatie: 'v-1' },
    ...extra,
  };
  return { op: 'upsert', resourceType: 'Agendapunt', data };
}

export function document(id: string, extra: object = {}, organisatie: object = GM): object {
  const data = {
    bronidentificatie: id,
    dossiertype: 'informatieobject',
    organisatie,
    webpaginalink: `https://raad.example/document/${encodeURIComponent(id)}`,
    titel: `Document ${id}`,
    wooinformatiecategorie: 'c_db4862c3',
    datumingediend: '2026-01-08',
    ...extra,
  };
  return { op: 'upsert', resourceType: 'Informatieobject', data };
}

export function removal(
  op: 'delete' | 'redact',
  resourceType: string,
  bronidentificatie: string,
  extra: object = {},
): object {
  const resource = { organisatiecode: 'gm9901', bronidentificatie };
  return { op, resourceType, resource, verwijderreden: op === 'delete' ? 'ingetrokken' : 'persoonsgegevens', ...extra };
}

/** The state left by a process that is killed between the commit of a redaction and the end of its work. */
export async function redactAndDie(pool: Pool, bronidentificatie: string): Promise<void> {
  const resource = { organisatiecode: 'gm9901', bronidentificatie };
  await transaction(pool, (client) =>
    publishBatch(
      client,
      [{ op: 'redact', resourceType: 'Informatieobject', resource, verwijderreden: 'persoonsgegevens' }],
      new Date(),
    ),
  );
}

/** A record of the feed, as tests see it. */
export interface TestRecord {
  readonly sequenceNumber: number;
  readonly op: string;
  readonly resourceType: string;
  readonly resource: { readonly organisatiecode: string; readonly bronidentificatie: string };
  readonly storedAt: string;
  readonly contentHash?: string;
  readonly resourceUrl?: string;
  readonly gewijzigdOp?: string;
  readonly herkomst?: Herkomst;
  readonly data?: Record<string, unknown>;
  readonly verwijderreden?: string;
  readonly toelichting?: string;
  readonly geredigeerdeSequenceNumbers?: readonly number[];
}

export interface TestPage {
  readonly records: readonly TestRecord[];
  readonly results: readonly Record<string, unknown>[];
  readonly cursor: string | null;
  readonly feedCursor: string;
  readonly head: number;
  readonly hasMore: boolean;
  readonly next: string | null;
}

/** A page, with its lists present; the answer check has already validated its form. */
export function asPage(json: unknown): TestPage {
  if (!isRecord(json)) throw new TypeError('no page');
  const page: unknown = { records: [], results: [], ...json };
  if (!isPage(page)) throw new TypeError('no page');
  return page;
}

function isPage(value: unknown): value is TestPage {
  return isRecord(value) && Array.isArray(value.records) && Array.isArray(value.results);
}

/** Follows a list to its end. */
export async function readAll(api: Api, path: string): Promise<TestPage[]> {
  const pages: TestPage[] = [];
  for (let cursor: string | undefined; ; ) {
    const glue = path.includes('?') ? '&' : '?';
    const answer = await api.call(
      'GET',
      cursor === undefined ? path : `${path}${glue}cursor=${encodeURIComponent(cursor)}`,
    );
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    const page = asPage(answer.json);
    pages.push(page);
    if (!page.hasMore || page.cursor === null) return pages;
    cursor = page.cursor;
  }
}

export async function readRecords(api: Api, path = '/feed'): Promise<TestRecord[]> {
  return (await readAll(api, path)).flatMap(({ records }) => records);
}
