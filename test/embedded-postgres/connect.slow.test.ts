import { join } from 'node:path';
import { expect, it } from 'vitest';
import { connectEmbedded } from '../../src/embedded-postgres/connect.ts';
import { readPostmaster } from '../../src/embedded-postgres/postmaster.ts';
import { startEmbedded } from '../../src/embedded-postgres/start.ts';
import { keepingLog, quiet } from '../kernel/database/support.ts';
import { initialisedHome, run, startHolder, temporaryHome } from './support.ts';

const settings = { fsync: 'off' };

it('refuses a second service on the same home and names the process that has it', async () => {
  const dir = await initialisedHome();
  const holder = await startHolder('service', dir);
  const second = startEmbedded({ dir, log: quiet, settings });
  await expect(second).rejects.toThrow(`another koppelvlak (process ${holder.child.pid}) uses`);
  expect(await run(holder.url ?? '', 'select 1')).toEqual([[1]]);
  await holder.finish();
});

it('lets one of many services that start on an empty home at the same time win, unharmed', async () => {
  const dir = await temporaryHome();
  const holders = await Promise.all([1, 2, 3, 4].map(() => startHolder('service', dir)));
  const winners = holders.filter(({ url }) => url !== undefined);
  expect(winners).toHaveLength(1);
  for (const { error } of holders.filter(({ url }) => url === undefined)) expect(error).toContain('another koppelvlak');
  expect(await run(winners[0]?.url ?? '', 'select 1')).toEqual([[1]]);
  await winners[0]?.finish();
});

it('connects a command to the running one and leaves it running', async () => {
  const dir = await initialisedHome();
  const service = await startEmbedded({ dir, log: quiet, settings });
  try {
    const command = await connectEmbedded({ dir, log: quiet });
    expect(command.url).toBe(service.url);
    await command.stop();
    expect(await run(service.url, 'select 1')).toEqual([[1]]);
  } finally {
    await service.stop();
  }
});

it('starts one for a command alone and ends it with the command', async () => {
  const dir = await initialisedHome();
  const command = await connectEmbedded({ dir, log: quiet, settings });
  expect(await run(command.url, 'select 1')).toEqual([[1]]);
  await command.stop();
  expect(await readPostmaster(join(dir, 'postgres'))).toBeUndefined();
});

it('lets commands that start together share one, and the one that started it waits for the others', async () => {
  const dir = await initialisedHome();
  const { log, lines } = keepingLog();
  const commands = await Promise.all([1, 2, 3].map(() => connectEmbedded({ dir, log, settings })));
  expect(new Set(commands.map(({ url }) => url)).size).toBe(1);

  let stopped = 0;
  const stopping = run(commands[0]?.url ?? '', 'select pg_sleep(0.3)').then(() => expect(stopped).toBe(2));
  await waitForBackend(commands[0]?.url ?? '');
  const stops = commands.map(({ stop }) =>
    stop().then(() => {
      stopped += 1;
    }),
  );
  await Promise.all([...stops, stopping]);
  expect(lines.join()).toContain('another command uses the embedded Postgres');
});

it('lets a service wait for a command that has the database', async () => {
  const dir = await initialisedHome();
  const command = await startHolder('command', dir);
  const { log, lines } = keepingLog();
  const starting = startEmbedded({ dir, log, settings });
  while (!lines.join().includes('waiting for it to end')) await new Promise((resolve) => setTimeout(resolve, 5));
  await command.finish();
  const service = await starting;
  await service.stop();
});

async function waitForBackend(url: string): Promise<void> {
  const others = `select from pg_stat_activity where query like '%pg_sleep%' and pid <> pg_backend_pid()`;
  while ((await run(url, others)).length === 0);
}
