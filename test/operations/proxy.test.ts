/** nginx starts with the documented configuration. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const NGINX = '/usr/sbin/nginx';
const ROOT = join(import.meta.dirname, '../..');

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'koppelvlak-nginx-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** Makes nginx check a configuration with these lines in its `http` block. */
async function check(lines: string): Promise<{ status: number | null; output: string }> {
  const file = join(dir, 'nginx.conf');
  await writeFile(
    file,
    `pid ${dir}/nginx.pid; error_log ${dir}/error.log; events {} http { access_log off; ${lines} }`,
  );
  const { status, stderr } = spawnSync(NGINX, ['-t', '-p', dir, '-e', join(dir, 'error.log'), '-c', file], {
    encoding: 'utf8',
  });
  return { status, output: stderr };
}

describe.runIf(existsSync(NGINX))('nginx', () => {
  it('accepts the recipe', async () => {
    const recipe = await readFile(join(ROOT, 'deploy/nginx/koppelvlak.conf'), 'utf8');
    const { status, output } = await check(recipe);
    expect(status, output).toBe(0);
  });

  it('accepts the lines in the manuals', async () => {
    const manual = await readFile(join(ROOT, 'docs/gegevens.md'), 'utf8');
    const [, lines = ''] = /nginx:\s+`(large[^`]+)`/.exec(manual) ?? [];
    expect(lines).toContain('large_client_header_buffers');
    const { status, output } = await check(lines);
    expect(status, output).toBe(0);
  });
});
