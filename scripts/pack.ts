/**
 * Packs a part of the sources as a separate package: its entry and all that it imports, as JavaScript (Node runs no
 * TypeScript under `node_modules`). `npm run pack:client`, `pack:conformance`, `pack:jades`, each with the directory
 * for the tarball.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { isRecord } from '../src/lib/json/json-value.ts';
import { run, temporaryFolder } from './run.ts';

const ROOT = join(import.meta.dirname, '..');

interface Package {
  readonly description: string;
  /** The file that the package runs or exports. README.md is in the same directory. */
  readonly entry: string;
  /** Exported with types, or run under the package's name. */
  readonly kind: 'library' | 'program';
  /** Files that the sources read, as patterns. */
  readonly files?: readonly string[];
  /** Packages that an application installs itself if it uses the parts that need them. */
  readonly optionalPeers?: readonly string[];
}

export const PACKAGES: Readonly<Record<string, Package>> = {
  'koppelvlak-client': {
    description:
      'Log processing of personal data by the Dutch standard for logging: a client, and a plugin for Fastify',
    entry: 'src/client/verwerkingenlog.ts',
    kind: 'library',
    optionalPeers: ['fastify'],
  },
  'koppelvlak-jades': {
    description:
      'Sign and verify detached JAdES signatures over HTTP messages, with certificate path and revocation checks',
    entry: 'src/lib/jades/koppelvlak-jades.ts',
    kind: 'library',
  },
  'koppelvlak-conformance': {
    description:
      'Test an implementation of the Dutch interfaces for debt assistance data, processing logs and council information',
    entry: 'conformance/main.ts',
    kind: 'program',
    files: ['openapi/*.{yaml,json}', 'openapi/{validation,modellen}/*'],
  },
};
/** The server's own: no other package may need them. */
const SERVER = /^(fastify|@fastify\/.+|pg|pg-.+)$/;

/**
 * Writes the package to a directory.
 * @throws {Error} when it would need packages of the server
 */
export function buildPackage(name: string, directory: string): void {
  const one = PACKAGES[name];
  if (one === undefined)
    throw new TypeError(`there is no package ${name}: name one of ${Object.keys(PACKAGES).join(', ')}`);
  mkdirSync(directory, { recursive: true });
  compile(one, directory);
  for (const file of ['LICENSE', ...globSync([...(one.files ?? [])], { cwd: ROOT })])
    cpSync(join(ROOT, file), join(directory, file));
  cpSync(join(ROOT, dirname(one.entry), 'README.md'), join(directory, 'README.md'));
  if (one.kind === 'program') chmodSync(join(directory, javascriptOf(one.entry)), 0o755);
  else addCommonjsTypes(directory);
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(describe(name, one, directory), null, 2)}\n`);
}

const javascriptOf = (source: string): string => source.replace(/\.ts$/, '.js');

function compile({ entry, kind }: Package, directory: string): void {
  const project = join(directory, 'tsconfig.json');
  const emitted = { noEmit: false, noCheck: true, declaration: kind === 'library', rootDir: ROOT, outDir: directory };
  const compilerOptions = { ...emitted, typeRoots: [join(ROOT, 'node_modules/@types')] };
  const files = [join(ROOT, entry)];
  writeFileSync(project, JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions, include: [], files }));
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', project], { stdio: ['ignore', 2, 2] });
  rmSync(project);
}

/** Node loads ES modules with `require` too; TypeScript's `node16` requires CommonJS types for that. */
export function addCommonjsTypes(directory: string): void {
  const types = globSync('**/*.d.ts', { cwd: directory });
  for (const file of types) cpSync(join(directory, file), join(directory, 'commonjs', file));
  writeFileSync(join(directory, 'commonjs/package.json'), '{"type":"commonjs"}\n');
}

function describe(name: string, { description, entry, kind, optionalPeers = [] }: Package, directory: string): object {
  const own: unknown = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  if (!isRecord(own) || !isRecord(own.dependencies)) throw new TypeError('package.json has no dependencies');
  const { version, license, engines, dependencies: versions } = own;
  const needed = importedPackages(directory);
  const ofServer = needed.filter((one) => SERVER.test(one) && one !== 'fastify-plugin');
  if (ofServer.length > 0) throw new Error(`${name} would need ${ofServer.join(', ')}`);
  const main = `./${javascriptOf(entry)}`;
  const types = entry.replace(/\.ts$/, '.d.ts');
  const exported = { require: { types: `./commonjs/${types}`, default: main }, types: `./${types}`, default: main };
  return {
    name,
    version,
    description,
    license,
    engines,
    type: 'module',
    ...(kind === 'program' ? { bin: { [name]: main } } : { exports: { '.': exported } }),
    dependencies: Object.fromEntries(needed.map((one) => [one, versions[one]])),
    peerDependencies: Object.fromEntries(optionalPeers.map((one) => [one, `^${String(versions[one])}`])),
    peerDependenciesMeta: Object.fromEntries(optionalPeers.map((one) => [one, { optional: true }])),
  };
}

/** The packages that the compiled files import, sorted. */
function importedPackages(directory: string): string[] {
  const imported = /(?:^(?:import|export)\b[^'"`;]*?|\bimport\()['"]((?:@[^/'"]+\/)?[^./:'"][^/:'"]*)(?=[/'"])/gm;
  const names = globSync('**/*.js', { cwd: directory }).flatMap((file) =>
    [...readFileSync(join(directory, file), 'utf8').matchAll(imported)].map(([, name]) => String(name)),
  );
  return [...new Set(names)].filter((name) => !isBuiltin(name)).toSorted();
}

if (import.meta.main) {
  const [name = '', destination = '.'] = process.argv.slice(2);
  using folder = temporaryFolder();
  buildPackage(name, folder.path);
  mkdirSync(destination, { recursive: true });
  const words = ['pack', folder.path, '--silent', '--pack-destination', resolve(destination)];
  console.log(join(destination, run('npm', words, '.').trim()));
}
