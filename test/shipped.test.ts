/** What is said of the packages that are shipped, held against the lock file. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { licencesTable, licenceTexts, readShipped } from '../scripts/licences.ts';
import { createSbom } from '../scripts/sbom.ts';
import { isRecord } from '../src/lib/json/json-value.ts';

const ROOT = join(import.meta.dirname, '..');
/** Licences that a product under the EUPL 1.2 may contain, and that ask for no more than that their text goes along. */
const ASSESSED = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0', '0BSD', 'EUPL-1.2'];

const shipped = readShipped();
const names = [...new Set(shipped.map(({ name, version }) => `${name}@${version}`))];

function components(sbom: Record<string, unknown>): Record<string, unknown>[] {
  return Array.isArray(sbom.components) ? sbom.components.filter(isRecord) : [];
}

describe('the bill of materials', { timeout: 60_000 }, () => {
  it('names every package that the lock file ships, with its version, and no other', () => {
    const listed = components(createSbom()).map(({ name, version }) => `${String(name)}@${String(version)}`);
    expect(listed.sort()).toEqual(names.sort());
  });

  it('is CycloneDX of this product, with a hash of every package that has one in the lock file', () => {
    const sbom = createSbom();
    expect(sbom).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: '1.5',
      metadata: { component: { type: 'application', name: 'koppelvlak' } },
    });
    const without = components(sbom).filter(({ hashes }) => !Array.isArray(hashes) || hashes.length === 0);
    expect(without.map(({ name }) => name)).toEqual([]);
  });

  it('is the same each time', () => {
    expect(createSbom()).toEqual(createSbom());
  });
});

describe('licences', () => {
  it('are in docs/licences.md as the lock file has them', () => {
    expect(readFileSync(join(ROOT, 'docs/licences.md'), 'utf8')).toContain(licencesTable());
  });

  it('are all of those that were assessed', () => {
    // An expression with OR leaves the choice to us.
    const isAssessed = (license: string): boolean =>
      license
        .replace(/[()]/g, '')
        .split(' OR ')
        .some((one) => ASSESSED.includes(one));
    expect(shipped.filter(({ license }) => !isAssessed(license)).map(({ name, license }) => [name, license])).toEqual(
      [],
    );
  });

  it('come with their texts', () => {
    const fastify = shipped.find(({ name }) => name === 'fastify');
    expect(fastify && licenceTexts(fastify).join('\n')).toMatch(/MIT License[\s\S]*Permission is hereby granted/);
  });
});
