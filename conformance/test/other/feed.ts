/** The publisher of `feed.py`, as a process. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export const FEED_PY = join(import.meta.dirname, 'feed.py');
export const hasPython = spawnSync('python3', ['--version']).status === 0;

export interface OtherFeed {
  readonly url: string;
  publish(lines: readonly object[]): Promise<void>;
  stop(): Promise<void>;
}

export async function startOtherFeed(): Promise<OtherFeed> {
  const child = spawn('python3', [FEED_PY, 'serve'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [first]: unknown[] = await once(child.stdout, 'data');
  const url = String(first).trim();
  return {
    url,
    async publish(lines) {
      const answer = await fetch(url, { method: 'POST', body: lines.map((line) => JSON.stringify(line)).join('\n') });
      if (!answer.ok) throw new Error(await answer.text());
    },
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}
