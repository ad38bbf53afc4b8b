import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { socketUrl } from '../../src/embedded-postgres/start.ts';
import { hasPostgres, temporaryHome, waitForText } from '../demo/support.ts';
import { addDatabase } from '../support/database-home.ts';
import { type Running, startProgram } from '../support/program.ts';

let home: Awaited<ReturnType<typeof temporaryHome>>;
let running: Running | undefined;
beforeAll(async () => {
  home = await temporaryHome();
  await addDatabase(home.path);
});
afterEach(async () => {
  running?.child.kill('SIGKILL');
  await running?.ended;
});
afterAll(() => home.remove());

/** Starts the service with the embedded database and returns its address. */
async function serve(): Promise<{ url: string; program: Running }> {
  const program = startProgram(['serve'], {
    KOPPELVLAK_HOME: home.path,
    AREAS: 'raadsfeed',
    PORT: '0',
    MANAGEMENT_PORT: '0',
    SHUTDOWN_DRAIN_MS: '0',
    // A busy machine must not cause 503, and the test itself is slow to release the request.
    'server.overloadEventLoopDelayMs': '0',
    'server.shutdownTimeoutMs': '120000',
    'server.requestTimeoutMs': '120000',
    'database.statementTimeoutMs': '120000',
  });
  running = program;
  await waitForText(program, '"msg":"listening"');
  const line = program
    .output()
    .stdout.split('\n')
    .find((one) => one.includes('"msg":"listening"'));
  const { url }: { url: string } = JSON.parse(line ?? '{}');
  return { url, program };
}

describe('the service', () => {
  it('answers a request that is running when SIGTERM arrives, exits with 0, and leaves no Postgres', async () => {
    const { url, program } = await serve();
    const database = new pg.Client({ connectionString: socketUrl(join(home.path, 'postgres'), 'koppelvlak') });
    // Ends with the server when the test fails.
    database.on('error', () => undefined);
    await database.connect();
    await database.query('begin');
    // Only the request uses this table, so a waiting session is the request's.
    await database.query('lock table raadsfeed.current_records in access exclusive mode');
    const answer = fetch(`${url}/ori/v1/snapshot`);
    // Reported below, or by the earlier failure.
    answer.catch(() => undefined);
    const isWaiting = async (): Promise<boolean> => {
      // Not pg_stat_activity: within a transaction it keeps showing the connections of its first read.
      const { rows } = await database.query('select 1 from pg_locks where not granted');
      return rows.length > 0;
    };
    await expect.poll(isWaiting).toBe(true);

    program.child.kill('SIGTERM');
    await waitForText(program, '"msg":"stopping"');
    const another = fetch(`${url}/ori/v1/`, { signal: AbortSignal.timeout(30_000) });
    await expect(another, 'no new requests are accepted').rejects.toThrow('fetch failed');
    await database.query('rollback');
    await database.end();
    expect((await answer).status).toBe(200);
    expect(await program.ended).toMatchObject({ status: 0, stderr: '' });
    expect(await hasPostgres(home.path)).toBe(false);
  });

  it('restarts after SIGKILL with its data intact', async () => {
    const first = await serve();
    const document = async (url: string): Promise<string> => (await fetch(`${url}/ori/v1/feed`)).text();
    const before = await document(first.url);
    first.program.child.kill('SIGKILL');
    await first.program.ended;
    const second = await serve();
    expect((await document(second.url)).replaceAll(second.url, '')).toBe(before.replaceAll(first.url, ''));
    second.program.child.kill('SIGTERM');
    expect((await second.program.ended).status).toBe(0);
    expect(await hasPostgres(home.path)).toBe(false);
  });

  it('refuses a home directory in use by another demo, and names it', async () => {
    const { program } = await serve();
    const env = { KOPPELVLAK_HOME: home.path, AREAS: 'raadsfeed', PORT: '0', MANAGEMENT_PORT: '0' };
    const { status, stderr } = await startProgram(['serve'], env).ended;
    expect(status).toBe(1);
    expect(stderr).toContain(`process ${program.child.pid}`);
    expect(stderr).toContain('KOPPELVLAK_HOME');
  });
});
