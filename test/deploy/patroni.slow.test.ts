/** Validates deploy/patroni/patroni.yml with Patroni and starts it: one node and one etcd, on Debian's Postgres. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';

const CONFIG = join(import.meta.dirname, '../../deploy/patroni/patroni.yml');
const BIN = '/usr/lib/postgresql/15/bin';
const has = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;
/** Postgres does not run as root, and Debian's packages create a user for it. */
const canRun = process.getuid?.() === 0 && existsSync(BIN) && has('patroni') && has('etcd');

describe.runIf(canRun)('a node of Patroni with the file of deploy (needs root, patroni, etcd, Postgres 15)', () => {
  const children: ChildProcess[] = [];
  let dir: string;
  let config: string;
  let rest: number;
  let port: number;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'kv-patroni-'));
    const [uid, gid] = ['-u', '-g'].map((what) => Number(execFileSync('id', [what, 'postgres'], { encoding: 'utf8' })));
    if (uid === undefined || gid === undefined) throw new Error('there is no user postgres');
    await chown(dir, uid, gid);
    await chmod(dir, 0o755);
    rest = await freePort();
    port = await freePort();
    const [client, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
    config = join(dir, 'patroni.yml');
    // Replaces addresses and paths for this machine; the rest is what operators get.
    const text = (await readFile(CONFIG, 'utf8'))
      .replaceAll('0.0.0.0:8008', `127.0.0.1:${rest}`)
      .replaceAll('0.0.0.0:5432', `127.0.0.1:${port}`)
      .replaceAll('db1:8008', `${hostname()}:${rest}`)
      .replaceAll('db1:5432', `${hostname()}:${port}`)
      .replace(/hosts: etcd1.*/, `hosts: ${client.slice('http://'.length)}`)
      .replace(/data_dir: .*/, `data_dir: ${dir}/data\n  bin_dir: ${BIN}`);
    await writeFile(config, text);
    const etcd = ['--data-dir', join(dir, 'etcd'), '--listen-client-urls', client, '--advertise-client-urls', client];
    const peers = ['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer];
    start('etcd', [...etcd, ...peers, '--initial-cluster', `default=${peer}`], {});
    const validate = (): number | null => spawnSync('patroni', ['--validate-config', config]).status;
    // It waits for etcd, which takes a moment.
    for (let tries = 0; validate() !== 0 && tries < 20; tries += 1);
    start('patroni', [config], { uid, gid });
  });
  afterAll(async () => {
    for (const child of children.toReversed()) {
      const ended = child.exitCode === null ? once(child, 'exit') : undefined;
      child.kill('SIGTERM');
      await ended;
    }
    await rm(dir, { recursive: true, force: true });
  });

  function start(program: string, words: readonly string[], who: { uid?: number; gid?: number }): void {
    children.push(spawn(program, words, { ...who, cwd: dir, env: { ...process.env, HOME: dir }, stdio: 'ignore' }));
  }

  it('is accepted by the validator', () => {
    const { status, stdout, stderr } = spawnSync('patroni', ['--validate-config', config], { encoding: 'utf8' });
    // By then the node itself uses its ports.
    const faults = `${stdout}${stderr}`
      .split('\n')
      .filter((line) => line !== '' && !/Port .* already in use/i.test(line));
    expect({ faults, ok: status === 0 || faults.length === 0 }).toEqual({ faults: [], ok: true });
  });

  it('becomes the primary, and acknowledges only what a second server has', async () => {
    const primary = async (): Promise<number> =>
      fetch(`http://127.0.0.1:${rest}/primary`).then(
        ({ status }) => status,
        () => 0,
      );
    await expect.poll(primary).toBe(200);
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
    await client.connect();
    const { rows } = await client.query<{ name: string; setting: string }>(
      `select name, setting from pg_settings where name = any('{synchronous_commit,synchronous_standby_names,data_checksums}')`,
    );
    await client.end();
    // `*`: strictly synchronous, so that nothing is acknowledged without a standby.
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
      synchronous_commit: 'on',
      synchronous_standby_names: '*',
      data_checksums: 'on',
    });
  });
});
