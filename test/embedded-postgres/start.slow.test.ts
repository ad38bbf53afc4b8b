import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { postgresBinaries } from '../../src/embedded-postgres/programs.ts';
import { findEmbedded, findPostgres, startEmbedded } from '../../src/embedded-postgres/start.ts';
import { keepingLog, quiet } from '../database/support.ts';
import { initialisedHome, run, startHolder, temporaryHome, untilGone } from './support.ts';

const settings = { fsync: 'off' };
const isRoot = process.getuid?.() === 0;
const NOBODY = { uid: 65534, gid: 65534 };
/** Not part of the package; if it is installed, it must accept the address. */
const hasPsql = spawnSync('psql', ['--version']).status === 0;
/** Another user cannot enter a checkout under a closed home directory (such as /root). */
const othersMayEnter = isRoot && spawnSync(process.execPath, ['-e', ''], { ...NOBODY, cwd: '/' }).status === 0;

describe('the embedded Postgres', () => {
  it('creates a database, keeps its data over a restart and leaves no process', async () => {
    const dir = await temporaryHome();
    const first = await startEmbedded({ dir, log: quiet, settings });
    await run(first.url, 'create table t as select 42 as n');
    await Promise.all([first.stop(), first.stop()]);
    expect(await findPostgres(join(dir, 'postgres'))).toBeUndefined();

    const second = await startEmbedded({ dir, log: quiet, settings });
    try {
      expect(await run(second.url, 'select n, current_user from t')).toEqual([[42, 'koppelvlak']]);
    } finally {
      await second.stop();
    }
    expect(await readdir(dir)).toEqual(['postgres']);
  });

  it('is durable, listens on no network and admits only its user', async () => {
    const dir = await initialisedHome();
    const postgres = await startEmbedded({ dir, log: quiet });
    try {
      const names = ['fsync', 'synchronous_commit', 'full_page_writes', 'data_checksums', 'listen_addresses'];
      const shown = await Promise.all(names.map((name) => run(postgres.url, `show ${name}`)));
      expect(shown.flat(2)).toEqual(['on', 'on', 'on', 'on', '']);
      expect((await stat(join(dir, 'postgres'))).mode & 0o777).toBe(0o700);
    } finally {
      await postgres.stop();
    }
  });

  it('keeps statements and values of failed statements out of the log', async () => {
    const { log, lines } = keepingLog();
    const postgres = await startEmbedded({ dir: await initialisedHome(), log, settings });
    try {
      await expect(run(postgres.url, `select '999993653'::uuid`)).rejects.toThrow('invalid input syntax');
    } finally {
      await postgres.stop();
    }
    expect(lines.join()).toContain('ready to accept connections');
    expect(lines.join()).not.toContain('999993653');
  });

  it('has an address with which pg connects, whatever characters the path contains', async () => {
    const dir = await initialisedHome('met spatie & é+%');
    const postgres = await startEmbedded({ dir, log: quiet, settings });
    try {
      expect(await run(postgres.url, 'select 1')).toEqual([[1]]);
    } finally {
      await postgres.stop();
    }
  });

  it.runIf(hasPsql)('has an address with which psql connects', async () => {
    const dir = await initialisedHome('met spatie & é+%');
    const postgres = await startEmbedded({ dir, log: quiet, settings });
    try {
      const { stdout } = await promisify(execFile)('psql', [postgres.url, '-Atc', 'select 2']);
      expect(stdout).toBe('2\n');
    } finally {
      await postgres.stop();
    }
  });

  it('uses another socket directory when the path would be too long, and removes it', async () => {
    const dir = await initialisedHome('x'.repeat(100));
    const postgres = await startEmbedded({ dir, log: quiet, settings });
    const socketDir = new URL(postgres.url).searchParams.get('host') ?? '';
    try {
      expect(socketDir.length).toBeLessThan(90);
      expect((await stat(socketDir)).mode & 0o777).toBe(0o700);
      expect(await run(postgres.url, 'select 1')).toEqual([[1]]);
    } finally {
      await postgres.stop();
    }
    await expect(stat(socketDir)).rejects.toThrow('ENOENT');
  });

  it("reports Postgres's own message when it does not start", async () => {
    const dir = await initialisedHome();
    const wrong = startEmbedded({ dir, log: quiet, settings: { ...settings, shared_buffers: 'lots' } });
    await expect(wrong).rejects.toThrow(/did not start[\s\S]*shared_buffers/);
    const right = await startEmbedded({ dir, log: quiet, settings });
    await right.stop();
  });

  it('reports a Postgres that exited unexpectedly', async () => {
    const dir = await initialisedHome();
    const { log, lines } = keepingLog();
    const postgres = await startEmbedded({ dir, log, settings });
    const postmaster = await findPostgres(join(dir, 'postgres'));
    process.kill(postmaster?.pid ?? 0, 'SIGQUIT');
    await postgres.exited;
    expect(lines.join()).toContain('ended unexpectedly');
    await postgres.stop();
  });

  it('lists the supported platforms on another one', () => {
    expect(() => postgresBinaries('darwin', 'arm64')).toThrow(/linux-x64 and linux-arm64.*DATABASE_URL/);
  });
});

describe('two processes and one home', () => {
  it('a second service is refused, with the process that holds it', async () => {
    const dir = await initialisedHome();
    const holder = await startHolder(dir);
    const second = startEmbedded({ dir, log: quiet, settings });
    await expect(second).rejects.toThrow(`another koppelvlak (process ${holder.child.pid}) uses`);
    expect(await run(holder.url ?? '', 'select 1')).toEqual([[1]]);
    await holder.finish();
  });

  it('of many services starting at once on an empty home, one wins, unharmed', async () => {
    const dir = await temporaryHome();
    const holders = await Promise.all([1, 2, 3, 4].map(() => startHolder(dir)));
    const winners = holders.filter(({ url }) => url !== undefined);
    expect(winners).toHaveLength(1);
    for (const { error } of holders.filter(({ url }) => url === undefined))
      expect(error).toContain('another koppelvlak');
    expect(await run(winners[0]?.url ?? '', 'select 1')).toEqual([[1]]);
    await winners[0]?.finish();
  });

  it('a command uses the running one, and starts none', async () => {
    const dir = await initialisedHome();
    expect(await findEmbedded(dir)).toBeUndefined();
    const service = await startEmbedded({ dir, log: quiet, settings });
    expect(await findEmbedded(dir)).toBe(service.url);
    await service.stop();
    expect(await findEmbedded(dir)).toBeUndefined();
  });
});

describe('a data directory', () => {
  it('left unfinished by initdb is created again', async () => {
    const dir = await temporaryHome();
    const child = spawn(process.execPath, [join(import.meta.dirname, 'holder.ts'), dir], {
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    while (!(await readdir(dir)).some((name) => name.startsWith('postgres-new-'))) await new Promise(setImmediate);
    child.kill('SIGKILL');
    await ended;
    expect(await readdir(dir)).toEqual([expect.stringMatching(/^postgres-new-/)]);

    const postgres = await startEmbedded({ dir, log: quiet, settings });
    await postgres.stop();
    expect(await readdir(dir)).toEqual(['postgres']);
  });

  it('with other contents is left alone', async () => {
    const dir = await temporaryHome();
    await mkdir(join(dir, 'postgres'));
    await writeFile(join(dir, 'postgres', 'notes.txt'), 'mine');
    await expect(startEmbedded({ dir, log: quiet, settings })).rejects.toThrow('is not a data directory of Postgres');
    expect(await readFile(join(dir, 'postgres', 'notes.txt'), 'utf8')).toBe('mine');
  });
});

describe('after SIGKILL of its owner', () => {
  it('Postgres exits on its own, and the next start has everything that was committed', async () => {
    const dir = await initialisedHome();
    const holder = await startHolder(dir);
    await run(holder.url ?? '', 'create table t as select 42 as n');
    holder.child.kill('SIGKILL');
    await untilGone(dir);
    const postgres = await startEmbedded({ dir, log: quiet, settings });
    try {
      expect(await run(postgres.url, 'select n from t')).toEqual([[42]]);
    } finally {
      await postgres.stop();
    }
  });

  it('a lock file with the process id of another program does not prevent the next start', async () => {
    const dir = await initialisedHome();
    const data = join(dir, 'postgres');
    await (await startEmbedded({ dir, log: quiet, settings })).stop();
    const { uid, gid } = await stat(data);
    await writeFile(join(data, 'postmaster.pid'), `${process.pid}\n${data}\n1\n5432\n${data}\n\n  1 1\nready   \n`, {
      mode: 0o600,
    });
    await chown(join(data, 'postmaster.pid'), uid, gid);
    const postgres = await startEmbedded({ dir, log: quiet, settings });
    await postgres.stop();
  });
});

describe.runIf(othersMayEnter)('as root', () => {
  it('keeps using the owner of an existing data directory', async () => {
    const dir = await temporaryHome();
    await mkdir(join(dir, 'postgres'), { mode: 0o700 });
    await chown(join(dir, 'postgres'), NOBODY.uid, NOBODY.gid);
    const postgres = await startEmbedded({ dir, log: quiet, settings });
    try {
      expect(await run(postgres.url, 'select 1')).toEqual([[1]]);
    } finally {
      await postgres.stop();
    }
    expect(await stat(join(dir, 'postgres', 'PG_VERSION'))).toMatchObject(NOBODY);
  });

  it('works for an ordinary user too, in a directory of its own', async () => {
    const dir = await temporaryHome();
    await chown(dir, NOBODY.uid, NOBODY.gid);
    const holder = await startHolder(dir, NOBODY);
    expect(holder.error).toBeUndefined();
    expect(await run(holder.url ?? '', 'select 1')).toEqual([[1]]);
    await holder.finish();
    expect(await stat(join(dir, 'postgres', 'PG_VERSION'))).toMatchObject(NOBODY);
  });

  it('tells an ordinary user that the data belongs to another', async () => {
    const dir = await temporaryHome();
    await (await startEmbedded({ dir, log: quiet, settings })).stop();
    const { error } = await startHolder(dir, { uid: 65533, gid: 65533 });
    expect(error).toContain('permission denied');
  });
});
