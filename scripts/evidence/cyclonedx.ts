/** The bill of materials against the schema of CycloneDX and against a lock file. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import { addStandardFormats } from '../../src/lib/json/formats.ts';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { type Lock, shippedPackages } from '../locked-packages.ts';

const SCHEMAS = join(import.meta.dirname, '../../node_modules/@cyclonedx/cyclonedx-library/res/schema');

/** Name, version, digest and Package URL of a component. */
export interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  /** SHA-512, hexadecimal. */
  readonly digest: string | undefined;
}

export function componentsOf(sbom: unknown): Component[] {
  const components = isRecord(sbom) && Array.isArray(sbom.components) ? sbom.components.filter(isRecord) : [];
  return components.map(({ name, version, purl, hashes }) => {
    const hash = (Array.isArray(hashes) ? hashes : []).filter(isRecord).find(({ alg }) => alg === 'SHA-512');
    const digest = typeof hash?.content === 'string' ? hash.content : undefined;
    return { name: String(name), version: String(version), purl: String(purl), digest };
  });
}

/** Package URLs of the components by name: two versions of a package may be shipped. */
export function purlsOf(sbom: unknown): Map<string, string[]> {
  const byName = Map.groupBy(componentsOf(sbom), ({ name }) => name);
  return new Map([...byName].map(([name, components]) => [name, components.map(({ purl }) => purl)]));
}

/** What the schema of CycloneDX 1.5 says against it, and where it differs from what the lock file ships. */
export function faultsOfSbom(sbom: unknown, lock: Lock): string[] {
  const known = componentsOf(sbom).map(({ name, version, purl, digest }) => `${name}@${version} ${purl} ${digest}`);
  const locked = shippedPackages(lock).map(({ path, name, version }) => {
    const integrity = lock.packages[path]?.integrity;
    const digest = typeof integrity === 'string' ? integrity.replace('sha512-', '') : '';
    const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
    return `${name}@${version} ${purl} ${Buffer.from(digest, 'base64').toString('hex')}`;
  });
  const label = (one: string): string => one.split(' ', 1)[0] ?? one;
  return [
    ...faultsOfSchema(sbom),
    ...locked.filter((one) => !known.includes(one)).map((one) => `does not have ${label(one)} as the lock file has it`),
    ...known
      .filter((one) => !locked.includes(one))
      .map((one) => `has ${label(one)}, which the lock file does not have so`),
  ];
}

let validator: ValidateFunction | undefined;

function faultsOfSchema(sbom: unknown): string[] {
  validator ??= compileSchema();
  const validate = validator;
  validate(sbom);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

function compileSchema(): ValidateFunction {
  const read = (name: string): object =>
    JSON.parse(readFileSync(join(SCHEMAS, `${name}.SNAPSHOT.schema.json`), 'utf8'));
  // npm writes neither of the two further formats.
  const ajv = new Ajv({ allErrors: true, strict: false, formats: { 'iri-reference': true, 'idn-email': true } });
  addStandardFormats(ajv);
  for (const name of ['spdx', 'jsf-0.82']) {
    ajv.addSchema(read(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  }
  return ajv.compile(read('bom-1.5'));
}
