/** Persons' identifiers at rest: none of them in the database, yet searchable, with keys that change while the service runs. */
import { createHmac, hash } from 'node:crypto';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readActie } from '../../src/verwerkingenlog/domain/verwerkingsactie.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { readIfThere } from '../support/read-if-there.ts';
import { startServer } from '../support/server.ts';
import { koppelvlak } from './cli.ts';
import { actie, actieIn, HEADERS, KEY, type LogServer, listIn, newPerson, ofPerson, startLog } from './support.ts';

const ALL = ['create:confidential', 'update:confidential', 'delete:confidential', 'read:confidential'];
const NEW_KEY = `tweede:${Buffer.alloc(32, 9).toString('base64')}`;

let database: TestDatabase;
let client: pg.Client;
const running: LogServer[] = [];

async function start(key: string): Promise<LogServer> {
  const log = await startLog({ databaseUrl: database.url, env: { VERWERKINGENLOG_KEY: key } });
  running.push(log);
  return log;
}

async function open(): Promise<void> {
  database = await createDatabase();
  client = new pg.Client(database.url);
  await client.connect();
}

async function close(): Promise<void> {
  for (const log of running.splice(0)) await log.stop();
  await client?.end();
  await database?.drop();
}

/** A log without any entries. */
async function renew(): Promise<void> {
  await close();
  await open();
}

beforeAll(open);
afterAll(close);

async function found(log: LogServer, person: string): Promise<number> {
  const path = `/verwerkingsacties?${ofPerson(person, { vertrouwelijkheid: 'normaal', beperkteSet: 'false' })}`;
  const { results } = listIn(
    await log.call(ALL, 'GET', path, undefined, { ...HEADERS, Vertrouwelijkheid: 'vertrouwelijk' }),
  );
  return results.filter(({ actieNaam }) => actieNaam === 'Zoeken persoon').length;
}

/** Everything in the log's tables, as text. */
async function dump(): Promise<string> {
  const { rows } = await client.query(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'verwerkingenlog' and c.relkind = 'r'`,
  );
  const parts: string[] = [];
  for (const { name } of rows) {
    const { rows: lines } = await client.query(`select t::text as line from ${name} t`);
    parts.push(name, ...lines.map(({ line }) => line));
  }
  return parts.join('\n');
}

const ALGORITHMS = ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'sha3-256'];

/** The texts of which a dump contains an unkeyed hash, whole or truncated to eight bytes or more. */
function guessable(dumped: string, texts: readonly string[]): string[] {
  const hexadecimal = dumped.toLowerCase().replaceAll('-', '');
  const holds = (digest: Buffer): boolean =>
    hexadecimal.includes(digest.toString('hex').slice(0, 16)) ||
    dumped.includes(digest.toString('base64').slice(0, 11)) ||
    dumped.includes(digest.toString('base64url').slice(0, 11));
  return texts.filter((text) =>
    ALGORITHMS.some((name) => holds(hash(name, text, 'buffer')) || holds(createHmac(name, '').update(text).digest())),
  );
}

const identifiers = [newPerson(), newPerson(), newPerson()] as const;

describe('a dump of the database', () => {
  it('has nothing from which a BSN can be guessed: no unkeyed hash of the number, its person or its action', async () => {
    const log = await start(KEY);
    const person = newPerson();
    const body = actie(person, { soortAfnemerId: 'BSN', afnemerId: person });
    const idempotencyKey = `aanvraag-${person}`;
    const kept = await log.call(ALL, 'POST', '/verwerkingsacties', body, { 'idempotency-key': idempotencyKey });
    const again = await log.call(ALL, 'POST', '/verwerkingsacties', body, { 'idempotency-key': idempotencyKey });
    expect(again.text).toBe(kept.text);
    await log.call(ALL, 'PUT', `/verwerkingsacties/${actieIn(kept).actieId}`, { ...body, systeem: 'Balie 3' });
    const read = readActie(body);
    const texts = [
      ...[person, `"${person}"`, idempotencyKey, `test\n${idempotencyKey}`, `test${idempotencyKey}`],
      ...['', '\n', ':', '|', ' ', '/', ',', '-'].flatMap((between) => [
        ['BSN', person].join(between),
        ['bsn', person].join(between),
        ['persoon', 'BSN', person].join(between),
      ]),
      ...[body, read, body.verwerkteObjecten, body.verwerkteObjecten[0], read.verwerkteObjecten[0], kept.json].map(
        (value) => JSON.stringify(value),
      ),
      JSON.stringify({ soortObjectId: 'BSN', objectId: person }),
      JSON.stringify(['BSN', person]),
    ];
    const dumped = await dump();
    expect(guessable(dumped, texts)).toEqual([]);
    expect(guessable(`${dumped} ${hash('sha256', person).slice(0, 32)}`, texts)).toEqual([person]);
  });

  it('contains no identifier: not in tables, not in data files, not in the write-ahead log', async () => {
    const log = await start(KEY);
    // A number that no other test uses: all test databases share the write-ahead log.
    const [person, receiver, changed] = identifiers;
    const body = actie(person, { soortAfnemerId: 'BSN', afnemerId: receiver });
    const kept = await log.call(ALL, 'POST', '/verwerkingsacties', body, { 'idempotency-key': `bsn-${person}` });
    const { actieId } = actieIn(kept);
    const objects = [...body.verwerkteObjecten, { ...body.verwerkteObjecten[0], objectId: changed }];
    await log.call(ALL, 'PUT', `/verwerkingsacties/${actieId}`, { ...body, verwerkteObjecten: objects });
    await log.call(ALL, 'PATCH', `/verwerkingsacties?verwerkingId=${body.verwerkingId}`, { bewaartermijn: 'P9Y' });
    const read = await log.call(ALL, 'GET', `/verwerkingsacties/${actieId}?beperkteSet=false`, undefined, HEADERS);
    expect(actieIn(read)).toMatchObject({
      afnemerId: receiver,
      verwerkteObjecten: [{ objectId: person }, { objectId: changed }],
    });
    expect(await found(log, changed)).toBe(1);

    const text = await dump();
    expect(text).toContain(actieId);
    for (const identifier of [person, receiver, changed]) expect(text).not.toContain(identifier);

    await client.query('checkpoint');
    const { rows } = await client.query(
      `select current_setting('data_directory') as dir, oid from pg_database where datname = current_database()`,
    );
    const [{ dir, oid }] = rows;
    let bytes = 0;
    for (const folder of [join(dir, 'base', String(oid)), join(dir, 'pg_wal')]) {
      for (const entry of await readdir(folder, { withFileTypes: true })) {
        if (!entry.isFile()) continue;
        const content = await readIfThere(join(folder, entry.name));
        bytes += content.length;
        for (const identifier of [person, receiver, changed]) {
          expect(content.includes(identifier), `${folder}/${entry.name}`).toBe(false);
        }
      }
    }
    expect(bytes).toBeGreaterThan(1_000_000);
  });

  it("contains no identifier in the service's log", async () => {
    const [log] = running;
    const logged = JSON.stringify(log?.server.logged);
    for (const identifier of identifiers) expect(logged).not.toContain(identifier);
  });
});

describe('keys', () => {
  it('are created at the first start outside production, readable by their owner only, and used by every command', async () => {
    await renew();
    const home = await mkdtemp(join(tmpdir(), 'koppelvlak-'));
    try {
      const env = { VERWERKINGENLOG_KEY: '', KOPPELVLAK_HOME: join(home, 'new') };
      const logs = await Promise.all([0, 1].map(() => startLog({ databaseUrl: database.url, env })));
      running.push(...logs);
      const person = newPerson();
      for (const log of logs)
        expect((await log.call(ALL, 'POST', '/verwerkingsacties', actie(person))).status).toBe(201);
      for (const log of logs) expect(await found(log, person)).toBe(2);
      expect(await koppelvlak(database.url, ['log', 'verify', '--json'], env)).toMatchObject({
        code: 0,
        json: { faults: [] },
      });
      expect((await stat(join(home, 'new/log-key.json'))).mode & 0o777).toBe(0o600);
      expect(await dump()).not.toContain(person);
    } finally {
      await rm(home, { recursive: true });
    }
    await renew();
  });

  it('are rotated while the service runs: everything is found at every moment', async () => {
    const log = await start(KEY);
    const persons = Array.from({ length: 30 }, newPerson);
    const bodies = persons.map((person) => actie(person));
    const ids = await Promise.all(
      bodies.map(async (body) => actieIn(await log.call(ALL, 'POST', '/verwerkingsacties', body)).actieId),
    );
    const both = await start(`${NEW_KEY},${KEY}`);
    // While an instance has only the old key, that is not forgotten.
    for (const one of running.splice(0)) if (one !== both) await one.stop();
    running.push(both);
    const rotation = koppelvlak(database.url, ['log', 'rotate-key', '--json'], {
      VERWERKINGENLOG_KEY: `${NEW_KEY},${KEY}`,
    });
    let done = false;
    rotation.finally(() => {
      done = true;
    });
    let reads = 0;
    while (!done || reads < persons.length) {
      const i = reads % persons.length;
      expect(await found(both, persons[i] ?? '')).toBe(1);
      const put = { ...bodies[i], actieNaam: 'Zoeken persoon', systeem: `keer ${reads}` };
      expect((await both.call(ALL, 'PUT', `/verwerkingsacties/${ids[i]}`, put)).status).toBe(200);
      reads += 1;
    }
    expect(await rotation).toMatchObject({ code: 0, json: { key: 'tweede' } });
    await koppelvlak(database.url, ['log', 'rotate-key'], { VERWERKINGENLOG_KEY: `${NEW_KEY},${KEY}` });
    const alone = await start(NEW_KEY);
    for (const person of persons) expect(await found(alone, person)).toBe(1);
    const verified = await koppelvlak(database.url, ['log', 'verify', '--json'], { VERWERKINGENLOG_KEY: NEW_KEY });
    expect(verified).toMatchObject({ code: 0, json: { faults: [] } });
  });

  it('that are missing or wrong are reported, and nothing is read or written without them', async () => {
    const wrong = `tweede:${Buffer.alloc(32, 1).toString('base64')}`;
    for (const [key, fault] of [
      [KEY, 'VERWERKINGENLOG_KEY has no key named tweede'],
      [wrong, 'VERWERKINGENLOG_KEY has another key under the name tweede'],
      [`${KEY},${wrong}`, 'VERWERKINGENLOG_KEY has another key under the name tweede'],
    ] as const) {
      await expect(startLog({ databaseUrl: database.url, env: { VERWERKINGENLOG_KEY: key } })).rejects.toThrow(fault);
    }
    for (const command of ['verify', 'rotate-key', 'history 0198c0de-7c1e-7aa0-9b1c-3d5e7f900000']) {
      const { code, error } = await koppelvlak(database.url, ['log', ...command.split(' ')], {
        VERWERKINGENLOG_KEY: wrong,
      });
      expect(code, command).toBe(1);
      expect(error).toContain('has another key under the name tweede than the log was written with');
      expect(error).not.toContain(wrong.slice(7));
    }
    const again = await start(NEW_KEY);
    expect((await again.call(ALL, 'POST', '/verwerkingsacties', actie(newPerson()))).status).toBe(201);
  });

  it('may have any name, as long as nothing was written with them', async () => {
    const third = `derde:${Buffer.alloc(32, 3).toString('base64')}`;
    await (await startLog({ databaseUrl: database.url, env: { VERWERKINGENLOG_KEY: `${NEW_KEY},${third}` } })).stop();
    expect((await start(NEW_KEY)).server.url).toBeDefined();
  });

  it('are required in production when processing is logged, each with its own name', async () => {
    const env = { DATABASE_URL: database.url, OAUTH_ISSUER: 'http://127.0.0.1:9', OAUTH_AUDIENCE: 'koppelvlak' };
    const serve = (areas: string, key?: string) =>
      startServer({
        databaseUrl: database.url,
        env: {
          ...env,
          NODE_ENV: 'production',
          PUBLIC_BASE_URL: 'https://log.example',
          AREAS: areas,
          ...(key === undefined ? {} : { VERWERKINGENLOG_KEY: key }),
        },
      });
    await expect(serve('verwerkingenlog')).rejects.toThrow('VERWERKINGENLOG_KEY is missing');
    await expect(serve('verwerkingenlog', `${KEY},${KEY}`)).rejects.toThrow('VERWERKINGENLOG_KEY names two keys alike');
    // The feed is public and logs nothing: it is served beside a log without that log's keys.
    await (await serve('raadsfeed')).stop();
  });
});

describe('a rotation', () => {
  it('continues past an unreadable entry, and reports it', async () => {
    await renew();
    const log = await start(KEY);
    const persons = Array.from({ length: 5 }, newPerson);
    const ids: string[] = [];
    for (const person of persons) {
      ids.push(actieIn(await log.call(ALL, 'POST', '/verwerkingsacties', actie(person))).actieId);
    }
    const [damaged] = ids;
    await client.query(
      `update verwerkingenlog.versies set objecten = replace(objecten::text, '"id":"', '"id":"AAAA')::json where actie_id = $1`,
      [damaged],
    );
    const both = { VERWERKINGENLOG_KEY: `${NEW_KEY},${KEY}` };
    const rotated = await koppelvlak(database.url, ['log', 'rotate-key', '--json'], both);
    expect(rotated).toMatchObject({
      code: 1,
      json: { rewritten: 4, unreadable: [{ actieId: damaged, versie: 1, key: 'eerste' }], forgotten: [] },
    });
    const { rows } = await client.query(
      'select key_name, count(*)::int as n from verwerkingenlog.versies group by 1 order by 1',
    );
    expect(rows).toEqual([
      { key_name: 'eerste', n: 1 },
      { key_name: 'tweede', n: 4 },
    ]);
    expect((await koppelvlak(database.url, ['log', 'rotate-key'], both)).out).toContain(damaged ?? 'none');
    const after = await start(`${NEW_KEY},${KEY}`);
    for (const person of persons.slice(1)) expect(await found(after, person)).toBe(1);
  });

  it('keeps idempotency keys: an answer is repeated by an instance that writes with another key', async () => {
    await renew();
    const old = await start(KEY);
    const body = actie(newPerson());
    const first = await old.call(ALL, 'POST', '/verwerkingsacties', body, { 'idempotency-key': 'over' });
    const fresh = await start(`${NEW_KEY},${KEY}`);
    const again = await fresh.call(ALL, 'POST', '/verwerkingsacties', body, { 'idempotency-key': 'over' });
    expect(actieIn(again).actieId).toBe(actieIn(first).actieId);
    const other = { ...body, systeem: 'anders' };
    expect((await fresh.call(ALL, 'POST', '/verwerkingsacties', other, { 'idempotency-key': 'over' })).status).toBe(
      409,
    );
  });
});
