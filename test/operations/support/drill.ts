/** Runs a drill of `bench` as `npm run drill` does. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';

const BENCH = join(import.meta.dirname, '../../../bench');

/** Environment of the drills: their files are deleted with those of the tests, and nginx may not be on users' path. */
export const drillEnvironment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  TMPDIR: inject('databaseHomes'),
  PATH: `${process.env.PATH ?? ''}:/usr/sbin`,
});

/** @returns its output */
export async function drill(name: string, ...words: string[]): Promise<string> {
  const child = spawn(process.execPath, [join(BENCH, `drill-${name}.ts`), ...words], {
    env: drillEnvironment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return printed;
}
