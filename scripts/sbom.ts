/**
 * Prints the software bill of materials of the shipped packages (CycloneDX 1.5, JSON), from the lock file alone: `npm
 * run --silent sbom`. npm generates it, but names the project after its directory and adds a time and a random number,
 * which are replaced here to make it reproducible.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '../src/lib/json/json-value.ts';
import { readLock, shippedFolder } from './locked-packages.ts';
import { run } from './run.ts';

const ROOT = join(import.meta.dirname, '..');

/**
 * @param time of the commit, ISO 8601; without it the inventory has no time
 * @throws {Error} when npm fails
 */
export function createSbom(time?: string): Record<string, unknown> {
  const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  const own: unknown = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const words = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
  using folder = shippedFolder(readLock(lock));
  const sbom: unknown = JSON.parse(run('npm', words, folder.path));
  if (!isRecord(sbom) || !isRecord(sbom.metadata) || !isRecord(sbom.metadata.component) || !isRecord(own)) {
    throw new TypeError('npm made another kind of document');
  }
  const { timestamp: _, ...metadata } = sbom.metadata;
  const when = time === undefined ? {} : { timestamp: time };
  const component = { ...sbom.metadata.component, name: own.name };
  return { ...sbom, serialNumber: `urn:uuid:${uuidOf(lock)}`, metadata: { ...when, ...metadata, component } };
}

/** The same lock file gives the same serial number (UUID version 8). */
export function uuidOf(text: string): string {
  return hash('sha256', text).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-8$3-8$4-$5');
}

if (import.meta.main) console.log(JSON.stringify(createSbom(), null, 2));
