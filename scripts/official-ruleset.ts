/**
 * Runs the official ruleset of the API Design Rules on every contract: `npm run openapi:official -- FILE`, where FILE
 * is the ruleset as published by its owner. It is not part of this repository; openapi/ruleset/official.json pins the
 * version, and any other is refused.
 */
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '../src/lib/json/json-value.ts';

const ROOT = join(import.meta.dirname, '..');
/** The path that .spectral.official.yaml expects. */
const PLACE = join(ROOT, 'node_modules/.cache/koppelvlak');

const [file] = process.argv.slice(2);
const pinned: unknown = JSON.parse(readFileSync(join(ROOT, 'openapi/ruleset/official.json'), 'utf8'));
if (!isRecord(pinned)) throw new TypeError('openapi/ruleset/official.json is not an object');
const { repository, commit, path, sha256 } = pinned;

if (file === undefined) {
  console.error(`openapi:official: name the ruleset: ${path} of ${repository} at ${commit}`);
  process.exitCode = 2;
} else {
  process.exitCode = check(readFileSync(file));
}

function check(ruleset: Buffer): number {
  if (hash('sha256', ruleset) !== sha256) {
    console.error(`openapi:official: that is not ${path} of ${repository} at ${commit}`);
    return 2;
  }
  mkdirSync(PLACE, { recursive: true });
  writeFileSync(join(PLACE, 'api-design-rules.yaml'), ruleset);
  const words = ['lint', '--fail-severity=warn', '-r', '.spectral.official.yaml', 'openapi/*.yaml'];
  return spawnSync('spectral', words, { cwd: ROOT, stdio: 'inherit' }).status ?? 1;
}
