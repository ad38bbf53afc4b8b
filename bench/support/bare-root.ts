/**
 * A Debian that has nothing but Node and npm, made by `debootstrap` in a folder: to install in, and as the base of the image that `buildah`
 * makes of the Dockerfile where no registry of images is. Both need root.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';

const RELEASE = 'bookworm';
export const ROOT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Runs a program to its end, and returns what it wrote. */
export type Run = (
  command: string,
  args: readonly string[],
  cwd: string,
  env?: Readonly<Record<string, string>>,
) => string;

/** Whether this machine can make what these programs make. */
export function canMake(...programs: readonly string[]): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter).concat('/usr/sbin');
  const isThere = (program: string): boolean => folders.some((folder) => existsSync(join(folder, program)));
  return process.getuid?.() === 0 && programs.every(isThere);
}

/** Makes the root: with the Node that runs this, the npm of this machine, and how the machine reaches its registry. */
export function makeBareRoot(root: string, run: Run): void {
  run('debootstrap', ['--variant=minbase', '--include=ca-certificates', RELEASE, root], dirname(root));
  cpSync(process.execPath, join(root, 'usr/local/bin/node'));
  const npm = join(root, 'usr/local/lib/node_modules/npm');
  cpSync(join(run('npm', ['root', '--global'], '/').trim(), 'npm'), npm, { recursive: true, dereference: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
  for (const path of ['/etc/resolv.conf', process.env.NODE_EXTRA_CA_CERTS])
    if (path !== undefined) cpSync(path, join(root, path), { dereference: true });
  run('chroot', [root, 'useradd', '--create-home', 'node'], '/', { PATH: ROOT_PATH });
}

/** The image that the Dockerfile of a context makes, and its files in a folder. */
export interface Image {
  readonly files: string;
  /** What a runtime of containers takes from it. */
  readonly config: {
    readonly User: string;
    readonly Env: readonly string[];
    readonly WorkingDir: string;
    readonly Entrypoint: readonly string[];
  };
}

/** Builds the Dockerfile with the root in place of its base image, in a storage of its own. */
export function buildImage(context: string, root: string, storage: string, run: Run): Image {
  mkdirSync(storage);
  const buildah = (...args: readonly string[]): string => {
    const own = ['--storage-driver=vfs', `--root=${join(storage, 'images')}`, `--runroot=${join(storage, 'run')}`];
    return run('buildah', [...own, ...args], context).trim();
  };
  const [, base = ''] = /^FROM (\S+)/m.exec(readFileSync(join(context, 'Dockerfile'), 'utf8')) ?? [];
  const bare = buildah('from', 'scratch');
  buildah('add', '--quiet', bare, root, '/');
  const certificates = process.env.NODE_EXTRA_CA_CERTS;
  if (certificates !== undefined) buildah('config', '--env', `NODE_EXTRA_CA_CERTS=${certificates}`, bare);
  buildah('commit', '--quiet', '--rm', bare, `docker.io/library/${base}`);
  // In the format of OCI there is no HEALTHCHECK.
  buildah('build', '--isolation=chroot', '--pull-never', '--format=docker', '--tag=koppelvlak', '.');
  const container = buildah('from', '--pull-never', 'koppelvlak');
  const { OCIv1 }: { OCIv1: Pick<Image, 'config'> } = JSON.parse(buildah('inspect', container));
  return {
    files: buildah('mount', container),
    config: OCIv1.config,
  };
}

/**
 * Runs the image as docker-compose.yml does: its files cannot be written, not even by root, but for `/tmp`; as its user, with its variables.
 * The arguments after the folder and the user are the program's.
 */
const READ_ONLY = `files=$1 user=$2 directory=$3; shift 3
mount --bind "$files" "$files" && mount -o remount,bind,ro "$files" && mount -t tmpfs tmpfs "$files/tmp" || exit 1
for at in /proc /dev; do mount --rbind $at "$files$at" || exit 1; done
if touch "$files/written" 2>/dev/null; then echo 'the files of the image can be written' >&2; exit 1; fi
exec chroot --userspec="$user:$user" "$files" env --chdir="$directory" "$@"`;

/** The command that runs the program of an image; arguments of the program follow. */
export function imageCommand({ files, config: { User, Env, WorkingDir, Entrypoint } }: Image): string[] {
  // It has no network of its own: only this machine may reach it.
  const inside = [files, User, WorkingDir, ...Env, 'HOST=127.0.0.1', ...Entrypoint];
  return ['unshare', '--mount', 'sh', '-c', READ_ONLY, 'sh', ...inside];
}
