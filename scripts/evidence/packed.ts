/** Packs a commit twice, in different environments, and compares the package with the commit. */
import {
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, relative } from 'node:path';
import { shrinkwrapOf } from '../locked-packages.ts';
import { inTemporary, run } from '../run.ts';
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

/**
 * Packs a commit twice, each in its own clone, which npm fills from the lock file.
 * @returns the package, of which both are identical copies
 * @throws {Error} naming the files that differ
 */
export function packTwice(root: string, commit: string): { readonly file: string; readonly content: Buffer } {
  return inTemporary((work) => {
    const make = ({ folder, umask, env }: (typeof CIRCUMSTANCES)[number]) => {
      const clone = join(work, folder);
      const to = join(work, `packed-${umask}`);
      mkdirSync(to);
      run('sh', ['-c', CLONE, 'sh', umask, root, clone, commit], work, env);
      run('sh', ['-c', PACK, 'sh', umask, clone, to], work, env);
      const file = only(globSync('*.tgz', { cwd: to }));
      return { file, path: join(to, file), content: readFileSync(join(to, file)) };
    };
    const [one, other] = [make(CIRCUMSTANCES[0]), make(CIRCUMSTANCES[1])];
    if (one.content.equals(other.content)) return one;
    const filesOf = (path: string, place: string) => contentsOf(unpack(path, join(work, place)));
    const names = differences(filesOf(one.path, 'one'), filesOf(other.path, 'other')).join(', ');
    throw new Error(`two packages of one commit differ: ${names || 'only in how they are compressed'}`);
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

/**
 * Compares an unpacked package with a commit of the checkout at `root`. If the packages of the commit's lock file are
 * installed there, it rebuilds the package without a network; otherwise it ignores compiled files and permissions.
 */
export function compareWithCommit(root: string, commit: string, unpacked: string) {
  return inTemporary((work) => {
    const sources = join(work, 'package');
    mkdirSync(sources);
    const archive = join(work, 'commit.tar');
    run('git', ['archive', '--format=tar', '--output', archive, commit], root);
    run('tar', ['--extract', '--file', archive, '--directory', sources], work);
    const packed = contentsOf(unpacked);
    const [here, there] = [root, sources].map((folder) => readFileSync(join(folder, 'package-lock.json'), 'utf8'));
    const built = existsSync(join(root, 'node_modules/.bin/tsc')) && here === there;
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

function only(names: readonly string[]): string {
  const [name] = names;
  if (name === undefined || names.length > 1) throw new Error(`npm pack produced ${names.length} files`);
  return name;
}
