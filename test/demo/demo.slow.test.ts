import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { isAbsolute, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { ReportedCase } from '../../conformance/report/report.ts';
import { demoCalls } from '../../conformance/test/demo-calls.ts';
import { callConformance } from '../../conformance/test/program.ts';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { type Running, startProgram } from '../support/program.ts';
import { freePorts, hasPostgres, temporaryHome, waitForDemo, waitForText } from './support.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Cases that need something a demo does not offer or only a tester could provide. */
const SKIPPED_IN_DEMO = {
  gegevens: ['A-ACC-13', 'A-ACC-14', 'A-ACC-15', 'A-ACC-16', 'A-SIG-18', 'A-SIG-19', 'A-HTTP-10'],
  verwerkingenlog: ['B-HTTP-12', 'B-HTTP-17'],
  ldv: ['L-ANS-14', 'L-ANS-17'],
  raadsfeed: ['C-SVC-16', 'C-REC-20', 'C-COL-13', 'C-COL-14', 'C-ERR-08'],
};

let home: Awaited<ReturnType<typeof temporaryHome>>;
beforeAll(async () => {
  home = await temporaryHome();
});
afterAll(() => home.remove());

describe('the demo', () => {
  it('plays every client, reports each check, and exits with 0', async () => {
    // As in the README.
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
    const shown = checks(await readFile(join(ROOT, 'README.md'), 'utf8'));
    expect(shown.filter((line) => !stdout.includes(line))).toEqual([]);
    expect(shown.length).toBeGreaterThanOrEqual(5);
    expect(await hasPostgres(home.path)).toBe(false);
  });

  it('plays nothing with --empty; demo.json exists while it runs', async () => {
    const running = startProgram(['demo', '--empty'], { ...freePorts(home.path), AREAS: 'raadsfeed' });
    onTestFinished(() => void running.child.kill('SIGTERM'));
    const file = await waitForDemo(home.path, running);
    await waitForText(running, 'What next');
    expect(file.pid).toBe(running.child.pid);
    expect((await stat(join(home.path, 'demo.json'))).mode & 0o077).toBe(0);
    running.child.kill('SIGTERM');
    const { status, stdout } = await running.ended;
    expect(status).toBe(0);
    expect(stdout).not.toMatch(/^ +ok /m);
    expect(await readdir(home.path)).not.toContain('demo.json');
  });

  describe('started again', () => {
    let running: Running;
    let file: Record<string, unknown>;
    beforeAll(async () => {
      running = startProgram(['demo'], freePorts(home.path));
      file = await waitForDemo(home.path, running);
      await waitForText(running, 'What next');
    });
    afterAll(async () => {
      running?.child.kill('SIGTERM');
      await running?.ended;
    });

    it('keeps the data, and plays again', () => {
      const { stdout } = running.output();
      expect(stdout).not.toContain('FAILED');
      expect(stdout.match(/there already/g)).toHaveLength(4);
    });

    it('gives in demo.json everything that a client needs', async () => {
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
        onderzoek: {
          scopes: ['create:confidential', 'read:confidential', 'update:confidential', 'delete:confidential'],
        },
        inzage: { scopes: ['read:restricted'] },
        niemand: { scopes: [] },
      });
      await everyPathIsPem(file);
      expect((await fetch(`${file.managementUrl}/health/ready`)).status).toBe(200);
    });

    it.runIf(['bash', 'curl', 'jq'].every((name) => spawnSync(name, ['--version']).status === 0))(
      'answers the calls in docs/verwerkingenlog.md as that page shows',
      async () => {
        const page = await readFile(join(ROOT, 'docs/verwerkingenlog.md'), 'utf8');
        const [, calls = ''] = /^```sh\n([\s\S]*?)^```/m.exec(page) ?? [];
        // The folder in which the page runs the demo.
        const folder = await mkdtemp(join(home.path, 'folder-'));
        await symlink(home.path, join(folder, '.koppelvlak'));
        const { stdout } = await promisify(execFile)('bash', ['-ec', calls], { cwd: folder });
        const [, location] = /^location: (\S+)/m.exec(stdout) ?? [];
        expect(location).toMatch(/\/verwerkingenlog\/v1\/verwerkingsacties\/[0-9a-f-]{36}$/);
        expect(stdout.match(/^HTTP\S+ .+|^etag: .+/gm)?.map((line) => line.trim())).toEqual([
          'HTTP/1.1 201 Created',
          'etag: "1"',
          'HTTP/1.1 200 OK',
          'etag: "2"',
        ]);
        const [logged, found, corrected] = (stdout.match(/^\{.+\}$/gm) ?? []).map((line) => JSON.parse(line));
        expect(logged).toMatchObject({ url: location, handelingNaam: 'Intake' });
        expect(found).toMatchObject({ count: 1, next: null, previous: null, results: [{ url: location }] });
        expect(corrected).toMatchObject({ url: location, handelingNaam: 'Advies' });
      },
    );

    it('passes the conformance suites as called on their page', async () => {
      const reports = await Promise.all(
        (await demoCalls(file, home.path)).map(async ({ suite, words }) => {
          const { status, stdout, stderr } = await callConformance(words, {});
          expect(status, `${suite}: ${stderr}`).toBe(0);
          const { cases, counts } = JSON.parse(stdout);
          const skipped = cases.filter(({ outcome }: ReportedCase) => outcome === 'skipped');
          // Everything that was not skipped has passed.
          expect(counts, suite).toMatchObject({ passed: cases.length - skipped.length, skipped: skipped.length });
          return [suite, skipped.map(({ id }: ReportedCase) => id)] as const;
        }),
      );
      expect(Object.fromEntries(reports)).toEqual(SKIPPED_IN_DEMO);
    });

    it('stops on Ctrl-C with connections open', async () => {
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
  });

  it('accepts settings of the service, which take precedence', async () => {
    const env = { ...freePorts(home.path), AREAS: 'raadsfeed', RAADSFEED_ROL: 'bronhouder' };
    const { status, stdout } = await startProgram(['demo', '--once'], env).ended;
    expect(status).toBe(0);
    expect(stdout).toContain('feed: the stream');
    // By default the demo is an aggregator, which reads suppliers.
    expect(stdout).not.toMatch(/shv:|suppliers:/);
  });
});

describe('a demo that cannot start', () => {
  it.each(['PORT', 'MANAGEMENT_PORT'])(
    'names %s when that port is taken, and leaves nothing running',
    async (variable) => {
      const taken = createServer().listen(0, '127.0.0.1');
      await once(taken, 'listening');
      const address = taken.address();
      const port = typeof address === 'object' && address !== null ? String(address.port) : '';
      const env = { ...freePorts(home.path), AREAS: 'raadsfeed', [variable]: port };
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

  it('names an invalid setting', async () => {
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
