import { expect, it } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { startServer } from '../support/server.ts';

it('continues past a failure to close, and reports it', async () => {
  const database = await createDatabase();
  const closed: string[] = [];
  const server = await startServer({
    env: { DATABASE_POOL_SIZE: '2' },
    databaseUrl: database.url,
    register: async (app) => {
      await app.database.pool.query('select 1');
      for (const name of ['first', 'second', 'third']) {
        await app.register(async (scope) => {
          scope.addHook('onClose', async () => {
            closed.push(name);
            if (name !== 'first') throw new Error(`the ${name} cannot be closed`);
          });
        });
      }
    },
  });
  await expect(server.stop()).rejects.toThrow('the second cannot be closed');
  expect(closed).toEqual(['third', 'second', 'first']);
  await expect(fetch(server.url)).rejects.toThrow();
  await expect(fetch(server.managementUrl)).rejects.toThrow();
  // It cannot be dropped while the pool is connected to it.
  await database.drop();
});
