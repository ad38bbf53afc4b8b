import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import description from '../../package.json' with { type: 'json' };
import { createConformance } from '../program.ts';
import { callConformance, startConformance } from './program.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'conformance-program-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

it('prints its version, as a process', async () => {
  expect(await startConformance(['--version'], {}).ended).toEqual({
    status: 0,
    stdout: `${description.version}\n`,
    stderr: '',
  });
});

it.each(createConformance(process).commands.map((command) => command.name()))(
  'has help with an example for %s',
  async (name) => {
    const { status, stdout, stderr } = await callConformance([name, '--help'], {});
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain(`Usage: koppelvlak-conformance ${name}`);
    expect(stdout).toMatch(/\nExamples?:\n {2}\$ koppelvlak-conformance /);
  },
);

it('refuses a word that is not a suite, and mentions the help', async () => {
  const { status, stderr } = await callConformance(['raadsfed'], {});
  expect(status).toBe(2);
  expect(stderr).toMatch(/Did you mean raadsfeed\?[\s\S]*\(see --help for the arguments of this command\)/);
});

it.each([
  ['OUTBOUND_PROXY', 'user:geheim@proxy', 'is not the address of a proxy: http://… or https://…'],
  ['GEGEVENS_REVOCATION_ALLOW_PRIVATE', 'geheim', 'is neither true nor false'],
])('refuses an invalid %s without repeating it', async (variable, value, wrong) => {
  const { status, stderr } = await callConformance(['compare', 'a', 'b'], { [variable]: value });
  expect([status, stderr]).toEqual([2, `koppelvlak-conformance: ${variable} ${wrong}\n`]);
});

it('reads the proxy from a file, and names an unreadable one', async () => {
  const file = join(dir, 'proxy');
  await writeFile(file, 'no address\n');
  const stderrOf = async (path: string) =>
    (await callConformance(['compare', 'a', 'b'], { OUTBOUND_PROXY_FILE: path })).stderr;
  expect(await stderrOf(file)).toContain('OUTBOUND_PROXY is not the address of a proxy');
  expect(await stderrOf(join(dir, 'absent'))).toMatch(/^koppelvlak-conformance: .*absent cannot be read: /);
});

it('refuses a report that is not UTF-8', async () => {
  const file = join(dir, 'report.json');
  await writeFile(file, '{\n"a": "\xe9"}', 'latin1');
  const { status, stderr } = await callConformance(['compare', file, file], {});
  expect([status, stderr]).toEqual([2, expect.stringContaining('is not UTF-8 in line 2; is it Windows-1252?')]);
});
