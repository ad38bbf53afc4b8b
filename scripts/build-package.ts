/**
 * What `npm pack` needs and a checkout has not: JavaScript in `dist`, because Node runs no TypeScript under `node_modules`, and
 * `npm-shrinkwrap.json`, so that an installed package has the dependencies that the lock file names. Runs as `prepack`; with `--remove`, as
 * `postpack`, it takes both away.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '../src/kernel/json-value.ts';
import { readLock } from './locked-packages.ts';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
const SHRINKWRAP = join(ROOT, 'npm-shrinkwrap.json');

rmSync(DIST, { recursive: true, force: true });
rmSync(SHRINKWRAP, { force: true });
if (!process.argv.includes('--remove')) process.exitCode = build();

function build(): number {
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  const { status } = spawnSync(tsc, ['-p', join(ROOT, 'tsconfig.package.json')], { stdio: ['ignore', 2, 2] });
  if (status !== 0) return 1;
  chmodSync(join(DIST, 'cli/main.js'), 0o755);
  writeFileSync(SHRINKWRAP, `${JSON.stringify(withoutDevelopment(), null, 2)}\n`);
  return 0;
}

/** The lock file without what only development needs. */
function withoutDevelopment(): object {
  const lock = readLock(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const packages = Object.entries(lock.packages).flatMap(([path, entry]): [string, object][] => {
    if (entry.dev === true) return [];
    if (path !== '') return [[path, entry]];
    const { devDependencies: _, ...root } = entry;
    return isRecord(root) ? [[path, root]] : [];
  });
  return { ...lock, packages: Object.fromEntries(packages) };
}
