import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { expect, it } from 'vitest';
import { feedOperator, operator } from './cli.ts';
import { filesWith } from './database-files.ts';
import { document } from './support.ts';

feedOperator();

it('names the files that belong to no relation, as a crash during a rewrite leaves them, and no others', async () => {
  await operator.feed.publish([document('d-1', { omschrijving: 'gewoon' })]);
  expect(await operator.run(['verify', '--files'])).toMatchObject({ status: 0 });
  const client = new pg.Client({ connectionString: operator.feed.databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ dir: string; oid: string }>(
    `select current_setting('data_directory') as dir, oid::text from pg_database where datname = current_database()`,
  );
  await client.end();
  const path = join('base', rows[0]?.oid ?? '', '4000000001');
  const file = join(rows[0]?.dir ?? '', path);
  await writeFile(file, 'wat-geredigeerd-was');
  try {
    expect(await filesWith(operator.feed.databaseUrl, 'wat-geredigeerd-was')).toHaveLength(1);
    const { status, stdout, stderr } = await operator.run(['verify', '--files', '--json']);
    expect([status, JSON.parse(stdout)]).toMatchObject([1, { faultCount: 0, files: [{ path, bytes: 19 }] }]);
    expect(stderr).toContain('belong to no relation');
  } finally {
    await rm(file);
  }
});
