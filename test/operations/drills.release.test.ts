/** The drills of docs/operations.md that run for long, for some seconds: they still start, load all areas, and judge. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { describe, expect, inject, it } from 'vitest';

const BENCH = join(import.meta.dirname, '../../bench');
const env = { ...process.env, TMPDIR: inject('databaseHomes'), PATH: `${process.env.PATH ?? ''}:/usr/sbin` };
const hasNginx = spawnSync('nginx', ['-v'], { env }).error === undefined;

async function drill(name: string, ...words: string[]): Promise<string> {
  const child = spawn(process.execPath, [join(BENCH, `drill-${name}.ts`), ...words], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return printed;
}

describe('a drill in short', { concurrent: true }, () => {
  it.runIf(hasNginx)(
    'rolling: restarts two instances and loses nothing',
    async () => {
      const printed = await drill('rolling', '1', '300', '200');
      expect(printed).toMatch(/^2 restarts in \d+ s: \d{3,} answered, 0 failed$/m);
    },
    240_000,
  );

  it('upgrade: has each thing read again while the feed answers, and goes on after a kill', async () => {
    const printed = await drill('upgrade', '--records', '10000', '--searches', '12');
    for (const name of ['search index', 'offer to DiWoo', 'proof log raadsfeed'])
      expect(printed).toMatch(new RegExp(`^${name}, emptied:\n(  .+\n)+${name}, read:$`, 'm'));
    const seen = [...printed.matchAll(/^ {2}10000 records in [\d.]+ minutes, readiness saying (\d+) times how far/gm)];
    expect(seen.map(([, times]) => Number(times) > 0)).toEqual([true, true, true]);
    expect(printed.split('proof log raadsfeed, emptied:').at(-1)).toMatch(/^ {2}10000 written of 10000$/m);
    expect(printed).toMatch(/^12 searches in 10000 records: \d+ ms/m);
    // How long searches take says nothing on a busy machine.
    expect(printed).not.toMatch(/^FAULT (?!95 of 100 searches)/m);
  }, 240_000);

  it('soak: loads all areas and measures memory, files and connections', async () => {
    const printed = await drill('soak', '0.05');
    expect(printed).toMatch(
      /^second half against first: memory -?\d+ MB of \d+, files -?[\d.]+, connections -?[\d.]+$/m,
    );
    // Whether it is flat says nothing after some seconds, in which caches fill.
    expect(printed).toMatch(/^0\.05 min: \d{2,} answered, 0 failed, \d+ published; (not )?flat$/m);
  });
});
