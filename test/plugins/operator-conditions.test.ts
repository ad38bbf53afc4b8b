/**
 * Every condition that the service watches, broken on purpose: the operator's page describes it within ten seconds, without revealing a
 * secret of the configuration. One service with everything enabled; the cases run in order, and the last takes its database away.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/time.ts';
import { deriveSeed } from '../../src/proof/keys.ts';
import { createSigner } from '../../src/proof/tlog/note.ts';
import { settingGroups } from '../../src/settings/read-config.ts';
import { messageFile, shvMessage } from '../gegevens/support/messages.ts';
import { openSupplier, type Supplier } from '../gegevens/support/supplier.ts';
import { startWitness, type TestWitness } from '../proof/witness/witness-server.ts';
import { publishLines, vergadering } from '../raadsfeed/support.ts';
import { createApi } from '../support/api.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { actie, newPerson } from '../verwerkingenlog/support.ts';
import { ecKeys, pemFile, replaceFile, selfSigned } from './oauth/support/certificate.ts';

/** Days until the FSC Manager's certificate expires; the authority's last 730. */
const FSC_DAYS = 40;
const DAY_MS = 86_400_000;
const SECONDS_ALLOWED = 20;
const PROOF_KEY = randomBytes(32);
const random = (): string => randomBytes(32).toString('base64');

let directory: string;
let database: TestDatabase;
let supplier: Supplier;
let witness: TestWitness | undefined;
let session: pg.Client;
let fscBundle: string;
let env: Record<string, string>;
let aheadMs = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'operator-'));
  database = await createDatabase();
  fscBundle = pemFile((await selfSigned(ecKeys(), { validTo: FSC_DAYS })).certificate);
  const logKeys = ['verwerkingen', 'leveringen'].map((log) => {
    const origin = `127.0.0.1/proof/v1/${log}`;
    return createSigner(origin, deriveSeed(PROOF_KEY, origin)).key;
  });
  witness = await startWitness({ name: 'getuige.example', logKeys });
  await writeFile(
    join(directory, 'policy'),
    `${logKeys.map(({ text }) => `log ${text}\n`).join('')}witness w ${witness.key.text} ${witness.prefix}\ngroup g all w\nquorum g\n`,
  );
  env = {
    AREAS: 'shv,vs,verwerkingenlog,raadsfeed',
    DATABASE_MIGRATION_URL: database.url,
    DATABASE_LISTEN_URL: `postgres://luisteraar:${randomBytes(9).toString('hex')}@127.0.0.1:1/nergens`,
    'database.connectTimeoutMs': '1000',
    'tokens.oauthJwksCacheSeconds': '60',
    FSC_TOKEN_CERTIFICATES: fscBundle,
    FSC_GROUP_ID: 'fsc-test',
    FSC_AUDIENCE: 'https://inway.example:443',
    FSC_PEER_ID: '00000099000000002000',
    VERWERKINGENLOG_KEY: `eerste:${random()}`,
    VERWERKINGENLOG_PAGES: 'true',
    INZAGE_OIDC_ISSUER: 'http://127.0.0.1:1/digid',
    INZAGE_OIDC_CLIENT_ID: 'inzage',
    INZAGE_OIDC_CLIENT_SECRET: random(),
    INZAGE_SESSION_KEY: random(),
    // Through a proxy that does not exist.
    OUTBOUND_PROXY: `http://proxy:${randomBytes(9).toString('hex')}@127.0.0.1:1`,
    OUTBOUND_NO_PROXY: '127.0.0.1',
    LDV_FORWARD_URL: 'http://logboek.example',
    'ldvOut.forwardLagSeconds': '1',
    PROOF_KEY: PROOF_KEY.toString('base64'),
    PROOF_STATE: join(directory, 'state.json'),
    'proof.intervalSeconds': '1',
    PROOF_LOGS: 'verwerkingen,leveringen',
    PROOF_WITNESSES: join(directory, 'policy'),
    RAADSFEED_PAGES: 'true',
    RAADSFEED_ROL: 'aggregator',
    AGGREGATOR_ALLOW_PRIVATE: 'true',
  };
  supplier = await openSupplier({
    databaseUrl: database.url,
    env,
    clock: { now: () => new Date(systemClock.now().getTime() + aheadMs) },
  });
  env = { ...env, DATABASE_URL: database.url };
  session = new pg.Client(database.url);
  session.on('error', () => undefined);
  await session.connect();
  // Started at once, because they take some seconds to show.
  await publishLines(supplier.pool, [vergadering('v-1')]);
  await append();
  await session.query(
    `insert into aggregator.sources (address, kind) values ('http://bron:geheim-van-de-bron@127.0.0.1:1/een', 'feed'),
      ('http://127.0.0.1:1/twee?sleutel=geheim-van-de-bron', 'feed')`,
  );
});
afterAll(async () => {
  await session.end().catch(() => undefined);
  await supplier.close();
  await witness?.stop();
  await rm(directory, { recursive: true });
});

async function append(): Promise<void> {
  const log = createApi(`${supplier.server.url}/verwerkingenlog/v1`, 'verwerkingenlog.yaml');
  const headers = await supplier.tokens.bearer(['create:normal']);
  expect((await log.call('POST', '/verwerkingsacties', { headers, body: actie(newPerson()) })).status).toBe(201);
}

/** Every secret that the service was started with, none of which may be shown. */
function secrets(): string[] {
  return Object.values(settingGroups)
    .flatMap((group) => Object.values(group))
    .filter(({ secret }) => secret)
    .flatMap(({ variable }) => {
      const value = env[variable];
      if (value === undefined) return [];
      const password = URL.canParse(value) ? new URL(value).password : '';
      return [value, ...(password === '' ? [] : [password]), value.replace(/^\w+:/, '')];
    })
    .concat('geheim-van-de-bron');
}

async function page(): Promise<string> {
  const text = await (await fetch(`${supplier.server.managementUrl}/`)).text();
  for (const secret of secrets()) expect(text.includes(secret), secret.slice(0, 12)).toBe(false);
  return text;
}

interface Row {
  readonly state: string;
  readonly words: string;
}

/** The row of a condition, as text. */
async function row(name: string): Promise<Row> {
  const text = await page();
  const found = new RegExp(
    `<th scope="row"><a href="/runbook#[a-z-]+">${name}</a></th><td data-label="state"><span class="state \\w+">(\\w+)</span></td><td data-label="what">(.*?)</td>`,
  ).exec(text);
  return { state: found?.[1] ?? 'not there', words: found?.[2] ?? '' };
}

interface Case {
  readonly name: string;
  readonly what: string;
  /** Absent: it holds from the start. */
  readonly breaks?: () => Promise<unknown>;
  readonly words: RegExp;
  readonly state?: 'failed';
  readonly repairs?: () => Promise<unknown>;
}

const inDays = (days: number) => async (): Promise<void> => {
  aheadMs = days * DAY_MS;
};
const signingKey = (): string => supplier.env.GEGEVENS_SIGNING_KEY ?? '';
let keptKey = '';
let keptBundle = '';

const CASES: readonly Case[] = [
  { name: 'listen', what: 'no connection to LISTEN', words: /^the LISTEN connection is lost: the feed is polled/ },
  {
    name: 'proof witnesses',
    what: 'a quorum missed',
    breaks: async () => {
      await witness?.stop();
      witness = undefined;
      await append();
    },
    words: /^too few witnesses cosigned .*; missing: w$/,
  },
  {
    name: 'ldv forwarding',
    what: 'an unreachable logbook',
    words: /^\d+ actions wait to be forwarded, the first for \d+ seconds; failing since 2.*: .*/,
  },
  {
    name: 'proof log verwerkingen',
    what: 'waiting entries',
    breaks: async () => {
      await session.query(`begin; select pg_advisory_xact_lock(hashtextextended('proof verwerkingen', 0))`);
      await append();
      await supplier.asOwner(
        `update proof.queue set queued_at = queued_at - interval '1 minute' where log = 'verwerkingen'`,
      );
    },
    words: /^\d+ entries wait for a place, the first for [67]\d s$/,
    repairs: () => session.query('commit'),
  },
  {
    name: 'proof log leveringen',
    what: 'a modified tree',
    breaks: () => supplier.asOwner(`update proof.logs set root_hash = '\\x00' where log = 'leveringen'`),
    words: /^nothing is signed: the tiles of the database do not have the root/,
  },
  {
    name: 'log keys',
    what: 'a missing key',
    breaks: () => supplier.asOwner(`insert into verwerkingenlog.keys values ('tweede', 'x', true)`),
    words: /^VERWERKINGENLOG_KEY .*tweede/,
    repairs: () => supplier.asOwner(`delete from verwerkingenlog.keys where name = 'tweede'`),
  },
  {
    name: 'retention',
    what: 'a failed run',
    breaks: () =>
      supplier.asOwner(`insert into verwerkingenlog.prune_runs (started_at, login, ended_at, fault)
        values (now(), session_user, now(), 'the disk is full')`),
    words: /^the last run failed: the disk is full$/,
    repairs: () => supplier.asOwner(`delete from verwerkingenlog.prune_runs where fault is not null`),
  },
  {
    name: 'migrations',
    what: 'a database migrated by a newer program',
    breaks: () => supplier.asOwner(`insert into koppelvlak.migrations (name, run_on) values ('9999-later', now())`),
    words: /^newer than this program: 9999-later$/,
  },
  {
    name: 'migrations',
    what: 'an unmigrated database',
    breaks: () => supplier.asOwner(`delete from koppelvlak.migrations where name = '0010-diwoo'`),
    words: /^to be applied: 0010-diwoo$/,
    state: 'failed',
    repairs: () => supplier.asOwner(`insert into koppelvlak.migrations (name, run_on) values ('0010-diwoo', now())`),
  },
  {
    name: 'signing-key',
    what: 'the wrong key',
    breaks: async () => {
      keptKey = await readFile(signingKey(), 'utf8');
      replaceFile(signingKey(), ecKeys().privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
    },
    words: /^a new signing key was refused: /,
    repairs: async () => replaceFile(signingKey(), keptKey),
  },
  {
    name: 'fsc-token-certificates',
    what: 'an unreadable file',
    breaks: async () => {
      keptBundle = await readFile(fscBundle, 'utf8');
      replaceFile(fscBundle, 'no certificate');
    },
    words: /^changed certificates were refused: /,
    repairs: async () => replaceFile(fscBundle, keptBundle),
  },
  {
    name: 'token-issuer',
    what: 'old keys and an unreachable issuer',
    breaks: async () => {
      await supplier.tokens.close();
      await inDays(0.125)();
    },
    words: /^OAUTH_ISSUER is unavailable; its keys are \d+ s old$/,
  },
  { name: 'clock', what: 'a wrong clock', words: /^10\d{3}\.\d s ahead of the clock of the database$/ },
  {
    name: 'search index',
    what: 'an index being rebuilt',
    breaks: async () => {
      await session.query('begin; lock table pages.items in share mode');
      await supplier.asOwner(`update pages.position set feed_id = ''`);
    },
    words: /^0 of \d+ records read \(0 %\)$/,
    repairs: () => session.query('commit'),
  },
  {
    name: 'fsc-token-certificates',
    what: 'one that is about to expire',
    breaks: inDays(FSC_DAYS - 20),
    words: /^the last FSC token certificate expires in (19|20) days, on 2/,
  },
  {
    name: 'fsc-token-certificates',
    what: 'one that has expired',
    breaks: inDays(FSC_DAYS + 1),
    words: /^the last FSC token certificate expired on 2/,
  },
  {
    name: 'signing-key',
    what: 'a certificate that is about to expire',
    breaks: inDays(710),
    words: /^the signing certificate expires in (19|20) days, on 2/,
  },
  {
    name: 'signing-key',
    what: 'a certificate that has expired',
    breaks: inDays(731),
    words: /^the signing certificate expired on 2/,
  },
  {
    name: 'database-writable',
    what: 'a read-only database',
    breaks: () =>
      supplier.asOwner(`do $$ begin execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$;
        select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`),
    words: /^the database takes no changes: it is read-only; only the council feed is served$/,
  },
  { name: 'database', what: 'no database', breaks: () => database.drop(), words: /./, state: 'failed' },
];

/** The page of a healthy service, read before anything else is broken. */
describe("the operator's page of a complete service", () => {
  it('has deliveries by day, the lag of each log, lasting statements, and figures of the last hour', async () => {
    const slow = session.query('select pg_sleep(60)').catch(() => undefined);
    await supplier.import(
      'shv',
      messageFile(shvMessage({ leveringen: [{ naam: 'Noord', kvk: '30000001', records: 3 }] })),
    );
    await supplier.get({});
    await expect
      .poll(page)
      .toMatch(/<td data-label="statement">select<\/td><td data-label="waits for">Timeout: PgSleep</);
    await supplier.asOwner(`select pg_cancel_backend(pid) from pg_stat_activity where query = 'select pg_sleep(60)'`);
    await slow;
    const text = await page();
    const today = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Amsterdam' }).format(new Date());
    expect(text).toMatch(
      new RegExp(
        `<h2>Deliveries of the last 30 days</h2>[\\s\\S]*<th scope="row">${today}</th><td data-label="variant">shv</td><td data-label="answers">1</td><td data-label="records">3</td><td data-label="MB">0\\.0</td><td data-label="not sent whole">0</td>`,
      ),
    );
    expect(text).toMatch(/<th scope="row">verwerkingen<\/th><td data-label="leaves of the tree">\d+</);
    expect(text).toMatch(/<h2>Forwarding to the other logbook<\/h2>[\s\S]*<td data-label="last fault">[^<]+since 2/);
    for (const figure of [
      'Log appends',
      'Appends in one transaction, mean',
      'Longest wait to be forwarded',
      'Longest wait for a place in a proof log',
    ]) {
      // It may only be in the next sample.
      await expect.poll(page).toMatch(new RegExp(`<strong>${figure}</strong>: [\\d.]+ `));
    }
    expect(text).toMatch(/signing key and certificate<\/th><td data-label="days left">7(29|30)</);
    expect(text).toMatch(/FSC Manager \(tokens\)<\/th><td data-label="days left">(39|40)</);
  });

  it('names the failing source, how far and how completely it was read, and its last fault', async () => {
    const source = (path: string, words: string): RegExp =>
      new RegExp(
        `<th scope="row">http://127\\.0\\.0\\.1:1/${path}</th><td data-label="state">active</td><td data-label="read to its end">never</td><td data-label="records behind">not known</td><td data-label="completeness">[^<]+</td><td data-label="last fault">${words} \\(failures: \\d+, since 2`,
      );
    await expect.poll(page).toMatch(source('een', 'credentials in an address'));
    await expect.poll(page).toMatch(source('twee', '[^<]*ECONNREFUSED[^<]*'));
  });

  it('covers all secrets of the configuration, except those of an alternative setting', () => {
    const known = Object.values(settingGroups)
      .flatMap((group) => Object.values(group))
      .filter(({ secret }) => secret)
      .map(({ variable }) => variable);
    expect(known.filter((variable) => env[variable] === undefined).toSorted()).toEqual([
      'DATABASE_PRUNE_URL',
      'GEGEVENS_SIGNING_P12_PASSPHRASE',
      'LDV_FORWARD_CLIENT_SECRET',
      'PROOF_SEALING_KEY',
    ]);
  });

  it('is not on the public listener', async () => {
    const answer = await fetch(`${supplier.server.url}/`);
    expect(answer.status).toBe(404);
    expect(await answer.text()).not.toContain('Conditions');
  });

  it.each(CASES)('describes: $name, $what', async ({ name, breaks, words, state = 'warning', repairs }) => {
    await breaks?.();
    await expect
      .poll(() => row(name), { timeout: SECONDS_ALLOWED * 1000, interval: 100 })
      .toEqual({ state, words: expect.stringMatching(words) });
    await repairs?.();
  });

  it('has a case for every condition', async () => {
    const shown = (await page()).matchAll(/<th scope="row"><a[^>]+>([^<]+)<\/a><\/th><td data-label="state"><span/g);
    expect([...new Set(CASES.map(({ name }) => name))].toSorted()).toEqual(
      [...shown].map(([, name]) => name).toSorted(),
    );
  });
});
