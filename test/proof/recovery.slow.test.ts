/** Enabling a log later, several instances, a late commit, a restored backup, and continuing after it. */
import { copyFileSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { expect, inject, it } from 'vitest';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { checkpointIn } from '../../src/proof/tlog/note.ts';
import { PATIENT, publishLines, servicePool, startFeed, vergadering } from '../raadsfeed/support.ts';
import { createDatabase } from '../support/database.ts';
import { startServer } from '../support/server.ts';
import { withDatabase } from '../support/with-database.ts';
import { koppelvlak } from '../verwerkingenlog/cli.ts';
import { actie, actieIn, HEADERS, KEY, newPerson, startLog } from '../verwerkingenlog/support.ts';
import { getText, hasLeaves, startProofFeed, stateFile } from './support.ts';

async function verify(url: string, name: string, env: Record<string, string>): Promise<unknown> {
  const { json, code } = await koppelvlak(url, ['proof', 'verify', name, '--json'], env);
  return { code, logs: isRecord(json) ? json.logs : undefined };
}

const WELL = { code: 0, logs: [{ faults: [] }] };

async function warnings(managementUrl: string): Promise<string> {
  return (await getText(`${managementUrl}/health/ready`)).text;
}

it('enters records published before the log was enabled, and pruned numbers as such', async () => {
  const before = await startFeed();
  const state = stateFile();
  try {
    await publishLines(
      before.pool,
      Array.from({ length: 5 }, (_, i) => vergadering(`v${i}`)),
    );
    for (const table of ['current_records', 'texts', 'records'])
      await before.pool.query(`delete from raadsfeed.${table} where sequence_number <= 2`);
    const on = await before.another(state.env);
    const address = `${on.server.url}/proof/v1/raadsfeed`;
    await hasLeaves(address, 5);
    const bundle = Buffer.from(await (await fetch(`${address}/tile/entries/000.p/5`)).arrayBuffer());
    expect([0, 1, 2].map((i) => bundle[i * 35 + 2])).toEqual([3, 3, 1]);
    expect((await getText(`${address}/record/3`)).status).toBe(200);
    expect(await verify(before.databaseUrl, 'raadsfeed', { ...state.env, AREAS: 'raadsfeed' })).toMatchObject(WELL);
  } finally {
    await before.stop();
    state.remove();
  }
});

it('has one sequencer over two instances, and gives late commits a later position', async () => {
  const database = await createDatabase();
  const [state, second] = [stateFile(), stateFile()];
  const log = await startLog({ env: state.env, databaseUrl: database.url });
  copyFileSync(state.path, second.path);
  const other = await startLog({ env: second.env, databaseUrl: database.url, tokens: log.tokens });
  const client = new pg.Client(database.url);
  await client.connect();
  try {
    // A number that was assigned before the others and is committed after them.
    await client.query('begin');
    await client.query(
      `insert into proof.queue (log, number, entry) values ('verwerkingen', nextval('proof.record_numbers'), $1)`,
      [Buffer.alloc(33, 1)],
    );
    const post = (one: typeof log) =>
      one.call(['create:normal'], 'POST', '/verwerkingsacties', actie(newPerson()), HEADERS);
    await Promise.all(Array.from({ length: 20 }, (_, i) => post(i % 2 === 0 ? log : other)));
    const addresses = [log, other].map(({ server }) => `${server.url}/proof/v1/verwerkingen`);
    for (const address of addresses) await hasLeaves(address, 20);
    await client.query('commit');
    for (const address of addresses) expect(checkpointIn(await hasLeaves(address, 21)).size).toBe(21);
    const { rows } = await client.query<{ numbers: string[] }>(
      `select numbers::text[] as numbers from proof.bundles where log = 'verwerkingen'`,
    );
    expect(rows[0]?.numbers.indexOf('1')).toBe(20);
    const env = { ...state.env, AREAS: 'verwerkingenlog', VERWERKINGENLOG_KEY: KEY };
    // The entry that this test inserted has no record.
    expect(await verify(database.url, 'verwerkingen', env)).toMatchObject({
      logs: [{ faults: [{ name: 'leaf 20 of 127.0.0.1/proof/v1/verwerkingen' }] }],
    });
  } finally {
    await client.end();
    await other.server.stop();
    await log.stop();
    await database.drop();
    state.remove();
    second.remove();
  }
});

it("uses the other instances' latest publications: for a lost state, and before it signs", async () => {
  const database = await createDatabase();
  const [state, lost, alone, old] = [stateFile(), stateFile(), stateFile(), stateFile()];
  const log = await startLog({ env: state.env, databaseUrl: database.url });
  const started = [log.server];
  const another = async ({ env }: typeof state, more: Record<string, string> = {}) => {
    const { server } = await startLog({ env: { ...env, ...more }, databaseUrl: database.url, tokens: log.tokens });
    started.push(server);
    return server;
  };
  const others = { PROOF_INSTANCES: `http://127.0.0.1:9/,${log.server.url}` };
  const owner = new pg.Client(database.url);
  await owner.connect();
  try {
    const post = () => log.call(['create:normal'], 'POST', '/verwerkingsacties', actie(newPerson()), HEADERS);
    const address = `${log.server.url}/proof/v1/verwerkingen`;
    await post();
    await hasLeaves(address, 1);
    copyFileSync(state.path, old.path);
    for (const table of ['logs', 'tiles', 'bundles'])
      await owner.query(`create table kopie_${table} as table proof.${table}`);
    await post();
    const last = await hasLeaves(address, 2);

    const first = await another(lost, others);
    expect(await warnings(first.managementUrl)).not.toContain('nothing is signed');
    expect(JSON.parse(readFileSync(lost.path, 'utf8'))).toEqual({ '127.0.0.1/proof/v1/verwerkingen': last });
    const second = await another(alone);
    expect(await warnings(second.managementUrl)).toContain('PROOF_STATE has no checkpoint');
    await Promise.all([first.stop(), second.stop()]);

    // Database and state are from the same backup: only the other instance knows better.
    await owner.query('begin');
    for (const table of ['logs', 'tiles', 'bundles'])
      await owner
        .query(`delete from proof.${table}`)
        .then(() => owner.query(`insert into proof.${table} table kopie_${table}`));
    await owner.query('commit');
    await post();
    const third = await another(old, others);
    await expect
      .poll(() => warnings(third.managementUrl), PATIENT)
      .toContain('2 leaves was published and the database has 1');
    const { rows } = await owner.query(`select size::int as size from proof.logs where log = 'verwerkingen'`);
    expect(rows).toEqual([{ size: 1 }]);
    expect((await getText(`${address}/checkpoint`)).text).toBe(last);
  } finally {
    await owner.end();
    for (const server of started.toReversed()) await server.stop();
    await log.stop();
    await database.drop();
    for (const file of [state, lost, alone, old]) file.remove();
  }
});

it('ends only when an operator says so: nothing new is entered, earlier entries stay proven, and an earlier gap is reported', async () => {
  const database = await createDatabase();
  const state = stateFile();
  const log = await startLog({ env: state.env, databaseUrl: database.url });
  const all = ['create:normal', 'update:normal', 'read:normal'];
  const ended = { ...state.env, PROOF_ENDED: 'verwerkingen' };
  const env = { ...ended, AREAS: 'verwerkingenlog', VERWERKINGENLOG_KEY: KEY };
  const owner = new pg.Client(database.url);
  await owner.connect();
  const post = async (one: typeof log) =>
    actieIn(await one.call(all, 'POST', '/verwerkingsacties', actie(newPerson()), HEADERS));
  try {
    const [first, second] = [await post(log), await post(log)];
    await hasLeaves(`${log.server.url}/proof/v1/verwerkingen`, 2);
    await log.server.stop();
    const start = (more: Record<string, string>) =>
      startLog({ env: { ...state.env, ...more }, databaseUrl: database.url, tokens: log.tokens });
    await expect(start({ PROOF_LOGS: 'leveringen' })).rejects.toThrow(/PROOF_ENDED/);

    const later = await start(ended);
    try {
      expect(await warnings(later.server.managementUrl)).toContain('PROOF_ENDED');
      const { actieId } = await post(later);
      const processing = `/verwerkingsacties?verwerkingId=${second.verwerkingId}`;
      expect((await later.call(all, 'PATCH', processing, { bewaartermijn: 'P2Y' }, HEADERS)).status).toBe(204);
      const proofOf = (id: string) => later.call(all, 'GET', `/verwerkingsacties/${id}/bewijs`, undefined, HEADERS);
      expect((await proofOf(first.actieId)).status).toBe(200);
      for (const id of [second.actieId, actieId])
        expect((await proofOf(id)).json).toMatchObject({ status: 404, code: 'zonder-bewijs' });
      const well = await verify(database.url, 'verwerkingen', env);
      expect(well).toMatchObject({ code: 0, logs: [{ leaves: 2, faults: [] }] });

      await owner.query(
        `update verwerkingenlog.versies set tijdstip_registratie = (
           select max(tijdstip_registratie) from verwerkingenlog.versies where proof_number is not null) where actie_id = $1`,
        [actieId],
      );
      expect(await verify(database.url, 'verwerkingen', env)).toMatchObject({
        logs: [{ faults: [{ name: `version 1 of ${actieId}`, fault: 'was recorded without an entry' }] }],
      });
    } finally {
      await later.server.stop();
    }
  } finally {
    await owner.end();
    await log.stop();
    await database.drop();
    state.remove();
  }
});

it('signs nothing after a restored backup, serves the last good checkpoint, and continues under a new origin', async () => {
  const feed = await startProofFeed();
  const copy = `${new URL(feed.databaseUrl).pathname.slice(1)}_backup`;
  const env = { ...feed.state.env, AREAS: 'raadsfeed' };
  const admin = new pg.Client(inject('databaseServer'));
  await admin.connect();
  try {
    const address = `${feed.server.url}/proof/v1/raadsfeed`;
    await feed.prove([vergadering('een'), vergadering('twee')]);
    await hasLeaves(address, 2);
    await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = $1`, [
      copy.replace('_backup', ''),
    ]);
    await expect
      .poll(async () => {
        try {
          await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = $1`, [
            copy.replace('_backup', ''),
          ]);
          await admin.query(`create database ${copy} template ${copy.replace('_backup', '')} strategy file_copy`);
          return true;
        } catch {
          return false;
        }
      }, PATIENT)
      .toBe(true);
    await expect
      .poll(
        () =>
          feed.prove([vergadering('drie')]).then(
            () => true,
            () => false,
          ),
        PATIENT,
      )
      .toBe(true);
    const last = await hasLeaves(address, 3);
    await feed.server.stop();

    const url = withDatabase(inject('databaseServer'), copy);
    const restored = await startServer({ env: { ...env, RAADSFEED_RATE_LIMIT: '0' }, databaseUrl: url });
    const pool = servicePool(url);
    try {
      const again = `${restored.url}/proof/v1/raadsfeed`;
      expect((await getText(`${again}/checkpoint`)).text).toBe(last);
      expect(await warnings(restored.managementUrl)).toContain('3 leaves was published and the database has 2');
      expect(await verify(url, 'raadsfeed', env)).toMatchObject({
        code: 1,
        logs: [{ faults: [{ name: expect.stringMatching(/^checkpoint outside/) }] }],
      });
      const begun = await koppelvlak(url, ['proof', 'new-origin', 'raadsfeed'], env);
      expect(begun.out).toContain(
        '127.0.0.1/proof/v1/raadsfeed/2 continues; of the old origin 2 of 3 leaves are here.',
      );
      await hasLeaves(`${again}/2`, 1);
      expect((await getText(`${again}/checkpoint`)).text).toBe(last);
      expect(await warnings(restored.managementUrl)).not.toContain('was published');
    } finally {
      await pool.end();
      await restored.stop();
    }
  } finally {
    await feed.stop();
    await admin.query(`drop database if exists ${copy} with (force)`);
    await admin.end();
  }
});
