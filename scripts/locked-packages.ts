/** Reads the lock file for other scripts: which packages are shipped, and where they are. */
import { type DisposableTempDir, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '../src/lib/json/json-value.ts';
import { temporaryFolder } from './run.ts';

type Entry = Readonly<Record<string, unknown>>;

export interface Lock {
  readonly packages: Readonly<Record<string, Entry>>;
}

export interface LockedPackage {
  /** From the root of the repository: `node_modules/fastify`. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  /** SPDX expression. */
  readonly license: string;
  /** Installed on some platforms only. */
  readonly optional: boolean;
  /** Package URL. */
  readonly purl: string;
  /** `sha512-` and the digest in base64. */
  readonly integrity: string;
}

/** @throws {TypeError} when the text is not a lock file of version 3 */
export function readLock(text: string): Lock {
  const lock: unknown = JSON.parse(text);
  if (isLock(lock)) return lock;
  throw new TypeError('no lock file');
}

function isLock(value: unknown): value is Lock {
  if (!isRecord(value) || value.lockfileVersion !== 3 || !isRecord(value.packages)) return false;
  return Object.values(value.packages).every(isRecord);
}

/** The packages of an installation without development dependencies, by name and version. */
export function shippedPackages(lock: Lock): LockedPackage[] {
  return Object.entries(lock.packages)
    .filter(([path, entry]) => path !== '' && entry.dev !== true)
    .map(([path, { version, license = 'unknown', optional, integrity = '' }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return {
        path,
        name,
        version: String(version),
        license: String(license),
        optional: optional === true,
        purl: `pkg:npm/${name.replace('@', '%40')}@${String(version)}`,
        integrity: String(integrity),
      };
    })
    .sort((a, b) => (`${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1));
}

/** The lock file without development packages. */
function withoutDevelopment(lock: Lock): Lock {
  const shipped = Object.entries(lock.packages).filter(([, { dev }]) => dev !== true);
  return {
    ...lock,
    packages: Object.fromEntries(shipped.map(([path, { devDependencies: _, ...rest }]) => [path, rest])),
  };
}

/** The lock file from which npm installs a package: a checkout's, without development packages. */
export function shrinkwrapOf(root: string): string {
  const lock = readLock(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return `${JSON.stringify(withoutDevelopment(lock), null, 2)}\n`;
}

/**
 * A temporary folder with the package.json and lock file of the shipped packages. npm is asked about that folder,
 * because `--omit=dev` also omits packages that development and the product share (`ajv`, `pg-protocol`).
 */
export function shippedFolder(lock: Lock): DisposableTempDir {
  const folder = temporaryFolder();
  const shipped = withoutDevelopment(lock);
  writeFileSync(join(folder.path, 'package.json'), JSON.stringify(shipped.packages['']));
  writeFileSync(join(folder.path, 'package-lock.json'), JSON.stringify(shipped));
  return folder;
}
