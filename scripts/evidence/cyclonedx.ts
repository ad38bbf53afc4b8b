/** Checks the bill of materials against the schema of CycloneDX and against a lock file. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import { addStandardFormats } from '../../src/lib/json/formats.ts';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { type Lock, shippedPackages } from '../locked-packages.ts';
import { lacking, records } from './report.ts';

const SCHEMAS = join(import.meta.dirname, '../../node_modules/@cyclonedx/cyclonedx-library/res/schema');

/** Violations of the CycloneDX 1.5 schema, and differences from the lock file's shipped packages. */
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
    ...lacking(locked, known).map((one) => `lacks ${label(one)} as in the lock file`),
    ...lacking(known, locked).map((one) => `has ${label(one)}, which differs from the lock file`),
  ];
}

let validator: ValidateFunction | undefined;

function faultsOfSchema(sbom: unknown): string[] {
  validator ??= compileSchema();
  validator(sbom);
  return (validator.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

function compileSchema(): ValidateFunction {
  const read = (name: string): object =>
    JSON.parse(readFileSync(join(SCHEMAS, `${name}.SNAPSHOT.schema.json`), 'utf8'));
  // npm uses neither of the two additional formats.
  const ajv = new Ajv({ allErrors: true, strict: false, formats: { 'iri-reference': true, 'idn-email': true } });
  addStandardFormats(ajv);
  for (const name of ['spdx', 'jsf-0.82']) {
    ajv.addSchema(read(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  }
  return ajv.compile(read('bom-1.5'));
}
