/**
 * Prepares a checkout for `npm pack`: JavaScript in `dist`, because Node runs no TypeScript under `node_modules`, and
 * `npm-shrinkwrap.json`, so that an installed package has the locked dependencies. Runs as `prepack`; with `--remove`,
 * as `postpack`, it deletes both.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shrinkwrapOf } from './locked-packages.ts';
import { addCommonjsTypes } from './pack.ts';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
const SHRINKWRAP = join(ROOT, 'npm-shrinkwrap.json');

rmSync(DIST, { recursive: true, force: true });
rmSync(SHRINKWRAP, { force: true });
if (!process.argv.includes('--remove')) build();

function build(): void {
  for (const project of ['tsconfig.package.json', 'tsconfig.commonjs.json'])
    execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', join(ROOT, project)], { stdio: ['ignore', 2, 2] });
  // Only the entries of `exports` have types: nothing else can be imported.
  addCommonjsTypes(DIST);
  // Read as files at run time.
  for (const file of globSync('**/*.{proto,html,css,js}', { cwd: join(ROOT, 'src') })) {
    copyFileSync(join(ROOT, 'src', file), join(DIST, file));
  }
  chmodSync(join(DIST, 'main.js'), 0o755);
  writeFileSync(SHRINKWRAP, shrinkwrapOf(ROOT));
  levelModes();
}

/**
 * npm normalises the times in the package but keeps file permissions: under another umask the same sources would make
 * another package.
 */
function levelModes(): void {
  const { files }: { files: string[] } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const packed = [...files.filter((path) => !path.startsWith('!')), 'package.json', 'README.md', 'LICENSE'];
  for (const path of packed.flatMap((one) => globSync([one, `${one}/**`], { cwd: ROOT }))) {
    const stats = statSync(join(ROOT, path));
    if (stats.isFile()) chmodSync(join(ROOT, path), (stats.mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}
