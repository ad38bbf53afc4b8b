/** The commands of an operator in a hurry: pipes, interrupted runs, slips of the pen. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { transaction } from '../../src/database/transaction.ts';
import { publishBatch } from '../../src/raadsfeed/store/publish.ts';
import type { Ended } from '../support/program.ts';
import { feedOperator, operator } from './cli.ts';
import { filesWith } from './database-files.ts';
import { document, PATIENT, readRecords, vergadering } from './support.ts';

feedOperator();

const run = (words: readonly string[], input?: string): Promise<Ended> => operator.run(words, input);
const head = (): Promise<number> => operator.head();

const toText = (lines: readonly object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('');
const organisations = async (): Promise<unknown[]> =>
  Object((await operator.feed.api.call('GET', '/')).json).organisaties;

describe('feed publish', () => {
  it('refuses a named pipe, which cannot be read twice', async () => {
    const pipe = join(operator.dir, 'pijp');
    execFileSync('mkfifo', [pipe]);
    expect(await run(['publish', pipe])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('is read from standard input'),
    });
  });

  it('exits at once on Ctrl-C, even while it waits for standard input', async () => {
    const { child, ended } = operator.start(['publish', '--partial', '-']);
    const before = await head();
    // One batch: once it is in the feed, the command is waiting for more.
    child.stdin?.write(toText(Array.from({ length: 1000 }, (_, i) => vergadering(`half-${i}`))));
    await expect.poll(head, PATIENT).toBe(before + 1000);
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ status: 1, stderr: expect.stringContaining('interrupted') });
  });

  it('reports the first faulty line with `--strict` in machine-readable form too', async () => {
    const { status, stdout } = await run(['publish', '--strict', '--json'], toText([vergadering('goed'), {}, {}]));
    expect([status, JSON.parse(stdout)]).toMatchObject([
      1,
      { recorded: 0, noOp: 0, refused: 1, faults: [{ file: 'standard input', line: 2 }] },
    ]);
  });

  it("accepts an organisation's name with a NUL byte, and stores the name without it", async () => {
    const data = { waterschap: 'ws0001', naam: 'Voor\u0000beeld' };
    expect((await run(['publish'], toText([vergadering('nul', {}, data)]))).status).toBe(0);
    expect(await organisations()).toContainEqual(
      expect.objectContaining({ organisatiecode: 'ws0001', naam: 'Voorbeeld' }),
    );
    expect((await readRecords(operator.feed.api)).at(-1)?.data?.organisatie).toEqual(data);
  });
});

describe('feed redact', () => {
  it('vacuums the tables that held the content', async () => {
    await operator.feed.publish([document('d-stof')]);
    const vacuums = async (): Promise<number> => {
      const { rows } = await operator.feed.pool.query(
        `select min(vacuum_count)::integer as least from pg_stat_user_tables
          where schemaname = 'raadsfeed' and (relname in ('records', 'current_records') or relname ~ '^texts_')`,
      );
      return rows[0]?.least;
    };
    const before = await vacuums();
    await run(['redact', '--resource', 'gm9901/Informatieobject/d-stof', '--reden', 'correctie']);
    await expect.poll(vacuums, PATIENT).toBeGreaterThan(before);
  });

  it('of an unknown organisation does not add it to the service document', async () => {
    const before = await organisations();
    const resource = { organisatiecode: 'gm0001', bronidentificatie: 'x' };
    const line = { op: 'delete', resourceType: 'Agendapunt', resource, verwijderreden: 'correctie' };
    expect((await run(['publish'], toText([line]))).stdout).toContain('1 no-op');
    const redacted = await run(['redact', '--resource', 'gm0001/Vergadering/x', '--reden', 'correctie']);
    expect([redacted.status, redacted.stdout]).toEqual([0, expect.stringContaining('the feed holds no content of it')]);
    expect(await organisations()).toEqual(before);
  });

  it('completes one that was interrupted between its commit and the end of its work', async () => {
    await operator.feed.publish([document('d-af', { omschrijving: 'Afgebroken-Geheim' }), vergadering('na-af')]);
    // The lock of the rewrites: otherwise the service might complete it first.
    const holder = await operator.feed.pool.connect();
    await holder.query('select pg_advisory_lock(4001, 0)');
    await transaction(operator.feed.pool, (client) =>
      publishBatch(
        client,
        [
          {
            op: 'redact',
            resourceType: 'Informatieobject',
            resource: { organisatiecode: 'gm9901', bronidentificatie: 'd-af' },
            verwijderreden: 'persoonsgegevens',
          },
        ],
        new Date(),
      ),
    );
    expect(await filesWith(operator.feed.databaseUrl, 'Afgebroken-Geheim')).not.toEqual([]);
    expect((await run(['verify'])).stdout).toContain('run feed redact');
    await holder.query('select pg_advisory_unlock(4001, 0)');
    holder.release();
    await run(['redact', '--resource', 'gm9901/Informatieobject/d-af', '--reden', 'persoonsgegevens']);
    expect(await filesWith(operator.feed.databaseUrl, 'Afgebroken-Geheim')).toEqual([]);
    expect((await run(['verify'])).status).toBe(0);
  });
});

describe('feed sync', () => {
  it('deletes exactly a tenth, and one more only with `--allow-mass-delete`', async () => {
    const organisatie = { provincie: 'pv27', naam: 'Provincie' };
    const all = Array.from({ length: 30 }, (_, i) => vergadering(`p-${i}`, {}, organisatie));
    await operator.feed.publish(all);
    const sync = (left: readonly object[], ...words: string[]) =>
      run(['sync', '--organisatie', 'PV27', '--json', ...words], toText(left));
    expect(await sync(all.slice(4))).toMatchObject({ status: 1, stdout: '' });
    expect(JSON.parse((await sync(all.slice(3))).stdout)).toMatchObject({ deleted: 3 });
    expect(JSON.parse((await sync([], '--allow-mass-delete')).stdout)).toMatchObject({ deleted: 27 });
  });
});

describe('feed prune', () => {
  it('uses the number of days in a month', async () => {
    for (const day of ['2026-02-30', '2026-02-29T00:00:00Z', '2026-13-01']) {
      expect((await run(['prune', '--before', day])).status).toBe(2);
    }
  });
});
