/**
 * Prints the software bill of materials of what is shipped (CycloneDX 1.5, JSON), from the lock file alone: `npm run --silent sbom`.
 * npm makes it. It names the project after its directory and adds a time and a random number, so that no two are alike: those are set here.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '../src/kernel/json-value.ts';

const ROOT = join(import.meta.dirname, '..');

/** @throws {Error} when npm makes none */
export function createSbom(): Record<string, unknown> {
  const made = spawnSync(
    'npm',
    ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--omit=dev', '--package-lock-only'],
    { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  if (made.status !== 0) throw new Error(`npm sbom ended with ${made.status}: ${made.stderr}`);
  const sbom: unknown = JSON.parse(made.stdout);
  const own: unknown = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  if (!isRecord(sbom) || !isRecord(sbom.metadata) || !isRecord(sbom.metadata.component) || !isRecord(own)) {
    throw new TypeError('npm made another kind of document');
  }
  const { timestamp: _, ...metadata } = sbom.metadata;
  const component = { ...sbom.metadata.component, name: own.name };
  const document = { ...sbom, metadata: { ...metadata, component } };
  return { ...document, serialNumber: `urn:uuid:${uuidOf(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))}` };
}

/** The same lock file gives the same number (UUID version 8). */
function uuidOf(text: string): string {
  const hash = createHash('sha256').update(text).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

if (import.meta.main) console.log(JSON.stringify(createSbom(), null, 2));
