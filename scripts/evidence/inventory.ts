/** The bill of materials, against the schema of CycloneDX and a lock file, and the licences with their texts. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { addStandardFormats } from '../../src/lib/json/formats.ts';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { isAssessed, licenceTexts } from '../licences.ts';
import { type Lock, shippedPackages } from '../locked-packages.ts';
import { createSbom } from '../sbom.ts';
import { readJson } from './files.ts';
import { lacking, type Report, records } from './report.ts';

const SCHEMAS = join(import.meta.dirname, '../../node_modules/@cyclonedx/cyclonedx-library/res/schema');

export const sbom: Report = {
  file: 'sbom.cdx.json',
  make: ({ release }) => createSbom(release.committed),
  faults: ({ folder, lock }) =>
    faultsOfSbom(readJson(folder, 'sbom.cdx.json'), lock).map((fault) => `sbom.cdx.json ${fault}`),
};

export const licences: Report = {
  file: 'licences.json',
  make: ({ lock }) => {
    const texts: Record<string, string> = {};
    const packages = shippedPackages(lock).map((shipped) => {
      const own = Object.fromEntries(licenceTexts(shipped).map((text) => [hash('sha256', text), text]));
      Object.assign(texts, own);
      const { name, version, license, optional } = shipped;
      return { name, version, license, optional, texts: Object.keys(own) };
    });
    return { packages, texts };
  },
  faults: ({ folder, lock, note }) => {
    const value = readJson(folder, 'licences.json');
    if (!isRecord(value) || !isRecord(value.texts)) return ['licences.json has no packages'];
    const { texts } = value;
    const packages = records(value.packages);
    const label = (one: { name?: unknown; version?: unknown; license?: unknown }): string =>
      `${String(one.name)}@${String(one.version)} under ${String(one.license)}`;
    const textsOf = (one: { texts?: unknown }): string[] => (Array.isArray(one.texts) ? one.texts.map(String) : []);
    const known = packages.map(label);
    const locked = shippedPackages(lock).map(label);
    const unassessed = packages.filter(({ license }) => !isAssessed(String(license)));
    // Packages without a licence file, or not installed where the evidence was made.
    const bare = packages.filter((one) => textsOf(one).length === 0).map(({ name }) => String(name));
    if (bare.length > 0) note(`licences.json: no text of ${bare.join(', ')}`);
    return [
      ...lacking(locked, known).map((one) => `lacks ${one}`),
      ...lacking(known, locked).map((one) => `has ${one}, which the package does not`),
      ...unassessed.map((one) => `has ${label(one)}, which was not assessed`),
      ...lacking(packages.flatMap(textsOf), Object.keys(texts)).map((digest) => `lacks the text ${digest}`),
      ...Object.entries(texts)
        .filter(([digest, text]) => hash('sha256', String(text)) !== digest)
        .map(([digest]) => `has another text than ${digest}`),
    ].map((fault) => `licences.json ${fault}`);
  },
};

/** Violations of the CycloneDX 1.5 schema, and differences from the shipped packages of the lock file. */
export function faultsOfSbom(sbom: unknown, lock: Lock): string[] {
  // Name and version, Package URL, and SHA-512 in hexadecimal.
  const known = records(isRecord(sbom) && sbom.components).map(({ name, version, purl, hashes }) => {
    const hash = records(hashes).find(({ alg }) => alg === 'SHA-512');
    return `${String(name)}@${String(version)} ${String(purl)} ${String(hash?.content)}`;
  });
  const locked = shippedPackages(lock).map(({ name, version, purl, integrity }) => {
    const digest = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
    return `${name}@${version} ${purl} ${digest}`;
  });
  const label = (one: string): string => one.split(' ', 1)[0] ?? one;
  return [
    ...faultsOfSchema(sbom),
    ...lacking(locked, known).map((one) => `lacks ${label(one)}, which is in the lock file`),
    ...lacking(known, locked).map((one) => `has ${label(one)}, which differs from the lock file`),
  ];
}

function faultsOfSchema(sbom: unknown): string[] {
  const read = (name: string): object =>
    JSON.parse(readFileSync(join(SCHEMAS, `${name}.SNAPSHOT.schema.json`), 'utf8'));
  // npm uses neither of the two additional formats.
  const ajv = new Ajv({ allErrors: true, strict: false, formats: { 'iri-reference': true, 'idn-email': true } });
  addStandardFormats(ajv);
  for (const name of ['spdx', 'jsf-0.82']) {
    ajv.addSchema(read(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  }
  const validate = ajv.compile(read('bom-1.5'));
  validate(sbom);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
