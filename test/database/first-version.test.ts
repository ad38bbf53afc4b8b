/**
 * A database of 1.0.0 is taken along. `test/fixtures/database-1.0` holds one, with deliveries, actions under a key, a feed with redactions
 * and the proof logs, and what 1.0.0 answered about it.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MIGRATIONS, migrate, requireMigrations } from '../../src/database/migrate.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callProgram } from '../support/program.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { startTokens, type TestTokens } from '../support/tokens.ts';
import { describeSchema } from './describe-schema.ts';
import { openPool, quiet } from './support.ts';

const FIXTURE = join(import.meta.dirname, '../fixtures/database-1.0');
/** 1.0.0 listed all of them when the query named none. */
const ALL_CATEGORIES = 'normaal,vertrouwelijk,opgeheven';

interface Answer {
  readonly status: number;
  readonly body: string;
}

interface ActionList {
  readonly results: readonly { readonly actieId: string }[];
  readonly next: string | null;
}

/** What 1.0.0 answered, by address, and what its commands wrote. */
interface Answers {
  readonly feed: readonly (readonly [string, Answer])[];
  readonly snapshot: readonly (readonly [string, Answer])[];
  readonly persons: readonly (readonly [string, Answer])[];
  readonly proof: readonly (readonly [string, Answer])[];
  readonly commands: readonly (readonly [string[], string])[];
  readonly environment: Readonly<Record<string, string>>;
  readonly proofState: string;
}

async function readFixture(name: string): Promise<string> {
  return gunzipSync(await readFile(join(FIXTURE, name))).toString('utf8');
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

let database: TestDatabase;
let answers: Answers;

async function restore(): Promise<TestDatabase> {
  const restored = await createDatabase({ empty: true });
  const client = await connect(restored.url);
  await client.query(await readFixture('database.sql.gz'));
  // A dump renames it. In the database it was the index of the copy that replaced the partition when something was redacted.
  await client.query('alter index raadsfeed.tekst_from_0_pkey rename to tekst_from_0_copy_pkey1');
  await client.end();
  return restored;
}

beforeAll(async () => {
  answers = JSON.parse(await readFixture('answers.json.gz'));
  database = await restore();
});
afterAll(() => database?.drop());

describe('a database of 1.0.0', () => {
  it('is taken along once, however many start at the same time', async () => {
    const url = database.url;
    const results = await Promise.all(Array.from({ length: 5 }, () => migrate({ url, dir: MIGRATIONS, log: quiet })));
    // One may take it along and another add what came later.
    const applied = results.flat();
    expect(applied.length).toBeGreaterThan(0);
    expect(applied).toEqual([...new Set(applied)]);
    expect(await migrate({ url, dir: MIGRATIONS, log: quiet })).toEqual([]);
  });

  it('has the schema of a new database afterwards', async () => {
    const fresh = await createDatabase();
    const [taken, made] = [await connect(database.url), await connect(fresh.url)];
    try {
      // The months of the log are made by the service.
      const { rows } = await taken.query(
        `select to_date(right(relname, 6), 'YYYYMM') as month from pg_class where relname ~ '^versies_\\d{6}$'`,
      );
      for (const { month } of rows)
        await made.query('select verwerkingenlog.create_months(($1::date)::timestamp at time zone $2, 1)', [
          month,
          'UTC',
        ]);
      const [one, other] = [await describeSchema(taken), await describeSchema(made)];
      expect(one.filter((line) => !other.includes(line))).toEqual([]);
      expect(other.filter((line) => !one.includes(line))).toEqual([]);
    } finally {
      await Promise.all([taken.end(), made.end()]);
      await fresh.drop();
    }
  });

  it.each([
    [
      'lacks a part of 1.0.0',
      `delete from koppelvlak.migraties where name = '0103-verdeelbaar'`,
      'older than 1.0.0: it lacks 0103-verdeelbaar',
    ],
    [
      'has a migration of a later 1.0',
      `insert into koppelvlak.migraties (name, run_on) values ('0140-later', now())`,
      'newer than this program: it has 0140-later',
    ],
    [
      'has a levering whose running times 1.0.0 has not read',
      'update gegevens.leveringen set looptijden = false where id = (select min(id) from gegevens.leveringen)',
      'start 1.0.0 once with shv in AREAS',
    ],
  ])('is refused when it %s, and stays as it was', async (_title, change, message) => {
    const other = await restore();
    const client = await connect(other.url);
    try {
      await client.query(change);
      const before = await describeSchema(client);
      await expect(migrate({ url: other.url, dir: MIGRATIONS, log: quiet })).rejects.toThrow(message);
      expect(await describeSchema(client)).toEqual(before);
    } finally {
      await client.end();
      await other.drop();
    }
  });

  it('is behind for a login that owns nothing, whether it migrates or not', async () => {
    const other = await restore();
    const login = `dienst_${randomBytes(8).toString('hex')}`;
    const client = await connect(other.url);
    const pool = openPool(other.url, { role: 'koppelvlak_dienst' });
    const behind = {
      code: 'BEHIND',
      message: expect.stringContaining('lacks from-1.0. Run `koppelvlak migrate` first'),
    };
    try {
      await client.query(`create role ${login} login in role koppelvlak_dienst`);
      await expect(requireMigrations(pool, MIGRATIONS)).rejects.toMatchObject(behind);
      const url = other.url.replace('user=koppelvlak', `user=${login}`);
      const env = { AREAS: 'raadsfeed', DATABASE_MIGRATE: 'false' };
      await expect(startServer({ env, databaseUrl: url })).rejects.toMatchObject(behind);
      const refused = migrate({ url, dir: MIGRATIONS, log: quiet });
      await expect(refused).rejects.toMatchObject(behind);
    } finally {
      await pool.end();
      await client.query(`drop role if exists ${login}`);
      await client.end();
      await other.drop();
    }
  });
});

describe('what 1.0.0 answered', () => {
  let server: TestServer;
  let tokens: TestTokens;
  let home: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'koppelvlak-1.0-'));
    await writeFile(join(home, 'proof-state.json'), answers.proofState);
    tokens = await startTokens();
    env = { ...answers.environment, PROOF_STATE: join(home, 'proof-state.json') };
    server = await startServer({
      env: { AREAS: 'verwerkingenlog,raadsfeed', ...tokens.env, ...env },
      databaseUrl: database.url,
    });
  });
  afterAll(async () => {
    await server?.stop();
    await tokens?.close();
    await rm(home, { recursive: true, force: true });
  });

  async function ask(address: string, headers: Record<string, string> = {}): Promise<Answer> {
    const { pathname, search } = new URL(address);
    const response = await fetch(`${server.url}${pathname}${search}`, { headers });
    return { status: response.status, body: await response.text() };
  }

  it.each(['feed', 'snapshot'] as const)('about the %s is answered the same, with every cursor', async (kind) => {
    expect(answers[kind].length).toBeGreaterThan(3);
    for (const [address, answer] of answers[kind]) expect([address, await ask(address)]).toEqual([address, answer]);
  });

  it('about the proof logs is answered the same: keys, hashes, entries', async () => {
    // Checkpoints move on, and deliveries are not served here: the commands below prove them.
    const kept = answers.proof.filter(
      ([address, { status }]) => /(verwerkingen|raadsfeed)\/(key|tile)/.test(address) && status === 200,
    );
    expect(kept.length).toBeGreaterThan(3);
    for (const [address, answer] of kept) expect([address, await ask(address)]).toEqual([address, answer]);
  });

  it('about persons is found again', async () => {
    const headers = await tokens.bearer(['read:confidential']);
    for (const [address, { body }] of answers.persons) {
      const { results: before }: ActionList = JSON.parse(body);
      expect(before.length).toBeGreaterThan(50);
      const found: ActionList['results'][number][] = [];
      for (let next: string | null = `${address}&vertrouwelijkheid__in=${ALL_CATEGORIES}`; next !== null; ) {
        const { status, body: page } = await ask(next, headers);
        expect(status).toBe(200);
        const list: ActionList = JSON.parse(page);
        found.push(...list.results);
        next = list.next;
      }
      const after = new Map(found.map((action) => [action.actieId, action]));
      for (const action of before) expect(after.get(action.actieId)).toEqual(action);
    }
  });

  it('to commands is the same: deliveries, journal, proof', async () => {
    for (const [words, written] of answers.commands) {
      const { status, stdout } = await callProgram(words, { ...env, DATABASE_URL: database.url });
      expect({ words, status }).toEqual({ words, status: 0 });
      if (words[0] === 'proof') expect(stdout).toMatch(/: 0 faults\.\n.*: 0 faults\.\n.*: 0 faults\.\n$/);
      else expect({ words, stdout }).toEqual({ words, stdout: written });
    }
  });
});
