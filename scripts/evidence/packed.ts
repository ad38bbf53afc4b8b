/** Packs a commit twice, in different environments, and compares the package with the commit. */
import {
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { shrinkwrapOf } from '../locked-packages.ts';
import { run } from '../run.ts';
import { digestOf } from './files.ts';

/** Differences between machines that must leave no trace: path, umask, time zone, language. */
const CIRCUMSTANCES = [
  { folder: 'first', umask: '022', env: { TZ: 'UTC', LC_ALL: 'C' } },
  { folder: 'second time/elsewhere', umask: '077', env: { TZ: 'Pacific/Kiritimati', LC_ALL: 'C.UTF-8' } },
] as const;
const PACK = 'umask "$1" && cd "$2" && npm pack --silent --pack-destination "$3"';
const PACK_AS_IT_IS = `${PACK} --ignore-scripts`;
const CLONE =
  'umask "$1" && git clone --quiet --no-checkout "$2" "$3" && cd "$3" && git checkout --quiet --detach "$4"';

/** Runs in a temporary folder. */
export function inTemporary<T>(use: (directory: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), 'koppelvlak-evidence-'));
  try {
    return use(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Packs a commit twice, each in its own clone, which npm fills from the lock file.
 * @returns the package, of which both are identical copies
 * @throws {Error} naming the files that differ
 */
export function packTwice(root: string, commit: string): { readonly file: string; readonly content: Buffer } {
  return inTemporary((work) => {
    const made = CIRCUMSTANCES.map(({ folder, umask, env }, i) => {
      const clone = join(work, folder);
      const to = join(work, `packed-${i}`);
      mkdirSync(to);
      run('sh', ['-c', CLONE, 'sh', umask, root, clone, commit], work, env);
      run('sh', ['-c', PACK, 'sh', umask, clone, to], work, env);
      return { file: only(globSync('*.tgz', { cwd: to })), to };
    });
    const contents = made.map(({ file, to }) => readFileSync(join(to, file)));
    const [first, second] = contents;
    if (first === undefined || second === undefined) throw new Error('npm pack produced nothing');
    if (!first.equals(second)) {
      const [one, other] = made.map(({ file, to }, i) =>
        contentsOf(unpack(join(to, file), join(work, `unpacked-${i}`))),
      );
      const names = one === undefined || other === undefined ? [] : differences(one, other);
      throw new Error(`two packages of one commit differ: ${names.join(', ') || 'only in how they are compressed'}`);
    }
    return { file: made[0]?.file ?? '', content: first };
  });
}

/**
 * Unpacks into a new folder; npm puts everything under `package/`.
 * @throws {Error} naming anything that is neither a file nor a folder
 */
export function unpack(file: string, directory: string): string {
  mkdirSync(directory);
  const how = ['--extract', '--gzip', '--preserve-permissions', '--no-same-owner'];
  run('tar', [...how, '--file', file, '--directory', directory], directory);
  const special = specialIn(directory);
  if (special === undefined) return directory;
  throw new Error(`${basename(file)} has ${relative(directory, special)}, which is not a plain file`);
}

/** A link would lead readers out of the folder, including a recursive `readdirSync`. */
function specialIn(directory: string): string | undefined {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    const found = entry.isDirectory() ? specialIn(path) : entry.isFile() ? undefined : path;
    if (found !== undefined) return found;
  }
  return undefined;
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

/** How a package compares with a commit: `built` is false when the compiled files could not be rebuilt here. */
export interface Comparison {
  readonly built: boolean;
  readonly differing: readonly string[];
}

/**
 * Compares an unpacked package with a commit of the checkout at `root`. If the packages of the commit's lock file are
 * installed there, it rebuilds the package without a network; otherwise it ignores compiled files and permissions.
 */
export function compareWithCommit(root: string, commit: string, unpacked: string): Comparison {
  return inTemporary((work) => {
    const sources = join(work, 'package');
    mkdirSync(sources);
    const archive = join(work, 'commit.tar');
    run('git', ['archive', '--format=tar', '--output', archive, commit], root);
    run('tar', ['--extract', '--file', archive, '--directory', sources], work);
    const packed = contentsOf(unpacked);
    const built = hasInstalled(root, sources);
    if (built) symlinkSync(join(root, 'node_modules'), join(sources, 'node_modules'));
    else writeFileSync(join(sources, 'npm-shrinkwrap.json'), shrinkwrapOf(sources));
    run('sh', ['-c', built ? PACK : PACK_AS_IT_IS, 'sh', '022', sources, work], work);
    const again = contentsOf(unpack(join(work, only(globSync('*.tgz', { cwd: work }))), join(work, 'again')));
    if (built) return { built, differing: differences(packed, again) };
    const digests = (of: ReadonlyMap<string, string>): Map<string, string> =>
      new Map([...of].flatMap(([path, value]) => (path.startsWith('package/dist/') ? [] : [[path, value.slice(-64)]])));
    return { built, differing: differences(digests(packed), digests(again)) };
  });
}

function hasInstalled(root: string, sources: string): boolean {
  const lock = (directory: string): string => readFileSync(join(directory, 'package-lock.json'), 'utf8');
  return existsSync(join(root, 'node_modules/.bin/tsc')) && lock(root) === lock(sources);
}

function only(names: readonly string[]): string {
  const [name] = names;
  if (name === undefined || names.length > 1) throw new Error(`npm pack produced ${names.length} files`);
  return name;
}
