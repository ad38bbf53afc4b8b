import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createForwarder } from '../../../src/extensions/ldv/forward.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { readConfig } from '../../../src/settings/read-config.ts';
import { createIdentityKeys } from '../../../src/verwerkingenlog/domain/identity-keys.ts';
import { openPool, quiet } from '../../database/support.ts';
import { createDatabase } from '../../support/database.ts';
import { actie, actieIn, KEY, newPerson, startLog } from '../../verwerkingenlog/support.ts';
import { startReceiver } from './receiver.ts';

it('forwarding needs one connection of the database: it waits for no other while it holds that one', async () => {
  const database = await createDatabase();
  const log = await startLog({ databaseUrl: database.url });
  const other = await startReceiver();
  const pool = openPool(database.url, { size: 1, connectTimeoutMs: 500 });
  const env = { ...log.tokens.env, AREAS: 'verwerkingenlog', VERWERKINGENLOG_KEY: KEY, DATABASE_URL: database.url };
  const forwarder = createForwarder({
    ...{ pool, log: quiet, clock: systemClock, metrics: new Registry(), stopping: new AbortController().signal },
    config: readConfig(env, 'serve'),
    publicBaseUrl: () => 'https://log.example',
    keys: createIdentityKeys(KEY),
    address: other.url,
    base: () => 'https://log.example/verwerkingenlog/v1',
  });
  try {
    const answer = await log.call(['create:normal'], 'POST', '/verwerkingsacties', actie(newPerson()));
    await pool.query('insert into verwerkingenlog.ldv_forward_queue (actie_id) values ($1)', [actieIn(answer).actieId]);
    forwarder.start();
    await expect.poll(() => other.taken.length, { timeout: 15_000, interval: 30 }).toBe(1);
  } finally {
    await forwarder.stop();
    await pool.end();
    await other.close();
    await log.stop();
    await database.drop();
  }
});
