/** Statements about the shipped packages, checked against the lock file. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { faultsOfSbom } from '../scripts/evidence/inventory.ts';
import { isAssessed, licencesTable, licenceTexts, readShipped } from '../scripts/licences.ts';
import { readLock } from '../scripts/locked-packages.ts';
import { createSbom } from '../scripts/sbom.ts';
import { isRecord } from '../src/lib/json/json-value.ts';

const ROOT = join(import.meta.dirname, '..');

/** Their packages have no licence file, only its name in package.json. */
const WITHOUT_TEXT = ['abstract-logging', 'pg-copy-streams', 'pg-types', 'pgpass'];

const lock = readLock(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
const shipped = readShipped();
const names = [...new Set(shipped.map(({ name, version }) => `${name}@${version}`))];

function components(sbom: Record<string, unknown>): Record<string, unknown>[] {
  return Array.isArray(sbom.components) ? sbom.components.filter(isRecord) : [];
}

describe('the bill of materials', () => {
  // Each takes a run of npm.
  const sbom = createSbom();
  const time = '2027-01-31T12:00:00Z';
  const dated = createSbom(time);

  it('lists every package that the lock file ships, with its version, and no other', () => {
    const listed = components(sbom).map(({ name, version }) => `${String(name)}@${String(version)}`);
    expect(listed.sort()).toEqual(names.sort());
  });

  it('is CycloneDX for this product, with a hash of every package that has one in the lock file', () => {
    expect(sbom).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: '1.5',
      metadata: { component: { type: 'application', name: 'koppelvlak' } },
    });
    const without = components(sbom).filter(({ hashes }) => !Array.isArray(hashes) || hashes.length === 0);
    expect(without.map(({ name }) => name)).toEqual([]);
    // By the schema of CycloneDX, and digest by digest.
    expect(dated).toMatchObject({ metadata: { timestamp: time } });
    expect(faultsOfSbom(dated, lock)).toEqual([]);
    expect(faultsOfSbom({ ...sbom, version: 'one' }, lock)).toEqual(['/version must be integer']);
  });

  it('is the same each time', () => {
    expect(createSbom()).toEqual(sbom);
  });
});

describe('licences', () => {
  it('match between docs/licences.md and the lock file', () => {
    expect(readFileSync(join(ROOT, 'docs/licences.md'), 'utf8')).toContain(licencesTable());
  });

  it('have all been assessed', () => {
    expect(shipped.filter(({ license }) => !isAssessed(license)).map(({ name, license }) => [name, license])).toEqual(
      [],
    );
  });

  it.each([
    ['MIT OR GPL-2.0', true],
    ['(MIT AND ISC)', true],
    ['MIT AND GPL-2.0', false],
    ['(MIT OR GPL-2.0) AND SSPL-1.0', false],
    ['MIT AND (ISC OR GPL-2.0)', false],
  ])('%s: assessed or not', (license, expected) => {
    expect(isAssessed(license)).toBe(expected);
  });

  it('come with their texts', () => {
    const fastify = shipped.find(({ name }) => name === 'fastify');
    expect(fastify && licenceTexts(fastify).join('\n')).toMatch(/MIT License[\s\S]*Permission is hereby granted/);
    // It has a folder of them.
    const tracing = shipped.find(({ name }) => name === '@opentelemetry/instrumentation');
    expect(tracing && licenceTexts(tracing).length).toBeGreaterThan(1);
    const without = shipped.filter((one) => licenceTexts(one).length === 0 && !one.optional).map(({ name }) => name);
    expect(without.sort()).toEqual(WITHOUT_TEXT);
  });
});
