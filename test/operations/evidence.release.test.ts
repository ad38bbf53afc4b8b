/** The evidence of a release: made by its command from a test repository, checked, and tampered with. */
import { generateKeyPairSync } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ended, run, startRegistry, succeed } from './evidence-programs.ts';
import { editJson, PACKAGE, repack, TAMPERED, VERSION, writeDigestsAgain } from './evidence-tampering.ts';

const ROOT = join(import.meta.dirname, '../..');
const LIMIT = 900_000;
const STATEMENT = {
  advisory: 'GHSA-aaaa-bbbb-cccc',
  package: 'yauzl',
  status: 'not_affected',
  justification: 'vulnerable_code_not_in_execute_path',
  notes: 'Workbooks are read with another function.',
  time: '2026-11-24T12:00:00Z',
};

let work: string;
/** A checkout of one commit, whose docs/compliance/vex.json contains the statement above. */
let repository: string;
let evidence: string;

/** The command, as `npm run evidence` starts it. */
async function call(...args: readonly string[]): Promise<{ status: number | null; output: string }> {
  const { status, stdout, stderr } = await run('node', ['scripts/evidence.ts', ...args], repository);
  return { status, output: stdout + stderr };
}

function writeReport(name: string, failing?: string, missing?: string): string {
  const files = globSync('{test,conformance/test}/**/*.test.ts', { cwd: repository }).filter(
    (file) => file !== missing,
  );
  const testResults = files.map((file) => ({
    name: join('/elsewhere', file),
    status: file === failing ? 'failed' : 'passed',
    assertionResults: [{ fullName: 'works', status: file === failing ? 'failed' : 'passed' }],
  }));
  const path = join(work, name);
  writeFileSync(path, JSON.stringify({ success: failing === undefined, startTime: Date.now() + 1000, testResults }));
  return path;
}

function writeAudit(name: string, ...advisories: readonly string[]): string {
  const via = advisories.map((id) => ({
    source: 1,
    title: 'A title',
    severity: 'high',
    url: `https://github.com/advisories/${id}`,
  }));
  const yauzl = { name: 'yauzl', via, nodes: ['node_modules/yauzl'] };
  const path = join(work, name);
  writeFileSync(
    path,
    JSON.stringify({ auditReportVersion: 2, vulnerabilities: advisories.length === 0 ? {} : { yauzl } }),
  );
  return path;
}

/** A copy of the evidence, to be tampered with. */
function copyEvidence(): string {
  const copy = mkdtempSync(join(work, 'copy-'));
  cpSync(evidence, copy, { recursive: true });
  return copy;
}

beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), 'koppelvlak-evidence-test-'));
  repository = join(work, 'repository');
  mkdirSync(repository);
  const copy = `git ls-files -z --cached --others --exclude-standard |
    tar --create --null --files-from - --ignore-failed-read 2>/dev/null | tar --extract --directory "$1"`;
  await succeed('sh', ['-c', copy, 'sh', repository], ROOT);
  symlinkSync(join(ROOT, 'node_modules'), join(repository, 'node_modules'));
  writeFileSync(join(repository, 'docs/compliance/vex.json'), JSON.stringify({ statements: [STATEMENT] }));
  await succeed('git', ['init', '--quiet'], repository);
  await succeed('git', ['add', '--all'], repository);
  await succeed(
    'git',
    ['-c', 'maintenance.auto=false', 'commit', '--quiet', '--no-gpg-sign', '--message', 'Start'],
    repository,
  );
  const keys = generateKeyPairSync('ed25519');
  writeFileSync(join(work, 'private.pem'), keys.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(join(work, 'public.pem'), keys.publicKey.export({ type: 'spki', format: 'pem' }));
  const other = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' });
  writeFileSync(join(work, 'other.pem'), other);
  evidence = join(work, 'evidence');
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

describe('evidence is not made', { timeout: LIMIT }, () => {
  const refused = async (...args: readonly string[]): Promise<string> => {
    const { status, output } = await call(evidence, ...args);
    expect({ status, output }).toMatchObject({ status: 1 });
    expect(existsSync(evidence)).toBe(false);
    return output;
  };

  it('of a working tree with changes', async () => {
    writeFileSync(join(repository, 'new.txt'), '');
    expect(await refused('--offline')).toContain('the working tree has changes: commit them first');
    rmSync(join(repository, 'new.txt'));
  });

  it('with a known vulnerability without a statement', async () => {
    const audit = writeAudit('two.json', STATEMENT.advisory, 'GHSA-1111-2222-3333');
    const output = await refused('--audit', audit, '--tests', writeReport('tests.json'));
    expect(output).toContain('GHSA-1111-2222-3333 about yauzl has no statement in docs/compliance/vex.json');
  });

  it('with one that the registry reports, or with an unavailable registry', async () => {
    const registry = await startRegistry();
    const ask = (path: string): Promise<Ended> =>
      run('node', ['scripts/evidence.ts', evidence, '--tests', writeReport('tests.json')], repository, {
        npm_config_registry: `${registry.url}${path}`,
      });
    const [knows, other] = [await ask('/knows'), await ask('/other')];
    registry.close();
    expect(knows).toMatchObject({ status: 1 });
    expect(knows.stderr).toContain('GHSA-1111-2222-3333 about yauzl has no statement');
    expect(other).toMatchObject({ status: 1 });
    expect(other.stderr).toMatch(/the registry could not be asked for known vulnerabilities at 20\S+Z: 405 /);
    expect(other.stderr).toContain('or leave them unknown with --offline');
    expect(existsSync(evidence)).toBe(false);
  });

  it('with a statement about an unknown vulnerability', async () => {
    const output = await refused('--audit', writeAudit('none.json'), '--tests', writeReport('tests.json'));
    expect(output).toContain('has a statement about GHSA-aaaa-bbbb-cccc about yauzl, which affects no shipped package');
  });

  it('with an answer about packages other than those in the lock file', async () => {
    const audit = writeAudit('elsewhere.json', STATEMENT.advisory);
    writeFileSync(
      audit,
      readFileSync(audit, 'utf8').replace('node_modules/yauzl', 'node_modules/other/node_modules/yauzl'),
    );
    const output = await refused('--audit', audit, '--tests', writeReport('tests.json'));
    expect(output).toContain(
      'node_modules/other/node_modules/yauzl is not in the lock file: the answer is about another',
    );
  });

  it('of a commit that another one has replaced meanwhile', async () => {
    const later = join(work, 'later');
    await succeed('git', ['clone', '--quiet', repository, later], work);
    symlinkSync(join(ROOT, 'node_modules'), join(later, 'node_modules'));
    // Somebody commits while the contracts are linted.
    const programs = join(work, 'programs');
    mkdirSync(programs);
    const linter = join(ROOT, 'node_modules/.bin/spectral');
    const commit = 'git commit --quiet --no-gpg-sign --allow-empty --message Later';
    writeFileSync(join(programs, 'spectral'), `#!/bin/sh\n${commit}\nexec ${linter} "$@"\n`, { mode: 0o755 });
    const made = join(work, 'evidence-later');
    const args = ['scripts/evidence.ts', made, '--offline', '--tests', writeReport('tests.json')];
    const PATH = [programs, join(ROOT, 'node_modules/.bin'), process.env.PATH].join(':');
    const { status, stderr } = await run('node', args, later, { PATH });
    expect({ status, stderr }).toMatchObject({ status: 1 });
    expect(stderr).toContain('the checkout changed meanwhile');
    expect(existsSync(made)).toBe(false);
  });

  it('with a test that failed, or did not run', async () => {
    const failed = await refused('--offline', '--tests', writeReport('failed.json', 'test/release.test.ts'));
    expect(failed).toContain('tests.json: test/release.test.ts failed: works');
    const missing = await refused(
      '--offline',
      '--tests',
      writeReport('missing.json', undefined, 'test/plugins/headers.test.ts'),
    );
    expect(missing).toContain('tests.json: test/plugins/headers.test.ts was not run');
    expect(missing).toContain('asvs.json: 1.1.2 relies on test/plugins/headers.test.ts, which did not pass');
  });
});

describe('evidence', { timeout: LIMIT }, () => {
  beforeAll(async () => {
    const audit = writeAudit('one.json', STATEMENT.advisory);
    const made = await call(
      evidence,
      '--audit',
      audit,
      '--tests',
      writeReport('tests.json'),
      '--key',
      join(work, 'private.pem'),
    );
    expect(made).toMatchObject({ status: 0 });
    expect(made.output).toContain('this is evidence of a commit, not of a release');
  }, LIMIT);

  /** The check's own message about a modified folder. */
  const faultsOf = async (folder: string, ...args: readonly string[]): Promise<string> => {
    const { status, output } = await call('check', folder, ...args);
    expect({ status, output }).toMatchObject({ status: 1 });
    return output;
  };

  it('passes its own check, sha256sum and openssl', async () => {
    const { status, output } = await call('check', evidence, '--key', join(work, 'public.pem'));
    expect({ status, output }).toMatchObject({ status: 0 });
    expect(output).toContain(`${PACKAGE} was made again from the commit: every file is the same`);
    expect(output).toMatch(/tests\.json: \d+ passed, 0 skipped/);
    expect(output).toMatch(/licences\.json: no text of .*pg-types/);
    expect(output).toContain('The evidence holds.');
    const unsigned = await call('check', evidence);
    expect(unsigned).toMatchObject({ status: 0 });
    expect(unsigned.output).toContain(
      'The evidence agrees with itself. Anybody can have made it: no signature was checked.',
    );
    await succeed('sha256sum', ['--check', '--strict', 'SHA256SUMS'], evidence);
    const how = [
      '-verify',
      '-pubin',
      '-inkey',
      join(work, 'public.pem'),
      '-rawin',
      '-in',
      'SHA256SUMS',
      '-sigfile',
      'SHA256SUMS.sig',
    ];
    await succeed('openssl', ['pkeyutl', ...how], evidence);
  });

  it('states in OpenVEX what the repository states', async () => {
    const vex: unknown = JSON.parse(readFileSync(join(evidence, 'openvex.json'), 'utf8'));
    expect(vex).toMatchObject({
      '@context': 'https://openvex.dev/ns/v0.2.0',
      version: 1,
      statements: [
        {
          vulnerability: { name: STATEMENT.advisory },
          products: [
            {
              '@id': `pkg:npm/koppelvlak@${VERSION}`,
              subcomponents: [{ '@id': expect.stringMatching(/^pkg:npm\/yauzl@\d/) }],
            },
          ],
          status: 'not_affected',
          justification: STATEMENT.justification,
        },
      ],
    });
  });

  it('fails for each file with a modified byte, naming it', async () => {
    const names = readdirSync(evidence).filter((name) => !name.startsWith('SHA256SUMS'));
    expect(names).toHaveLength(9);
    for (const name of names) {
      const folder = copyEvidence();
      appendFileSync(join(folder, name), ' ');
      expect(await faultsOf(folder)).toContain(`${name} was changed: its digest differs`);
      rmSync(join(folder, name));
      expect(await faultsOf(folder)).toContain(`${name} is missing`);
    }
  });

  it('fails with an extra file, or a missing one even if the digests do not list it', async () => {
    const folder = copyEvidence();
    writeFileSync(join(folder, 'more.txt'), 'x');
    expect(await faultsOf(folder)).toContain('more.txt was added: SHA256SUMS does not name it');
    rmSync(join(folder, 'more.txt'));
    rmSync(join(folder, 'licences.json'));
    await writeDigestsAgain(folder);
    expect(await faultsOf(folder)).toContain('licences.json is missing');
  });

  it('fails with a link, a folder or a pipe among its files, even when the target is listed', async () => {
    const folder = copyEvidence();
    renameSync(join(folder, 'tests.json'), join(work, 'tests-elsewhere.json'));
    symlinkSync(join(work, 'tests-elsewhere.json'), join(folder, 'tests.json'));
    await writeDigestsAgain(folder);
    expect(await faultsOf(folder)).toContain('tests.json is not a plain file');
    const other = copyEvidence();
    mkdirSync(join(other, 'more'));
    await succeed('mkfifo', [join(other, 'pipe')], other);
    const output = await faultsOf(other);
    expect(output).toContain('more is not a plain file');
    expect(output).toContain('pipe is not a plain file');
    const list = copyEvidence();
    renameSync(join(list, 'SHA256SUMS'), join(work, 'sums-elsewhere'));
    symlinkSync(join(work, 'sums-elsewhere'), join(list, 'SHA256SUMS'));
    expect(await faultsOf(list)).toContain('SHA256SUMS is not a plain file');
  });

  it('fails when the digests were rewritten without the key', async () => {
    const folder = copyEvidence();
    await writeDigestsAgain(folder);
    appendFileSync(join(folder, 'SHA256SUMS'), `${'0'.repeat(64)}  x\n`);
    expect(await faultsOf(folder, '--key', join(work, 'public.pem'))).toContain(
      'SHA256SUMS.sig is not a signature of SHA256SUMS by this key',
    );
    expect(await faultsOf(evidence, '--key', join(work, 'other.pem'))).toContain(
      'SHA256SUMS.sig is not a signature of SHA256SUMS by this key',
    );
    rmSync(join(folder, 'SHA256SUMS.sig'));
    expect(await faultsOf(folder, '--key', join(work, 'public.pem'))).toContain(
      'SHA256SUMS.sig is missing: the evidence is not signed',
    );
  });

  it.each(TAMPERED)('fails with %s, even when the digests were rewritten', async (_what, name, edit, expected) => {
    const folder = copyEvidence();
    editJson(folder, name, edit);
    await writeDigestsAgain(folder);
    expect(await faultsOf(folder)).toMatch(expected);
  });

  it('fails with a package that contains another file than its commit, whatever the digests say', async () => {
    const folder = copyEvidence();
    await repack(folder, (unpacked) => {
      appendFileSync(join(unpacked, 'dist/main.js'), '\n// more\n');
      writeFileSync(join(unpacked, 'dist/added.js'), '');
    });
    const output = await faultsOf(folder);
    expect(output).toContain(`${PACKAGE}: package/dist/main.js is not that of the commit`);
    expect(output).toContain(`${PACKAGE}: package/dist/added.js is not that of the commit`);
  });

  it('fails with a package that contains a link or a pipe, without following it', async () => {
    const folder = copyEvidence();
    await repack(folder, async (unpacked) => {
      symlinkSync('/', join(unpacked, 'root'));
      rmSync(join(unpacked, 'npm-shrinkwrap.json'));
      await succeed('mkfifo', [join(unpacked, 'npm-shrinkwrap.json')], unpacked);
    });
    expect(await faultsOf(folder)).toMatch(
      /koppelvlak-\S+\.tgz has package\/(npm-shrinkwrap\.json|root), which is not a plain file/,
    );
  });

  it('fails with other dependencies, or a missing file, even where other packages are installed', async () => {
    const elsewhere = join(work, 'elsewhere');
    await succeed('git', ['clone', '--quiet', repository, elsewhere], work);
    symlinkSync(join(ROOT, 'node_modules'), join(elsewhere, 'node_modules'));
    appendFileSync(join(elsewhere, 'package-lock.json'), '\n');
    const checked = async (folder: string): Promise<string> => {
      const { stdout, stderr } = await run('node', ['scripts/evidence.ts', 'check', folder], elsewhere);
      return stdout + stderr;
    };
    expect(await checked(evidence)).toContain('`dist` was not made again, because other packages are installed here');
    const folder = copyEvidence();
    await repack(folder, (unpacked) => {
      rmSync(join(unpacked, 'SECURITY.md'));
      editJson(unpacked, 'npm-shrinkwrap.json', (lock) => ({ ...lock, more: true }));
    });
    const output = await checked(folder);
    expect(output).toContain(`${PACKAGE}: package/SECURITY.md is not that of the commit`);
    expect(output).toContain(`${PACKAGE}: package/npm-shrinkwrap.json is not that of the commit`);
  });

  it('says when no registry was asked about vulnerabilities', async () => {
    const folder = copyEvidence();
    const report = { time: '2027-01-31T12:00:00.000Z', asked: false, reason: 'made with --offline' };
    editJson(folder, 'advisories.json', () => report);
    await writeDigestsAgain(folder);
    const { status, output } = await call('check', folder);
    expect({ status, output }).toMatchObject({ status: 0 });
    expect(output).toContain(`the registry was not asked at ${report.time} (made with --offline)`);
  });

  it('is never overwritten', async () => {
    expect((await call(evidence, '--offline')).output).toContain(
      `${evidence} exists: remove it, or name another folder`,
    );
  });
});
