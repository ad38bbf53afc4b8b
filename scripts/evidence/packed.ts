/** Packs a commit twice, in different environments, and compares the package with the commit. */
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { shrinkwrapOf } from '../locked-packages.ts';
import { run, temporaryFolder } from '../run.ts';
import { digestOf } from './files.ts';

/** Differences between machines that must leave no trace: path, umask, time zone, language. */
const MACHINE = { folder: 'first', umask: '022', env: { TZ: 'UTC', LC_ALL: 'C' } };
const OTHER: typeof MACHINE = {
  folder: 'second time/elsewhere',
  umask: '077',
  env: { TZ: 'Pacific/Kiritimati', LC_ALL: 'C.UTF-8' },
};

function runOn({ umask, env }: typeof MACHINE, cwd: string, ...command: readonly string[]): string {
  return run('sh', ['-c', 'umask "$0" && exec "$@"', umask, ...command], cwd, env);
}

/** @returns the folder of the clone */
function cloneCommit(root: string, commit: string, work: string, machine: typeof MACHINE): string {
  const clone = join(work, machine.folder);
  runOn(machine, root, 'git', 'clone', '--quiet', '--no-checkout', root, clone);
  runOn(machine, clone, 'git', 'checkout', '--quiet', '--detach', commit);
  return clone;
}

/** @returns the path of the package */
function pack(clone: string, work: string, machine: typeof MACHINE, ...flags: readonly string[]): string {
  const to = join(work, `packed-${machine.umask}`);
  mkdirSync(to);
  return join(to, runOn(machine, clone, 'npm', 'pack', '--silent', '--pack-destination', to, ...flags).trim());
}

/**
 * Packs a commit twice, each in its own clone, which npm fills from the lock file.
 * @returns the package, of which both are identical copies
 * @throws {Error} naming the files that differ
 */
export function packTwice(root: string, commit: string): { readonly file: string; readonly content: Buffer } {
  using folder = temporaryFolder();
  const work = folder.path;
  const packOn = (machine: typeof MACHINE): string => pack(cloneCommit(root, commit, work, machine), work, machine);
  const [one, other] = [packOn(MACHINE), packOn(OTHER)];
  const content = readFileSync(one);
  if (content.equals(readFileSync(other))) return { file: basename(one), content };
  const filesOf = (path: string, place: string) => contentsOf(unpack(path, join(work, place)));
  const names = differences(filesOf(one, 'one'), filesOf(other, 'other')).join(', ');
  throw new Error(`two packages of one commit differ: ${names || 'only in how they are compressed'}`);
}

/**
 * Unpacks into a new folder; npm puts everything under `package/`.
 * @throws {Error} naming anything that is neither a file nor a folder, such as a link that leads out of it
 */
export function unpack(file: string, directory: string): string {
  mkdirSync(directory);
  const how = ['--extract', '--gzip', '--preserve-permissions', '--no-same-owner'];
  run('tar', [...how, '--file', file, '--directory', directory], directory);
  const special = run('find', ['.', '!', '-type', 'f', '!', '-type', 'd'], directory);
  if (special === '') return directory;
  throw new Error(`${basename(file)} has ${special.slice(2).split('\n', 1)[0]}, which is not a plain file`);
}

/** Mode and digest of each file, by path. */
function contentsOf(directory: string): Map<string, string> {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).flatMap((path): [string, string][] => {
    const stats = lstatSync(join(directory, path));
    if (stats.isDirectory()) return [];
    return [[path, `${(stats.mode & 0o777).toString(8)} ${digestOf(join(directory, path))}`]];
  });
  return new Map(files);
}

function differences(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): string[] {
  const paths = new Set([...one.keys(), ...other.keys()]);
  return [...paths].filter((path) => one.get(path) !== other.get(path)).sort();
}

/**
 * Compares an unpacked package with a commit of the checkout at `root`. If the packages of the commit's lock file are
 * installed there, it rebuilds the package without a network; otherwise it ignores compiled files and permissions.
 */
export function compareWithCommit(root: string, commit: string, unpacked: string) {
  using folder = temporaryFolder();
  const work = folder.path;
  const clone = cloneCommit(root, commit, work, MACHINE);
  const [here, there] = [root, clone].map((folder) => readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  const built = existsSync(join(root, 'node_modules/.bin/tsc')) && here === there;
  if (built) symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  else writeFileSync(join(clone, 'npm-shrinkwrap.json'), shrinkwrapOf(clone));
  const packedAgain = pack(clone, work, MACHINE, ...(built ? [] : ['--ignore-scripts']));
  const [packed, again] = [contentsOf(unpacked), contentsOf(unpack(packedAgain, join(work, 'again')))];
  const digestIn = (contents: ReadonlyMap<string, string>, path: string) => contents.get(path)?.split(' ')[1];
  const isSame = (path: string): boolean =>
    !built && (path.startsWith('package/dist/') || digestIn(packed, path) === digestIn(again, path));
  return { built, differing: differences(packed, again).filter((path) => !isSame(path)) };
}
