/** Actions that are kept in one group, past the contract that would refuse what is wrong with them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readConfig } from '../../src/kernel/config/read-config.ts';
import { createLogger } from '../../src/kernel/log.ts';
import { type OpenPlatform, openPlatform } from '../../src/kernel/platform.ts';
import type { Actie } from '../../src/verwerkingenlog/domain/verwerkingsactie.ts';
import { actieOf, type LogOfActies, openProcessingLog } from '../../src/verwerkingenlog/processing-log.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let open: OpenPlatform;
let log: LogOfActies;
beforeAll(async () => {
  database = await createDatabase();
  const env = {
    DATABASE_URL: database.url,
    AREAS: 'verwerkingenlog',
    OAUTH_ISSUER: 'http://127.0.0.1:9',
    OAUTH_AUDIENCE: 'koppelvlak',
  };
  open = await openPlatform({ config: readConfig(env, 'serve'), log: createLogger('silent'), purpose: 'service' });
  log = await openProcessingLog(open.platform);
});
afterAll(async () => {
  open?.beginStop();
  await log?.close();
  await open?.close();
  await database?.drop();
});

const auteur = { door: 'balie', verzoekId: 'verzoek' };

function actie(fields: Partial<Actie> = {}): Actie {
  return { ...actieOf({ actieNaam: 'Zoeken persoon', vertrouwelijkheid: 'normaal', tijdstip: new Date() }), ...fields };
}

async function count(): Promise<number> {
  const { rows } = await open.platform.pool.query('select count(*)::int as count from verwerkingenlog.versies');
  return Number(rows[0].count);
}

it.each([
  ['cannot be written for the database', { verwerkingId: 'geen-uuid' }, 'invalid input syntax for type uuid'],
  ['is a moment that there is not', { tijdstip: 'gisteren' }, 'invalid input syntax for type timestamp'],
  ['the database does not take', { bewaartermijn: 'tien jaar' }, 'invalid input syntax for type interval'],
])('lets an action fail alone that %s', async (_why, fields, error) => {
  const before = await count();
  const acties = [actie(), actie(), actie(fields), actie(), actie()];
  const kept = await Promise.allSettled(acties.map((one) => log.append(one, auteur)));
  expect(kept.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect(kept[2]).toMatchObject({ reason: { message: expect.stringContaining(error) } });
  expect((await count()) - before).toBe(4);
});
