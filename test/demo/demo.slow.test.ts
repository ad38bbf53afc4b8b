import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { isAbsolute, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { startProgram } from '../support/program.ts';
import { freePorts, hasPostgres, temporaryHome, waitForDemo, waitForText } from './support.ts';

const ROOT = join(import.meta.dirname, '../..');

let home: Awaited<ReturnType<typeof temporaryHome>>;
beforeAll(async () => {
  home = await temporaryHome();
});
afterAll(() => home.remove());

describe('the demo', () => {
  it('plays every client, names each check, and ends with 0', { timeout: 120_000 }, async () => {
    // As the README has it.
    const { stdout, stderr } = await promisify(execFile)('npm', ['run', '--silent', 'demo', '--', '--once'], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, NO_COLOR: '1', ...freePorts(home.path) },
      maxBuffer: 16 * 1024 * 1024,
    });
    expect(stdout).not.toContain('FAILED');
    expect(stderr).toBe('');
    for (const part of [
      'shv:',
      'vs:',
      'log: F4086',
      'log: F2525',
      'log: F9787',
      'log: F0143',
      'feed: the stream',
      'preflight: all 19 lines',
    ]) {
      expect(stdout).toContain(`ok     ${part}`);
    }
    expect(stdout).toContain('processing actions of two persons: 40 loaded');
    const checks = (text: string): string[] => text.match(/^ +ok {5}.+$|^ +\d+ checks ok, 0 failed$/gm) ?? [];
    // Of the second variant the page shows what differs.
    const own = checks(stdout).filter((line) => !line.includes(' vs: '));
    for (const [page, least] of [['docs/tour.md', own.length + 1] as const, ['README.md', 5] as const]) {
      const shown = checks(await readFile(join(ROOT, page), 'utf8'));
      expect(
        shown.filter((line) => !stdout.includes(line)),
        page,
      ).toEqual([]);
      expect(shown.length, page).toBeGreaterThanOrEqual(least);
    }
    expect(await hasPostgres(home.path)).toBe(false);
  });

  it('says in demo.json all that a client needs, while it runs', { timeout: 120_000 }, async () => {
    const running = startProgram(['demo', '--empty'], freePorts(home.path));
    const file = await waitForDemo(home.path, running);
    expect(Object.keys(file).toSorted()).toEqual([
      'baseUrl',
      'clients',
      'databaseUrl',
      'environment',
      'fsc',
      'issuer',
      'managementUrl',
      'mounts',
      'pid',
      'pki',
      'requester',
      'supplier',
      'tokenUrl',
    ]);
    expect(file.pid).toBe(running.child.pid);
    expect(file.mounts).toEqual({
      shv: `${file.baseUrl}/shv/v1`,
      vs: `${file.baseUrl}/vs/v1`,
      verwerkingenlog: `${file.baseUrl}/verwerkingenlog/v1`,
      ldv: `${file.baseUrl}/ldv/v1`,
      raadsfeed: `${file.baseUrl}/ori/v1`,
    });
    expect(file.clients).toMatchObject({
      statistiek: { id: 'statistiek', scopes: ['read'] },
      applicatie: { scopes: ['create:normal', 'read:normal', 'update:normal', 'delete:normal'] },
      onderzoek: { scopes: ['create:confidential', 'read:confidential', 'update:confidential', 'delete:confidential'] },
      inzage: { scopes: ['read:restricted'] },
      niemand: { scopes: [] },
    });
    await everyPathIsPem(file);
    expect((await fetch(`${file.managementUrl}/health/ready`)).status).toBe(200);
    expect((await stat(join(home.path, 'demo.json'))).mode & 0o077).toBe(0);
    running.child.kill('SIGTERM');
    expect((await running.ended).status).toBe(0);
    expect(await readdir(home.path)).not.toContain('demo.json');
  });

  it('keeps the data for the next start, plays again, and stops on Ctrl-C with connections open', {
    timeout: 120_000,
  }, async () => {
    const running = startProgram(['demo'], freePorts(home.path));
    const file = await waitForDemo(home.path, running);
    await waitForText(running, 'What next');
    const { stdout } = running.output();
    expect(stdout).not.toContain('FAILED');
    expect(stdout.match(/there already/g)).toHaveLength(4);
    const idle = connect(Number(new URL(String(file.baseUrl)).port), '127.0.0.1');
    await once(idle, 'connect');
    const stream = await fetch(`${file.baseUrl}/ori/v1/feed/stream`);
    expect(await hasPostgres(home.path)).toBe(true);
    running.child.kill('SIGINT');
    expect(await running.ended).toMatchObject({ status: 0 });
    await stream.text().catch(() => undefined);
    idle.destroy();
    expect(await hasPostgres(home.path)).toBe(false);
  });

  it('takes settings of the service, and they win', { timeout: 120_000 }, async () => {
    const env = { ...freePorts(home.path), AREAS: 'raadsfeed', RAADSFEED_PREFIX: '/feed/v1' };
    const { status, stdout } = await startProgram(['demo', '--once'], env).ended;
    expect(status).toBe(0);
    expect(stdout).toContain('/feed/v1/feed/stream');
    expect(stdout).not.toContain('shv:');
  });
});

describe('a demo that cannot start', () => {
  it.each(['PORT', 'MANAGEMENT_PORT'])(
    'names %s when that port is taken, and leaves nothing running',
    { timeout: 60_000 },
    async (variable) => {
      const taken = createServer().listen(0, '127.0.0.1');
      await once(taken, 'listening');
      const address = taken.address();
      const port = typeof address === 'object' && address !== null ? String(address.port) : '';
      const env = { ...freePorts(home.path), [variable]: port };
      const { status, stderr } = await startProgram(['demo', '--once'], env).ended;
      taken.close();
      expect(status).toBe(1);
      expect(stderr).toContain(`port ${port} is taken; set ${variable} to another port`);
      expect(await hasPostgres(home.path)).toBe(false);
    },
  );

  it('refuses production', async () => {
    const env = { ...freePorts(home.path), NODE_ENV: 'production' };
    const { status, stderr } = await startProgram(['demo'], env).ended;
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: 'koppelvlak: the demo does not start with NODE_ENV=production\n',
    });
  });

  it('names a setting that is wrong', async () => {
    const env = { ...freePorts(home.path), PORT: 'http' };
    const { status, stderr } = await startProgram(['demo'], env).ended;
    expect(status).toBe(1);
    expect(stderr).toContain('PORT is not a whole number');
  });
});

async function everyPathIsPem(file: Record<string, unknown>): Promise<void> {
  const { pki, requester, supplier, fsc } = file;
  if (!isRecord(pki) || !isRecord(requester) || !isRecord(supplier) || !isRecord(fsc)) throw new Error('parts missing');
  const paths = [pki.root, pki.intermediate, pki.intermediateKey, fsc.key, fsc.certificate].concat(
    [requester, supplier].flatMap(({ key, chain, certificate }) => [key, chain, certificate]),
  );
  for (const path of paths.map(String)) {
    expect(isAbsolute(path), path).toBe(true);
    expect(await readFile(path, 'utf8')).toMatch(/^-----BEGIN /);
  }
  expect(await readFile(String(pki.revoked), 'utf8')).toBe('');
  expect(requester.oin).toMatch(/^\d{20}$/);
  expect(fsc.services).toEqual({ shv: 'shv', vs: 'vs' });
}
