/** Programs that test the evidence, and a registry with one vulnerability. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import process from 'node:process';
import { expect } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
/** The test registry's knowledge. */
const KNOWN = {
  yauzl: [
    {
      id: 1,
      title: 'A title',
      severity: 'high',
      vulnerable_versions: '<99',
      cwe: [],
      cvss: { score: 7 },
      url: 'https://github.com/advisories/GHSA-1111-2222-3333',
    },
  ],
};

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function run(
  command: string,
  args: readonly string[],
  cwd: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const author = { GIT_AUTHOR_NAME: 'Test', GIT_AUTHOR_EMAIL: 'test@example.invalid' };
  const committer = { GIT_COMMITTER_NAME: 'Test', GIT_COMMITTER_EMAIL: 'test@example.invalid' };
  const npm = { npm_config_fetch_retries: '0' };
  const PATH = `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH ?? ''}`;
  const env = { ...process.env, ...author, ...committer, ...npm, PATH, ...more };
  return new Promise((resolve) => {
    const child = execFile(command, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 }, (_error, stdout, stderr) =>
      resolve({ status: child.exitCode, stdout, stderr }),
    );
  });
}

export async function succeed(command: string, args: readonly string[], cwd: string): Promise<string> {
  const { status, stdout, stderr } = await run(command, args, cwd);
  expect({ args, status, stderr }).toMatchObject({ status: 0 });
  return stdout;
}

/** Under `/knows` there is one vulnerability; under another path there is no endpoint. */
export async function startRegistry(): Promise<{ readonly url: string; readonly close: () => void }> {
  const registry = createServer((request, answer) => {
    const knows = request.url === '/knows/-/npm/v1/security/advisories/bulk';
    answer.statusCode = knows ? 200 : 405;
    request.resume().on('end', () => answer.end(JSON.stringify(knows ? KNOWN : {})));
  });
  registry.listen(0, '127.0.0.1');
  await once(registry, 'listening');
  const address = registry.address();
  if (address === null || typeof address === 'string') throw new Error('the registry has no port');
  return { url: `http://127.0.0.1:${address.port}`, close: () => registry.close() };
}
