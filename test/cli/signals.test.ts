import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import type { Terminal } from '../../src/lib/terminal.ts';
import { createDatabase } from '../support/database.ts';

it('listens for SIGTERM without a gap from the start of the service to its end: a signal in between used to be lost', async () => {
  const database = await createDatabase();
  onTestFinished(database.drop);
  const signals = new EventEmitter();
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough().resume()];
  const env = {
    NODE_ENV: 'test',
    DATABASE_URL: database.url,
    AREAS: 'raadsfeed',
    SHUTDOWN_DRAIN_MS: '0',
    HOST: '127.0.0.1',
    PORT: '0',
    MANAGEMENT_HOST: '127.0.0.1',
    MANAGEMENT_PORT: '0',
  };
  const terminal: Terminal = Object.assign(signals, {
    env,
    stdin,
    stdout,
    stderr,
    exitCode: 0,
    exit: () => undefined,
  });
  /** Remaining listeners each time a SIGTERM listener was removed. */
  const left: number[] = [];
  signals.on('removeListener', (name) => {
    if (name === 'SIGTERM') left.push(signals.listenerCount('SIGTERM'));
  });
  let shown = '';
  stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
  });
  const ended = runProgram(['serve'], terminal);
  await expect.poll(() => shown).toContain('"msg":"listening"');
  await expect.poll(() => left).toEqual([1]);
  signals.emit('SIGTERM', 'SIGTERM');
  await ended;
  expect(shown).toContain('"msg":"stopped"');
});
