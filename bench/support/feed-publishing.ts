import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { finished } from 'node:stream/promises';
import { sampleLine } from './sample-records.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');

/** Publishes generated lines with the command itself and returns lines per second and its peak memory. */
export async function measurePublishing(databaseUrl: string, dir: string, records: number): Promise<void> {
  const file = join(dir, 'lines.ndjson');
  const out = createWriteStream(file);
  for (let n = 0; n < records; n += 1) {
    if (!out.write(`${sampleLine(n)}\n`)) await once(out, 'drain');
  }
  out.end();
  await finished(out);
  for (const [title, options] of [
    ['feed publish', []],
    ['the same again (no-op)', []],
  ] as const) {
    const startedAt = performance.now();
    const { status, peakMb } = await run(['feed', 'publish', '--json', ...options, file], databaseUrl);
    if (status !== 0) throw new Error(`${title} exited with ${status}`);
    const rate = records / ((performance.now() - startedAt) / 1000);
    console.log(`${title}: ${records} lines, ${rate.toFixed(0)} lines/s overall, peak ${peakMb.toFixed(0)} MB`);
  }
}

async function run(words: string[], databaseUrl: string): Promise<{ status: number | null; peakMb: number }> {
  const child = spawn(process.execPath, [MAIN, ...words], {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let peakMb = 0;
  const poll = setInterval(async () => {
    const text = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    peakMb = Math.max(peakMb, Number(/VmHWM:\s+(\d+)/.exec(text)?.[1] ?? 0) / 1024);
  }, 100);
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  clearInterval(poll);
  return { status, peakMb };
}
