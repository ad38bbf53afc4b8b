import { expect, it } from 'vitest';
import { startForwarding } from '../../../src/verwerkingenlog/ldv/forward.ts';
import { processingLog } from '../../../src/verwerkingenlog/processing-log.ts';
import { openPool } from '../../database/support.ts';
import { createDatabase } from '../../support/database.ts';
import { startServer } from '../../support/server.ts';
import { actie, actieIn, KEY, newPerson, startLog } from '../support.ts';
import { startReceiver } from './receiver.ts';

it('forwarding needs one database connection: it waits for no other while it holds that one', async () => {
  const database = await createDatabase();
  const log = await startLog({ databaseUrl: database.url });
  const other = await startReceiver();
  const pool = openPool(database.url, { size: 1, connectTimeoutMs: 500 });
  const answer = await log.call(['create:normal'], 'POST', '/verwerkingsacties', actie(newPerson()));
  await pool.query('insert into verwerkingenlog.ldv_forward_queue (actie_id) values ($1)', [actieIn(answer).actieId]);
  const forwarding = await startServer({
    env: { ...log.tokens.env, AREAS: 'verwerkingenlog', VERWERKINGENLOG_KEY: KEY },
    databaseUrl: database.url,
    register: async (app) => {
      await app.register(processingLog);
      startForwarding(app, other.url, pool);
    },
  });
  try {
    await expect.poll(() => other.taken.length, { interval: 30 }).toBe(1);
  } finally {
    await forwarding.stop();
    await pool.end();
    await other.close();
    await log.stop();
    await database.drop();
  }
});
