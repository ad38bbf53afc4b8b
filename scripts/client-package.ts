/**
 * Makes the package that other applications install for `koppelvlak/verwerkingenlog`: JavaScript and types, for Node runs no TypeScript
 * under `node_modules`. `npm run client-package -- DIR`, then `npm pack DIR`.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isRecord } from '../src/lib/json/json-value.ts';

const ROOT = join(import.meta.dirname, '..');
/** What the client and the plugin import; an application has its own Fastify. */
const DEPENDENCIES = ['fastify-plugin', 'undici'];

const [target] = process.argv.slice(2);
if (target === undefined) {
  console.error('client-package: name the directory to make');
  process.exitCode = 2;
} else {
  process.exitCode = build(resolve(target));
}

function build(directory: string): number {
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  const options = ['-p', join(ROOT, 'tsconfig.client.json'), '--outDir', directory];
  if (spawnSync(tsc, options, { stdio: ['ignore', 'inherit', 'inherit'] }).status !== 0) return 1;
  const commonjs = join(directory, 'commonjs');
  for (const types of globSync('**/*.d.ts', { cwd: directory, exclude: ['commonjs/**'] }))
    cpSync(join(directory, types), join(commonjs, types));
  // Node loads these ES modules with `require` too; TypeScript's `node16` wants types of a CommonJS module for that.
  writeFileSync(join(commonjs, 'package.json'), '{"type":"commonjs"}\n');
  copyFileSync(join(ROOT, 'LICENSE'), join(directory, 'LICENSE'));
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(description(), null, 2)}\n`);
  console.log(directory);
  return 0;
}

function description(): object {
  const own: unknown = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  if (!isRecord(own) || !isRecord(own.dependencies)) throw new TypeError('package.json has no dependencies');
  const { name, version, license, engines, dependencies } = own;
  return {
    name,
    version,
    license,
    engines,
    type: 'module',
    exports: {
      './verwerkingenlog': {
        require: { types: './commonjs/client/verwerkingenlog.d.ts', default: './client/verwerkingenlog.js' },
        types: './client/verwerkingenlog.d.ts',
        default: './client/verwerkingenlog.js',
      },
    },
    dependencies: Object.fromEntries(DEPENDENCIES.map((one) => [one, dependencies[one]])),
    peerDependencies: { fastify: `^${String(dependencies.fastify)}` },
  };
}
