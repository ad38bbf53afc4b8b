import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Pool, PoolOptions } from '../../../src/kernel/database/pool.ts';
import { createRepeatedQuery, type RepeatedQuery } from '../../../src/kernel/database/repeated-query.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { openPool, until } from './support.ts';

let database: TestDatabase;
/** To look from outside, and to end connections with. */
let observer: Pool;

beforeAll(async () => {
  database = await createDatabase();
  observer = openPool(database.url, { size: 1 });
  await observer.query('create table stand (waarde text)');
});
afterAll(async () => {
  await observer?.end();
  await database?.drop();
});

/** Runs a test with a question on a pool of its own, which must end in peace afterwards. */
async function withQuestion(
  text: string,
  test: (question: RepeatedQuery, pool: Pool) => Promise<void>,
  options: Partial<PoolOptions> = {},
): Promise<void> {
  const pool = openPool(database.url, { size: 1, ...options });
  const question = createRepeatedQuery(pool, { name: 'stand', text });
  try {
    await test(question, pool);
  } finally {
    question.close();
    await pool.end();
  }
}

async function setStand(waarde: string | undefined): Promise<void> {
  await observer.query('truncate stand');
  if (waarde !== undefined) await observer.query('insert into stand values ($1)', [waarde]);
}

const processOf = 'select pg_backend_pid()::text';

async function endConnection(pid: string | undefined): Promise<void> {
  await observer.query('select pg_terminate_backend($1::int)', [pid]);
  await until(async () => {
    const { rows } = await observer.query('select from pg_stat_activity where pid = $1::int', [pid]);
    return rows.length === 0;
  });
}

it('answers how it stands now, each time', async () => {
  await withQuestion('select waarde from stand', async (question) => {
    for (const waarde of ['één', undefined, '', 'drie']) {
      await setStand(waarde);
      for (let again = 0; again < 3; again += 1) expect(await question.ask()).toBe(waarde);
    }
  });
});

it('keeps one connection while it is asked, and gives it back when it is not', async () => {
  await withQuestion(processOf, async (question, pool) => {
    const first = await question.ask();
    expect(pool.idleCount).toBe(0);
    for (let i = 0; i < 20; i += 1) expect(await question.ask()).toBe(first);
    await until(() => pool.idleCount === 1);
    expect(await question.ask()).toBe(first);
    question.close();
    expect(pool.idleCount).toBe(1);
  });
});

it('lets others have the connection who wait for one', async () => {
  await withQuestion(processOf, async (question, pool) => {
    await question.ask();
    let waiting = true;
    const other = pool.query('select 1').finally(() => {
      waiting = false;
    });
    while (waiting) await question.ask();
    expect((await other).rowCount).toBe(1);
    expect(await question.ask()).toMatch(/^\d+$/);
  });
});

it('gives the connection back after the question that was under way when it was closed', async () => {
  await withQuestion(`select pg_sleep(0.1)::text || 'x'`, async (question, pool) => {
    const asked = question.ask();
    question.close();
    expect(await asked).toBe('x');
    expect(pool.idleCount).toBe(1);
  });
});

it('takes another connection when the one it kept is gone', async () => {
  await withQuestion(processOf, async (question, pool) => {
    const first = await question.ask();
    await endConnection(first);
    await until(() => pool.totalCount === 0);
    expect(await question.ask()).not.toBe(first);
  });
});

it('fails when its connection goes while it waits, and works again the next time', async () => {
  await setStand('slow');
  const text = `select case waarde when 'slow' then pg_sleep(20)::text else waarde end from stand`;
  await withQuestion(text, async (question) => {
    const asked = question.ask();
    const running = `select pid::text from pg_stat_activity where query = $1 and state = 'active'`;
    const refused = expect(asked).rejects.toThrow();
    await until(async () => (await observer.query(running, [text])).rows.length === 1);
    const { rows } = await observer.query<{ pid: string }>(running, [text]);
    await endConnection(rows[0]?.pid);
    await refused;
    await setStand('fast');
    expect(await question.ask()).toBe('fast');
  });
});

it('tells what the database says is wrong, and works again when it is mended', async () => {
  await setStand('0');
  await withQuestion('select (1 / waarde::int)::text from stand', async (question) => {
    for (let again = 0; again < 2; again += 1) await expect(question.ask()).rejects.toThrow('division by zero');
    await setStand('1');
    expect(await question.ask()).toBe('1');
  });
});

it('keeps the time limit of its pool', async () => {
  await withQuestion(
    `select pg_sleep(20)::text`,
    async (question) => expect(question.ask()).rejects.toThrow('statement timeout'),
    { statementTimeoutMs: 50 },
  );
});

it('asks one thing at a time', async () => {
  await withQuestion(processOf, async (question) => {
    const first = question.ask();
    await expect(question.ask()).rejects.toThrow('being asked already');
    expect(await first).toMatch(/^\d+$/);
  });
});
