import { randomInt, randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Clock } from '../../src/lib/time.ts';
import { type Answer, type Api, createApi } from '../support/api.ts';
import { createDatabase } from '../support/database.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { startTokens, type TestTokens } from '../support/tokens.ts';

/** A well-formed key; nobody's secret. */
export const KEY = `eerste:${Buffer.alloc(32, 7).toString('base64')}`;

export const HEADERS = {
  OIN: '00000099000000001000',
  VerwerkingId: '48086bf2-11b7-4603-9526-67d7c3bb6587',
  Vertrouwelijkheid: 'normaal',
  Bewaartermijn: 'P1Y',
};

export interface LogServer {
  readonly server: TestServer;
  readonly tokens: TestTokens;
  readonly api: Api;
  /** Calls with a token with these scopes. */
  call(
    scopes: readonly string[],
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  stop(): Promise<void>;
}

/** The real server with only the processing log mounted. */
export async function startLog(
  options: { env?: Record<string, string>; clock?: Clock; databaseUrl?: string; tokens?: TestTokens } = {},
): Promise<LogServer> {
  const tokens = options.tokens ?? (await startTokens());
  const server = await startServer({
    env: { AREAS: 'verwerkingenlog', VERWERKINGENLOG_KEY: KEY, ...tokens.env, ...options.env },
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    ...(options.databaseUrl === undefined ? {} : { databaseUrl: options.databaseUrl }),
  });
  const api = createApi(`${server.url}/verwerkingenlog/v1`, 'verwerkingenlog.yaml');
  return {
    server,
    tokens,
    api,
    call: async (scopes, method, path, body, headers = {}) =>
      api.call(method, path, { headers: { ...(await tokens.bearer(scopes)), ...headers }, body }),
    async stop() {
      await server.stop();
      if (options.tokens === undefined) await tokens.close();
    },
  };
}

/** Two instances of the log on one database, and a connection to that database. */
export interface TwoLogs {
  readonly log: LogServer;
  readonly other: LogServer;
  readonly client: pg.Client;
  stop(): Promise<void>;
}

export async function startTwoLogs(options: { clock?: Clock } = {}): Promise<TwoLogs> {
  const database = await createDatabase();
  const log = await startLog({ ...options, databaseUrl: database.url });
  const other = await startLog({ ...options, databaseUrl: database.url, tokens: log.tokens });
  const client = new pg.Client(database.url);
  await client.connect();
  return {
    log,
    other,
    client,
    async stop() {
      await client.end();
      await other.stop();
      await log.stop();
      await database.drop();
    },
  };
}

/** A person that nobody else in the test has. */
export function newPerson(): string {
  return String(randomInt(100_000_000, 999_999_999));
}

/** An action about one person, changed as the test needs. */
export function actie(objectId: string, wishes: Record<string, unknown> = {}) {
  return {
    actieNaam: 'Zoeken persoon',
    handelingNaam: 'Intake',
    verwerkingNaam: 'Aanvraag schuldhulp',
    verwerkingId: randomUUID(),
    verwerkingsactiviteitId: '5f0bef4c-f66f-4311-84a5-19e8bf359eaf',
    verwerkingsactiviteitUrl: 'https://register.example/5f0bef4c',
    vertrouwelijkheid: 'normaal',
    bewaartermijn: 'P10Y',
    uitvoerder: '00000099000000001000',
    systeem: 'Balie 2',
    gebruiker: '1234',
    gegevensbron: 'Personenregister',
    soortAfnemerId: 'OIN',
    afnemerId: '00000099000000002000',
    verwerkingsactiviteitIdAfnemer: randomUUID(),
    verwerkingsactiviteitUrlAfnemer: 'https://register.example/afnemer',
    verwerkingIdAfnemer: randomUUID(),
    tijdstip: '2026-01-15T13:35:42Z',
    verwerkteObjecten: [
      {
        objecttype: 'persoon',
        soortObjectId: 'BSN',
        objectId,
        betrokkenheid: 'Aanvrager',
        verwerkteSoortenGegevens: [{ soortGegeven: 'BSN' }],
      },
    ],
    ...wishes,
  };
}

/** In a query: of every confidentiality. */
export const EVERY = { vertrouwelijkheid__in: 'normaal,vertrouwelijk,opgeheven' };

/** Query parameters of a list of one person. */
export function ofPerson(objectId: string, more: Record<string, string> = {}): string {
  return new URLSearchParams({ objecttype: 'persoon', soortObjectId: 'BSN', objectId, ...more }).toString();
}

export interface Actie {
  readonly url: string;
  readonly actieId: string;
  readonly [member: string]: unknown;
}

/** The body of an answer about one action. */
export function actieIn(answer: Answer): Actie {
  const { json } = answer;
  if (typeof json === 'object' && json !== null && 'actieId' in json && 'url' in json) {
    const { actieId, url } = json;
    if (typeof actieId === 'string' && typeof url === 'string') return { ...json, actieId, url };
  }
  throw new Error(`no action: ${answer.status} ${answer.text}`);
}

export interface List {
  readonly count: number;
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: readonly Actie[];
}

/** The body of a list. */
export function listIn(answer: Answer): List {
  if (!isList(answer.json)) throw new Error(`no list: ${answer.status} ${answer.text}`);
  return answer.json;
}

function isList(value: unknown): value is List {
  return typeof value === 'object' && value !== null && 'results' in value && Array.isArray(value.results);
}
