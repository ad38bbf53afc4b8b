/** Floor: Postgres' own load generator; undefined when it is not installed. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { insertSql } from '../support/log-insert-sql.ts';
import type { LoadResult } from '../support/raw-client.ts';

const ID = `(left(verwerkingenlog.first_id(clock_timestamp())::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid`;

export async function pgbenchRate(url: string, connections: number, ms: number): Promise<LoadResult | undefined> {
  const { host, user = '', database = '' } = new pg.Client(url);
  const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-pgbench-'));
  try {
    const script = join(dir, 'insert.sql');
    await writeFile(script, `${insertSql(ID, 'in the statement').replaceAll(/\s+/g, ' ')};\n`);
    const load = [
      '-n',
      '-M',
      'prepared',
      '-f',
      script,
      '-c',
      String(connections),
      '-j',
      '1',
      '-T',
      String(Math.ceil(ms / 1000)),
    ];
    const { stdout } = await promisify(execFile)('pgbench', [...load, '-h', host, '-U', user, database]);
    const number = (pattern: RegExp): number => Number(pattern.exec(stdout)?.[1] ?? Number.NaN);
    return {
      answers: number(/actually processed: (\d+)/),
      perSecond: number(/tps = ([\d.]+)/),
      medianMs: number(/latency average = ([\d.]+)/),
      p99Ms: Number.NaN,
    };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
