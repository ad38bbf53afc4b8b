import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect } from 'vitest';
import { createPool, type Pool } from '../../../src/database/pool.ts';
import { type Imported, importFile } from '../../../src/gegevens/store/import-file.ts';
import type { Variant } from '../../../src/lib/exchange-model/mapping.ts';
import { loadModel, type Model } from '../../../src/lib/exchange-model/model.ts';
import type { SignatureStyle } from '../../../src/lib/jades/signature.ts';
import { createVerifier } from '../../../src/lib/jades/verify.ts';
import { isRecord } from '../../../src/lib/json/json-value.ts';
import { createLogger } from '../../../src/lib/log.ts';
import { readValidation } from '../../../src/lib/openapi-document.ts';
import { createGuardedFetch } from '../../../src/lib/outbound/guarded-fetch.ts';
import type { Clock } from '../../../src/lib/time.ts';
import { createAnswerCheck } from '../../support/api.ts';
import { createFaultyAuthority, type FaultyAuthority } from '../../support/authority/faulty-authority.ts';
import { createDatabase } from '../../support/database.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { startTokens, type TestTokens } from '../../support/tokens.ts';
import { authorityDirectory } from './authority-directory.ts';
import { createRequester, type RawAnswer, type RawHeaders, type Requester, send } from './requester.ts';

export const FIXTURES = join(import.meta.dirname, '../../fixtures/gegevens');

export interface Asked {
  readonly variant?: Variant;
  readonly style?: SignatureStyle;
  /** Headers added to or replacing the usual ones; `undefined` omits one. */
  readonly headers?: RawHeaders;
  readonly server?: TestServer;
}

/** A supplier: the real server with a database, keys, an authority and a token issuer; and a requester. */
export interface Supplier {
  readonly server: TestServer;
  readonly databaseUrl: string;
  /** With the rights of the service. */
  readonly pool: Pool;
  /** A statement run as the owner of the database. */
  readonly asOwner: (statement: string) => Promise<Record<string, unknown>[]>;
  readonly authority: FaultyAuthority;
  readonly tokens: TestTokens;
  readonly requester: Requester;
  /** Environment of the server, for another instance. */
  readonly env: Readonly<Record<string, string>>;
  /** Sends a signed request; a string is sent unchanged. */
  ask(body: unknown, asked?: Asked): Promise<RawAnswer>;
  /** The same, expecting 200: checks contract, digest and signature, and returns the parsed body. */
  get(body: unknown, asked?: Asked): Promise<Delivered>;
  /** Replaces existing data by default. */
  import(variant: Variant, path: string, options?: { model?: Model; replace?: boolean }): Promise<Imported>;
  /** Another instance on the same database. */
  another(env?: Readonly<Record<string, string>>): Promise<TestServer>;
  close(): Promise<void>;
}

export interface Delivered extends RawAnswer {
  readonly gegevens: Record<string, unknown>;
  readonly paginering: Record<string, unknown> | undefined;
}

export async function openSupplier(
  options: {
    readonly env?: Readonly<Record<string, string>>;
    readonly clock?: Clock;
    /** Absent: a new database. */
    readonly databaseUrl?: string;
  } = {},
): Promise<Supplier> {
  const dir = await authorityDirectory('gegevens-');
  const authority = await createFaultyAuthority({ dir, port: 0 });
  authority.behaviour.lifeSeconds = 3600;
  const tokens = await startTokens();
  const database =
    options.databaseUrl === undefined ? await createDatabase() : { url: options.databaseUrl, drop: async () => {} };
  const env = {
    AREAS: 'shv,vs,verwerkingenlog',
    ...tokens.env,
    GEGEVENS_TRUST_ANCHORS: authority.root,
    GEGEVENS_SIGNING_KEY: authority.supplier.key,
    GEGEVENS_SIGNING_CHAIN: authority.supplier.chain,
    GEGEVENS_REVOCATION_ALLOW_PRIVATE: 'true',
    // On a busy machine, answers come too late for `hard`; revoked certificates are refused either way.
    GEGEVENS_REVOCATION: 'soft',
    GEGEVENS_SUPPLIER_CODE: 'TEST-01',
    ...options.env,
  };
  const more = options.clock === undefined ? {} : { clock: options.clock };
  const server = await startServer({ env, databaseUrl: database.url, ...more });
  const servers = [server];
  const pool = createPool({
    url: database.url,
    size: 4,
    connectTimeoutMs: 20_000,
    statementTimeoutMs: 60_000,
    pooler: 'none',
    role: 'koppelvlak_dienst',
    applicationName: 'test',
    log: createLogger('silent'),
  });
  const requester = createRequester(authority.requester);
  const models = { shv: loadModel('shv'), vs: loadModel('vs') };
  const check = createAnswerCheck(readValidation(new URL('../../../openapi/gegevens.yaml', import.meta.url)));
  const network = createGuardedFetch({ allowPrivate: true });
  const verifier = createVerifier({
    anchors: readFileSync(authority.root, 'utf8'),
    revocation: 'soft',
    fetch: network.fetch,
    now: () => new Date(),
  });

  const ask: Supplier['ask'] = async (body, { variant = 'shv', style, headers = {}, server: other = server } = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await send(
      `${other.url}/${variant}/v1/gegevens`,
      'POST',
      {
        'content-type': 'application/json',
        ...(await tokens.bearer(['read'])),
        ...(await requester.sign(text, style)),
        ...headers,
      },
      text,
    );
    const json: unknown = answer.text === '' ? undefined : JSON.parse(answer.text);
    check('POST', '/gegevens', { ...answer, json });
    return answer;
  };
  return {
    server,
    databaseUrl: database.url,
    pool,
    asOwner: async (statement) => {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      try {
        return (await client.query<Record<string, unknown>>(statement)).rows;
      } finally {
        await client.end();
      }
    },
    authority,
    tokens,
    requester,
    env,
    ask,
    async get(body, asked = {}) {
      const answer = await ask(body, asked);
      expect(answer.status, `${answer.text.slice(0, 500)} ${lastError(asked.server ?? server)}`).toBe(200);
      await verifier.verify({
        digestHeader: answer.headers.get('digest') ?? '',
        signatureHeader: answer.headers.get('nlgov-adr-payload-sig') ?? '',
        body: answer.bytes,
      });
      const json: unknown = JSON.parse(answer.text);
      if (!isRecord(json) || !isRecord(json.gegevens)) throw new TypeError('no gegevens');
      const { paginering } = json;
      return { ...answer, gegevens: json.gegevens, paginering: isRecord(paginering) ? paginering : undefined };
    },
    import: (variant, path, options = {}) =>
      importFile(pool, {
        path,
        model: models[variant],
        signal: new AbortController().signal,
        replace: true,
        ...options,
      }),
    async another(extra = {}) {
      const next = await startServer({ env: { ...env, ...extra }, databaseUrl: database.url, ...more });
      servers.push(next);
      return next;
    },
    async close() {
      for (const each of servers) await each.stop();
      await verifier.close();
      await network.close();
      await pool.end();
      await database.drop();
      await tokens.close();
      await authority.close();
      rmSync(dir, { recursive: true });
    },
  };
}

/** The server's latest error log, shown by a failing test. */
function lastError({ logged }: TestServer): string {
  return JSON.stringify(logged.findLast(({ level }) => Number(level) >= 50) ?? null);
}
