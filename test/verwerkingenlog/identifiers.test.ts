/** Persons' identifiers at rest: nothing of them in the database, found all the same, and keys that change while the service goes on. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { readIfThere } from '../support/read-if-there.ts';
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

beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client(database.url);
  await client.connect();
});
afterAll(async () => {
  for (const log of running) await log.stop();
  await client?.end();
  await database?.drop();
});

async function found(log: LogServer, person: string): Promise<number> {
  const path = `/verwerkingsacties?${ofPerson(person, { vertrouwelijkheid: 'normaal', beperkteSet: 'false' })}`;
  const { results } = listIn(
    await log.call(ALL, 'GET', path, undefined, { ...HEADERS, Vertrouwelijkheid: 'vertrouwelijk' }),
  );
  return results.filter(({ actieNaam }) => actieNaam === 'Zoeken persoon').length;
}

/** Everything that the log's tables hold, as text. */
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

describe('a dump of the database', () => {
  it('holds no identifier: not in tables, not in data files, not in the write-ahead log', async () => {
    const log = await start(KEY);
    const [person, receiver, changed] = ['987654329', '123456782', '111222333'];
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

  it('holds no identifier in what the service logs', async () => {
    const [log] = running;
    expect(JSON.stringify(log?.server.logged)).not.toMatch(/987654329|123456782|111222333/);
  });
});

describe('keys', () => {
  it('that were not there yet: what was kept plainly is found, and encrypted by a rotation', async () => {
    const plain = await start('');
    const person = newPerson();
    const { actieId } = actieIn(await plain.call(ALL, 'POST', '/verwerkingsacties', actie(person)));
    expect(await dump()).toContain(person);
    const log = await start(KEY);
    expect(await found(log, person)).toBe(1);
    const rotated = await koppelvlak(database.url, ['log', 'rotate-key', '--json']);
    expect(rotated).toMatchObject({ code: 0, json: { key: 'eerste' } });
    expect(await dump()).not.toContain(person);
    expect(await found(log, person)).toBe(1);
    const history = await koppelvlak(database.url, ['log', 'history', actieId, '--json', '--identifiers']);
    expect(history).toMatchObject({ code: 0, json: [{ objecten: [{ objectId: person }] }] });
    expect((await koppelvlak(database.url, ['log', 'history', actieId])).out).not.toContain(person);
  });

  it('are rotated while the service goes on: everything is found at every moment', async () => {
    const log = await start(KEY);
    const persons = Array.from({ length: 30 }, newPerson);
    const bodies = persons.map((person) => actie(person));
    const ids = await Promise.all(
      bodies.map(async (body) => actieIn(await log.call(ALL, 'POST', '/verwerkingsacties', body)).actieId),
    );
    const both = await start(`${NEW_KEY},${KEY}`);
    const rotation = koppelvlak(database.url, ['log', 'rotate-key', '--json'], {
      VERWERKINGENLOG_KEY: `${NEW_KEY},${KEY}`,
    });
    let done = false;
    rotation.finally(() => {
      done = true;
    });
    let looks = 0;
    while (!done || looks < persons.length) {
      const i = looks % persons.length;
      expect(await found(both, persons[i] ?? '')).toBe(1);
      const put = { ...bodies[i], actieNaam: 'Zoeken persoon', systeem: `keer ${looks}` };
      expect((await both.call(ALL, 'PUT', `/verwerkingsacties/${ids[i]}`, put)).status).toBe(200);
      looks += 1;
    }
    expect(await rotation).toMatchObject({ code: 0, json: { key: 'tweede' } });
    await koppelvlak(database.url, ['log', 'rotate-key'], { VERWERKINGENLOG_KEY: `${NEW_KEY},${KEY}` });
    const alone = await start(NEW_KEY);
    for (const person of persons) expect(await found(alone, person)).toBe(1);
    const verified = await koppelvlak(database.url, ['log', 'verify', '--json'], { VERWERKINGENLOG_KEY: NEW_KEY });
    expect(verified).toMatchObject({ code: 0, json: { faults: [] } });
  });

  it('that are missing are named', async () => {
    const verified = await koppelvlak(database.url, ['log', 'verify'], { VERWERKINGENLOG_KEY: KEY });
    expect(verified.code).toBe(1);
    expect(verified.out).toContain('is encrypted with a key that is not configured: tweede');
  });
});
