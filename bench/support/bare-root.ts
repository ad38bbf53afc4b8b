/**
 * A minimal Debian with only Node and npm, made by `debootstrap` in a folder: to install in, and as the base of the
 * image that `buildah` builds from the Dockerfile without an image registry. Both need root.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';

const RELEASE = 'bookworm';
export const ROOT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Runs a program to completion and returns its output. */
export type Run = (
  command: string,
  args: readonly string[],
  cwd: string,
  env?: Readonly<Record<string, string>>,
) => string;

/** True when this machine can run `debootstrap` and `buildah`. */
export function canMake(...programs: readonly string[]): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter).concat('/usr/sbin');
  const isThere = (program: string): boolean => folders.some((folder) => existsSync(join(folder, program)));
  return process.getuid?.() === 0 && programs.every(isThere);
}

/** Makes the root, with the running Node, this machine's npm and its access to the registry. */
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

/** An image built from a Dockerfile, and its files in a folder. */
export interface Image {
  readonly files: string;
  /** The settings that a container runtime takes from it. */
  readonly config: {
    readonly User: string;
    readonly Env: readonly string[];
    readonly WorkingDir: string;
    readonly Entrypoint: readonly string[];
  };
}

/** Builds the Dockerfile with the root as its base image, in its own storage. */
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
  // The OCI format has no HEALTHCHECK.
  buildah('build', '--isolation=chroot', '--pull-never', '--format=docker', '--tag=koppelvlak', '.');
  const container = buildah('from', '--pull-never', 'koppelvlak');
  const { OCIv1 }: { OCIv1: Pick<Image, 'config'> } = JSON.parse(buildah('inspect', container));
  return {
    files: buildah('mount', container),
    config: OCIv1.config,
  };
}

/**
 * Runs the image as docker-compose.yml does: as its user, with its variables, and with all files but `/tmp` read-only,
 * even for root. Script arguments after the folder, user and directory are the program's.
 */
const READ_ONLY = `files=$1 user=$2 directory=$3; shift 3
mount --bind "$files" "$files" && mount -o remount,bind,ro "$files" && mount -t tmpfs tmpfs "$files/tmp" || exit 1
for at in /proc /dev; do mount --rbind $at "$files$at" || exit 1; done
if touch "$files/written" 2>/dev/null; then echo 'the files of the image can be written' >&2; exit 1; fi
exec chroot --userspec="$user:$user" "$files" env --chdir="$directory" "$@"`;

/** The command that runs an image's program; program arguments follow. */
export function imageCommand({ files, config: { User, Env, WorkingDir, Entrypoint } }: Image): string[] {
  // It shares the host's network, so it must listen on loopback only.
  const inside = [files, User, WorkingDir, ...Env, 'HOST=127.0.0.1', ...Entrypoint];
  return ['unshare', '--mount', 'sh', '-c', READ_ONLY, 'sh', ...inside];
}
