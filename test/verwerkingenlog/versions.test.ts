import process from 'node:process';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CITUS_SETTING } from '../support/citus.ts';
import {
  actie,
  actieIn,
  HEADERS,
  type LogServer,
  listIn,
  newPerson,
  ofPerson,
  startTwoLogs,
  type TwoLogs,
} from './support.ts';

const ALL = ['create:confidential', 'update:confidential', 'delete:confidential', 'read:confidential'];

let logs: TwoLogs;
let log: LogServer;
let other: LogServer;
let client: pg.Client;

beforeAll(async () => {
  logs = await startTwoLogs();
  ({ log, other, client } = logs);
});
afterAll(() => logs?.stop());

async function posted(wishes: Record<string, unknown> = {}) {
  const person = newPerson();
  const body = actie(person, wishes);
  return { person, body, ...actieIn(await log.call(ALL, 'POST', '/verwerkingsacties', body)) };
}

async function history(actieId: string) {
  const { rows } = await client.query(
    `select versie, door, verzoek_id, vervallen, actie_naam, vertrouwelijkheid, ooit_vertrouwelijk, bewaartermijn
     from verwerkingenlog.versies where actie_id = $1 order by versie`,
    [actieId],
  );
  return rows;
}

describe('a change', () => {
  it('counts each version that it adds', async () => {
    const { actieId, body } = await posted();
    await log.call(ALL, 'POST', '/verwerkingsacties', body);
    const appends = async (): Promise<number> => {
      const metrics = await (await fetch(`${log.server.managementUrl}/metrics`)).text();
      return Number(/^koppelvlak_verwerkingenlog_appends_total (\d+)/m.exec(metrics)?.[1]);
    };
    const path = `/verwerkingsacties/${actieId}`;
    const before = await appends();
    await log.call(ALL, 'PUT', path, { ...body, actieNaam: 'Anders' });
    expect((await appends()) - before).toBe(1);
    await log.call(ALL, 'PATCH', `/verwerkingsacties?verwerkingId=${body.verwerkingId}`, { bewaartermijn: 'P1Y' });
    expect((await appends()) - before).toBe(3);
    await log.call(ALL, 'DELETE', path);
    expect((await appends()) - before).toBe(4);
  });

  it('adds a version with its author, and leaves the earlier ones', async () => {
    const { actieId, body } = await posted();
    const put = await log.call(ALL, 'PUT', `/verwerkingsacties/${actieId}`, { ...body, actieNaam: 'Anders' });
    expect(put.status).toBe(200);
    expect(actieIn(put)).toMatchObject({ actieId, actieNaam: 'Anders' });
    expect(put.headers.get('etag')).toBe('"2"');
    await log.call(ALL, 'PATCH', `/verwerkingsacties?verwerkingId=${body.verwerkingId}`, { bewaartermijn: 'P1Y' });
    await log.call(ALL, 'DELETE', `/verwerkingsacties/${actieId}`);
    const versions = await history(actieId);
    expect(versions).toMatchObject([
      { versie: 1, actie_naam: 'Zoeken persoon', bewaartermijn: 'P10Y', vervallen: false, door: 'test' },
      { versie: 2, actie_naam: 'Anders', bewaartermijn: 'P10Y', vervallen: false },
      { versie: 3, actie_naam: 'Anders', bewaartermijn: 'P1Y', vervallen: false },
      { versie: 4, actie_naam: 'Anders', bewaartermijn: 'P1Y', vervallen: true },
    ]);
    for (const { verzoek_id: id } of versions) expect(id).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("cannot be made by the service's role in any other way", async () => {
    const { actieId } = await posted();
    await client.query('set role koppelvlak_dienst');
    try {
      for (const statement of [
        `update verwerkingenlog.versies set actie_naam = 'x' where actie_id = '${actieId}'`,
        `delete from verwerkingenlog.versies where actie_id = '${actieId}'`,
        'truncate verwerkingenlog.versies',
        'drop table verwerkingenlog.versies',
        `delete from verwerkingenlog.versies_${new Date().toISOString().slice(0, 7).replace('-', '')}`,
        'alter table verwerkingenlog.versies disable trigger all',
        `create table verwerkingenlog.x (a int)`,
        `select verwerkingenlog.drop_empty_month('202001', now())`,
        `insert into verwerkingenlog.versies select * from verwerkingenlog.versies where actie_id = '${actieId}'
           on conflict (actie_id, versie) do update set actie_naam = 'x'`,
        `merge into verwerkingenlog.versies v using (select '${actieId}'::uuid as id) s on v.actie_id = s.id when matched then delete`,
        `select 1 from verwerkingenlog.versies where actie_id = '${actieId}' for update`,
        'alter table verwerkingenlog.versies owner to koppelvlak_dienst',
        `create rule r as on insert to verwerkingenlog.versies do instead nothing`,
        'create trigger t before insert on verwerkingenlog.versies execute function suppress_redundant_updates_trigger()',
        `create or replace function verwerkingenlog.expires_at(timestamptz, text) returns timestamptz language sql return now()`,
        `update verwerkingenlog.locations set actie_id = '${actieId}'`,
        `update koppelvlak.migrations set name = name`,
        `copy (select 1) to program 'true'`,
      ]) {
        // Citus does not support this MERGE for any role.
        const code = process.env[CITUS_SETTING] !== undefined && statement.startsWith('merge') ? 'XX000' : '42501';
        await expect(client.query(statement), statement).rejects.toMatchObject({ code });
      }
    } finally {
      await client.query('reset role');
    }
  });

  it('keeps the identity of an object whose person stays, and gives the others new ones', async () => {
    const { actieId, body, person } = await posted();
    const [stays, comes] = [
      body.verwerkteObjecten[0],
      { objecttype: 'persoon', soortObjectId: 'BSN', objectId: newPerson() },
    ];
    const put = (verwerkteObjecten: unknown) =>
      log.call(ALL, 'PUT', `/verwerkingsacties/${actieId}`, { ...body, verwerkteObjecten });
    const ids = (answer: { json: unknown }): string[] =>
      Object(answer.json).verwerkteObjecten.map((object: { verwerktObjectId: string }) =>
        object.verwerktObjectId.slice(-4),
      );
    expect(ids(await put([comes, stays]))).toEqual(['0002', '0001']);
    expect(ids(await put([comes]))).toEqual(['0002']);
    expect(ids(await put([stays]))).toEqual(['0003']);
    const list = await log.call(ALL, 'GET', `/verwerkingsacties?${ofPerson(comes.objectId)}`, undefined, HEADERS);
    expect(listIn(list).count).toBe(0);
    const found = await log.call(
      ALL,
      'GET',
      `/verwerkingsacties?${ofPerson(person)}&vertrouwelijkheid=normaal`,
      undefined,
      HEADERS,
    );
    expect(listIn(found).results.map((result) => result.actieId)).toEqual([actieId]);
  });

  it('needs every field', async () => {
    const { actieId, body } = await posted();
    const { systeem: _, gebruiker: __, ...incomplete } = body;
    const answer = await log.call(ALL, 'PUT', `/verwerkingsacties/${actieId}`, incomplete);
    expect(answer.json).toMatchObject({
      status: 400,
      invalidParams: [
        { name: 'systeem', code: 'required' },
        { name: 'gebruiker', code: 'required' },
      ],
    });
  });

  it('of an unknown or deleted action is refused with 400', async () => {
    const unknown = '0198c0de-7c1e-7aa0-9b1c-3d5e7f901234';
    const past = await posted();
    await log.call(ALL, 'DELETE', `/verwerkingsacties/${past.actieId}`);
    for (const { actieId, body } of [{ actieId: unknown, body: actie(newPerson()) }, past]) {
      const codes = [
        await log.call(ALL, 'PUT', `/verwerkingsacties/${actieId}`, body),
        await log.call(ALL, 'DELETE', `/verwerkingsacties/${actieId}`),
        await log.call(ALL, 'PATCH', `/verwerkingsacties?verwerkingId=${body.verwerkingId}`, { bewaartermijn: 'P1D' }),
      ].map(({ status, json }) => `${status} ${Object(json).code}`);
      expect(codes).toEqual(Array(3).fill('400 onbekende-verwerkingsactie'));
    }
    const list = await log.call(ALL, 'GET', `/verwerkingsacties?${ofPerson(past.person)}`, undefined, HEADERS);
    expect(listIn(list).count).toBe(0);
  });

  it.each([
    {},
    { actieNaam: 'x' },
    { bewaartermijn: null },
    { bewaartermijn: 'P1Y', actieNaam: 'x' },
    { bewaartermijn: 'soon' },
  ])('of a processing accepts nothing else: %j', async (patch) => {
    const { body } = await posted();
    const answer = await log.call(ALL, 'PATCH', `/verwerkingsacties?verwerkingId=${body.verwerkingId}`, patch);
    expect(answer.status).toBe(400);
  });

  it('of a processing affects only actions that belong to it now', async () => {
    const { actieId, body } = await posted();
    const stays = await posted({ verwerkingId: body.verwerkingId });
    const moved = { ...body, verwerkingId: '48086bf2-11b7-4603-9526-67d7c3bb6587' };
    await log.call(ALL, 'PUT', `/verwerkingsacties/${actieId}`, moved);
    await log.call(ALL, 'PATCH', `/verwerkingsacties?verwerkingId=${body.verwerkingId}`, { bewaartermijn: 'P2Y' });
    expect((await history(actieId)).length).toBe(2);
    expect((await history(stays.actieId)).length).toBe(2);
  });
});

describe('If-Match', () => {
  it.each(['PUT', 'DELETE'])('allows %s only for the named version', async (method) => {
    const { actieId, body } = await posted();
    const send = (ifMatch: string) =>
      log.call(ALL, method, `/verwerkingsacties/${actieId}`, method === 'PUT' ? body : undefined, {
        'if-match': ifMatch,
      });
    for (const tag of ['"2"', 'W/"1"', '"x", "7"', '1']) {
      expect((await send(tag)).json, tag).toMatchObject({ status: 412, code: 'newer-version' });
    }
    expect((await history(actieId)).length).toBe(1);
    expect((await send('"9", "1"')).status).toBeLessThan(300);
    if (method === 'PUT') expect((await send('*')).status).toBe(200);
  });

  it('allows only one of two changes of the same version', async () => {
    const { actieId, body } = await posted();
    const answers = await Promise.all(
      [log, other, log, other].map((server, i) =>
        server.call(ALL, 'PUT', `/verwerkingsacties/${actieId}`, { ...body, actieNaam: `${i}` }, { 'if-match': '"1"' }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
  });
});

it('adds a version for each of many changes at once, on two instances, and the last one is current', async () => {
  const { actieId, body } = await posted();
  const puts = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      i % 5 === 4
        ? log.call(ALL, 'PATCH', `/verwerkingsacties?verwerkingId=${body.verwerkingId}`, { bewaartermijn: `P${i}Y` })
        : (i % 2 ? log : other).call(ALL, 'PUT', `/verwerkingsacties/${actieId}`, { ...body, actieNaam: `keer ${i}` }),
    ),
  );
  expect(puts.every(({ status }) => status < 300)).toBe(true);
  const versions = await history(actieId);
  expect(versions.map(({ versie }) => versie)).toEqual(Array.from({ length: 21 }, (_, i) => i + 1));
  const read = await log.call(ALL, 'GET', `/verwerkingsacties/${actieId}`, undefined, HEADERS);
  expect(read.headers.get('etag')).toBe('"21"');
  expect(actieIn(read).actieNaam).toBe(versions.at(-1).actie_naam);
});

it('leaves a confidential action alone that is added to a processing while it is being changed', async () => {
  const { actieId, body } = await posted();
  // The actions can still be read, but adding versions waits, so the other action comes between the two.
  await client.query('begin');
  await client.query('lock table verwerkingenlog.versies in share mode');
  const added = `${actieId.slice(0, 24)}ffffffff0000`;
  const path = `/verwerkingsacties?verwerkingId=${body.verwerkingId}`;
  const patch = log.call(['update:normal'], 'PATCH', path, { bewaartermijn: 'P1D' });
  await waitsForTable();
  await client.query(
    `insert into verwerkingenlog.versies
       (actie_id, versie, tijdstip_registratie, door, verzoek_id, vervallen, vertrouwelijkheid, ooit_vertrouwelijk, tijdstip,
        verwerking_id, key_name, objecten)
     select $1::uuid, 1, tijdstip_registratie, door, verzoek_id, false, 'vertrouwelijk', true, tijdstip, verwerking_id, key_name, '[]'
     from verwerkingenlog.versies where actie_id = $2::uuid`,
    [added, actieId],
  );
  await client.query('commit');
  expect((await patch).status).toBe(204);
  expect((await history(actieId)).length).toBe(2);
  expect((await history(added)).length).toBe(1);
});

/** Resolves when a statement of the server waits for this test's lock. */
async function waitsForTable(): Promise<void> {
  for (;;) {
    const { rows } = await client.query(
      `select from pg_locks where not granted and locktype = 'relation' and database = (select oid from pg_database where datname = current_database())`,
    );
    if (rows.length > 0) return;
  }
}
