/** Runs a drill of `bench` as `npm run drill` does. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';

const BENCH = join(import.meta.dirname, '../../../bench');

/** Environment of the drills: what they make is gone with what the tests made, and nginx may be outside the path of users. */
export const drillEnvironment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  TMPDIR: inject('databaseHomes'),
  PATH: `${process.env.PATH ?? ''}:/usr/sbin`,
});

/** @returns what it printed */
export async function drill(name: string, ...words: string[]): Promise<string> {
  const child = spawn(process.execPath, [join(BENCH, `drill-${name}.ts`), ...words], {
    env: drillEnvironment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return printed;
}
