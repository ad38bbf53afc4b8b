/** Floor: Postgres' own load generator with the same statement; nothing when it is not installed. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { LoadResult } from '../support/raw-client.ts';
import { INSERT } from './log-insert.ts';

const ID = `(lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || substr(replace(gen_random_uuid()::text, '-', ''), 13))::uuid`;
const STATEMENT = INSERT.replaceAll('$1::uuid', 'id')
  .replaceAll('$2::uuid', 'proc')
  .replaceAll('$3::uuid', 'pers')
  .replaceAll('$4::uuid', 'idem');

export async function pgbenchRate(url: string, connections: number, seconds: number): Promise<LoadResult | undefined> {
  const { searchParams, pathname, username } = new URL(url);
  const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-pgbench-'));
  try {
    const script = join(dir, 'insert.sql');
    // pgbench has no random UUIDs: a common table makes them once for the three rows.
    const given = `with nieuw as materialized (select ${ID} as id, gen_random_uuid() as proc, gen_random_uuid() as pers, gen_random_uuid() as idem), actie as (`;
    const rows = STATEMENT.replace('with actie as (', given)
      .replace(/values \(id, 1/, 'select id, 1')
      .replace(/'\)\s*\), plaats/, "' from nieuw), plaats")
      .replace(/values \(pers/, 'select pers')
      .replace(/'\{0\}'\)/, "'{0}'::int[] from nieuw")
      .replace(/values \(idem(.*)\)$/, 'select idem$1 from nieuw');
    await writeFile(script, `${rows.replaceAll(/\s+/g, ' ')};\n`);
    const args = [
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
      String(seconds),
      '-h',
      searchParams.get('host') ?? '',
      '-U',
      username,
      pathname.slice(1),
    ];
    const { stdout } = await promisify(execFile)('pgbench', args);
    const number = (pattern: RegExp): number => Number(pattern.exec(stdout)?.[1] ?? Number.NaN);
    return { perSecond: number(/tps = ([\d.]+)/), medianMs: number(/latency average = ([\d.]+)/), p99Ms: Number.NaN };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
