/**
 * What `npm pack` needs and a checkout has not: JavaScript in `dist`, because Node runs no TypeScript under `node_modules`, and
 * `npm-shrinkwrap.json`, so that an installed package has the dependencies that the lock file names. Runs as `prepack`; with `--remove`, as
 * `postpack`, it takes both away.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLock, withoutDevelopment } from './locked-packages.ts';

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
  // Read as a file when the program runs.
  for (const file of globSync('**/*.{proto,css}', { cwd: join(ROOT, 'src') })) {
    copyFileSync(join(ROOT, 'src', file), join(DIST, file));
  }
  chmodSync(join(DIST, 'cli/main.js'), 0o755);
  const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  writeFileSync(SHRINKWRAP, `${JSON.stringify(withoutDevelopment(readLock(lock)), null, 2)}\n`);
  return 0;
}
