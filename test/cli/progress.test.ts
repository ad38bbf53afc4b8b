import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createProgress } from '../../src/lib/output.ts';
import type { Terminal } from '../../src/lib/terminal.ts';

let written: string;
let stderr: Terminal['stderr'];

function standardErrorIs(isTTY: boolean): void {
  const stream = new Writable({
    write(chunk, _encoding, done) {
      written += chunk;
      done();
    },
  });
  stderr = Object.assign(stream, { isTTY });
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  written = '';
});
afterEach(() => {
  vi.useRealTimers();
});

it('is a line every few seconds without a terminal', () => {
  standardErrorIs(false);
  const progress = createProgress({ stderr }, 'records', 200);
  progress.reached(50);
  progress.update(10);
  expect(written).toBe('');
  vi.advanceTimersByTime(5000);
  progress.update(20);
  progress.update(21);
  progress.end();
  expect(written).toBe('20 records (25 %)\n');
});

it('is a bar on a terminal, erased at the end', () => {
  standardErrorIs(true);
  const progress = createProgress({ stderr }, 'records', 200);
  progress.reached(100);
  vi.advanceTimersByTime(100);
  progress.update(20);
  expect(written).toBe(`\r\u001b[K[${'#'.repeat(15)}${' '.repeat(15)}] 20 records (50 %)`);
  progress.end();
  expect(written.endsWith('\r\u001b[K')).toBe(true);
});

it('shows no fraction of a task without an end', () => {
  standardErrorIs(false);
  const endless = createProgress({ stderr }, 'records', undefined);
  vi.advanceTimersByTime(5000);
  endless.update(2);
  expect(written).toBe('2 records\n');
});
