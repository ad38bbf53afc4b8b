/** Actions stored in one group, bypassing the contract that would refuse their faults. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { createLogger } from '../../src/lib/log.ts';
import { readConfig } from '../../src/settings/read-config.ts';
import { type Actie, actieOf } from '../../src/verwerkingenlog/domain/verwerkingsactie.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { LOG_KEY } from '../support/server.ts';

let database: TestDatabase;
let app: Awaited<ReturnType<typeof buildApp>>;
let log: typeof app.actieLog;
beforeAll(async () => {
  database = await createDatabase();
  app = await buildApp({ config: readConfig(env(), 'serve'), log: createLogger('silent') });
  log = app.actieLog;
});
function env() {
  return {
    DATABASE_URL: database.url,
    AREAS: 'verwerkingenlog',
    OAUTH_ISSUER: 'http://127.0.0.1:9',
    OAUTH_AUDIENCE: 'koppelvlak',
    VERWERKINGENLOG_KEY: LOG_KEY,
  };
}
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const auteur = { door: 'balie', verzoekId: 'verzoek' };

function actie(fields: Partial<Actie> = {}): Actie {
  return { ...actieOf({ actieNaam: 'Zoeken persoon', vertrouwelijkheid: 'normaal', tijdstip: new Date() }), ...fields };
}

async function count(): Promise<number> {
  const { rows } = await app.database.pool.query('select count(*)::int as count from verwerkingenlog.versies');
  return Number(rows[0].count);
}

it.each([
  ['cannot be serialised for the database', { verwerkingId: 'geen-uuid' }, 'invalid input syntax for type uuid'],
  ['has a time that does not exist', { tijdstip: 'gisteren' }, 'invalid input syntax for type timestamp'],
  ['the database does not accept', { bewaartermijn: 'tien jaar' }, 'invalid input syntax for type interval'],
])('fails only the action that %s', async (_why, fields, error) => {
  const before = await count();
  const acties = [actie(), actie(), actie(fields), actie(), actie()];
  const kept = await Promise.allSettled(acties.map((one) => log.append(one, auteur)));
  expect(kept.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect(kept[2]).toMatchObject({ reason: { message: expect.stringContaining(error) } });
  expect((await count()) - before).toBe(4);
});

const persons = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    soortObjectId: 'BSN',
    objectId: String(900_000_000 + i),
    betrokkenheid: null,
    soortenGegevens: null,
  }));

it('refuses an action for which there is no room before it encrypts its persons', async () => {
  const encrypt = vi.spyOn(log.keys, 'encrypt');
  const waiting = Array.from({ length: 20_000 }, () => log.append(actie(), auteur));
  await expect(log.append(actie({ verwerkteObjecten: persons(1) }), auteur)).rejects.toMatchObject({
    kind: { status: 503 },
  });
  expect(encrypt).not.toHaveBeenCalled();
  encrypt.mockRestore();
  await Promise.all(waiting);
});

it('stores actions about several hundred persons that are being encrypted when the service stops', async () => {
  const stopping = await buildApp({ config: readConfig(env(), 'serve'), log: createLogger('silent') });
  const acties = Array.from({ length: 40 }, () => actie({ verwerkteObjecten: persons(1000) }));
  const stored = Promise.allSettled(acties.map((one) => stopping.actieLog.append(one, auteur)));
  await stopping.close();
  expect((await stored).map(({ status }) => status)).toEqual(acties.map(() => 'fulfilled'));
});
