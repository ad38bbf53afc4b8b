import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { expect, it, vi } from 'vitest';
import { runCommand } from '../child-program.ts';
import { type DrivenProgram, startProgram, wordsOf } from '../protocol.ts';

/** A Node program that runs this text for each line. */
function program(onLine: string, timeoutMs = 20_000): DrivenProgram {
  const text = `const { createInterface } = require('node:readline');
    const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
    createInterface({ input: process.stdin }).on('line', (line) => { const asked = JSON.parse(line); ${onLine} });`;
  return startProgram({
    command: [process.execPath, '-e', text],
    env: process.env,
    timeoutMs,
    signal: new AbortController().signal,
  });
}

it('answers each request in turn, whatever is written to standard error', async () => {
  const driven = program(`console.error('at work'); setTimeout(() => say({ got: asked.do }), asked.after)`);
  const asked = [driven.ask({ do: 'first', after: 60 }), driven.ask({ do: 'second', after: 0 })];
  expect(await Promise.all(asked)).toEqual([{ got: 'first' }, { got: 'second' }]);
  await driven.close();
});

it.each([
  [`console.error('no key'); process.exit(3)`, /status 3.*no key/],
  [`process.stdout.write('hello\\n')`, /not JSON: hello/],
  ['say([1])', /not an object/],
  ['', /no answer within 0\.3 seconds/],
  [`process.stdout.write('x'.repeat(2 ** 21))`, /more than 1048576 bytes/],
])('fails, now and from then on: %s', async (onLine, message) => {
  const driven = program(onLine, onLine === '' ? 300 : undefined);
  await expect(driven.ask({ do: 'it' })).rejects.toThrow(message);
  await expect(driven.ask({ do: 'it' })).rejects.toThrow(message);
  await driven.close();
});

it('reports that a program cannot be started, and kills one that does not exit', async () => {
  const { signal } = new AbortController();
  const missing = startProgram({ command: ['/nowhere/program'], env: {}, timeoutMs: 5000, signal });
  await expect(missing.ask({})).rejects.toThrow('/nowhere/program cannot be started');
  await missing.close();
  const stubborn = program(`say({ id: process.pid }); setInterval(() => undefined, 1000)`);
  const { id } = await stubborn.ask({});
  await stubborn.close();
  expect(() => process.kill(Number(id), 0)).toThrow('ESRCH');
});

/** A program that starts another one, which keeps its output open and ignores SIGTERM. */
const FORKING = `const { spawn } = require('node:child_process');
  const text = "process.on('SIGTERM', () => undefined); setInterval(() => undefined, 1000)";
  const { pid } = spawn(process.execPath, ['-e', text], { stdio: 'inherit' });`;
/** True when it has exited; one that nobody waits for stays in the list, as Z. */
const hasEnded = (id: unknown): void => {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(id).trim()], { encoding: 'utf8' });
  expect(stdout).toMatch(/^Z|^$/);
};

it('also kills the processes that a program started', async () => {
  const driven = program(`${FORKING} say({ id: pid }); process.exitCode = 0`);
  const { id } = await driven.ask({});
  await driven.close();
  await vi.waitFor(() => hasEnded(id), 60_000);
  const { signal } = new AbortController();
  const ended = await runCommand({
    command: [process.execPath, '-e', `${FORKING} console.log(pid)`],
    env: process.env,
    timeoutMs: 1500,
    signal,
  });
  expect(ended).toMatchObject({ status: null, stderr: 'no end within 1.5 seconds' });
  await vi.waitFor(() => hasEnded(ended.stdout), 60_000);
});

it('reads a limited part of the output of a command that ignores signals', async () => {
  const text = `process.on('SIGTERM', () => undefined); const piece = 'x'.repeat(2 ** 20);
    const more = () => process.stdout.write(piece, more); more();`;
  const { signal } = new AbortController();
  const ended = await runCommand({ command: [process.execPath, '-e', text], env: {}, timeoutMs: 20_000, signal });
  expect(ended).toMatchObject({ status: null, stderr: 'more than 16777216 characters were written' });
  expect(ended.stdout.length).toBeLessThan(17 * 2 ** 20);
});

it('splits a command into words without a shell', () => {
  expect(wordsOf(`node "my adapter.js" --key='a b' c\\ d $HOME;ls`)).toEqual([
    ...['node', 'my adapter.js', '--key=a b', 'c d', '$HOME;ls'],
  ]);
  expect(wordsOf('""')).toEqual(['']);
  expect(() => wordsOf('node "open')).toThrow('quote');
  expect(() => wordsOf('  ')).toThrow('empty');
});
