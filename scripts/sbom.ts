/**
 * Prints the software bill of materials of what is shipped (CycloneDX 1.5, JSON), from the lock file alone: `npm run --silent sbom`.
 * npm makes it. It names the project after its directory and adds a time and a random number, so that no two are alike: those are set here.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '../src/lib/json/json-value.ts';
import { inShippedFolder, readLock } from './locked-packages.ts';

const ROOT = join(import.meta.dirname, '..');

/** @param time of the commit, ISO 8601; without it the inventory names no time @throws {Error} when npm makes none */
export function createSbom(time?: string): Record<string, unknown> {
  const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  const own: unknown = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const sbom = runNpm(lock);
  if (!isRecord(sbom.metadata) || !isRecord(sbom.metadata.component) || !isRecord(own)) {
    throw new TypeError('npm made another kind of document');
  }
  const { timestamp: _, ...metadata } = sbom.metadata;
  const when = time === undefined ? {} : { timestamp: time };
  const component = { ...sbom.metadata.component, name: own.name };
  return { ...sbom, serialNumber: `urn:uuid:${uuidOf(lock)}`, metadata: { ...when, ...metadata, component } };
}

function runNpm(lock: string): Record<string, unknown> {
  return inShippedFolder(readLock(lock), (directory) => {
    const words = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
    const made = spawnSync('npm', words, { cwd: directory, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
    if (made.status !== 0) throw new Error(`npm sbom ended with ${made.status}: ${made.stderr}`);
    const sbom: unknown = JSON.parse(made.stdout);
    if (!isRecord(sbom)) throw new TypeError('npm made another kind of document');
    return sbom;
  });
}

/** The same lock file gives the same number (UUID version 8). */
export function uuidOf(text: string): string {
  const hash = createHash('sha256').update(text).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

if (import.meta.main) console.log(JSON.stringify(createSbom(), null, 2));
