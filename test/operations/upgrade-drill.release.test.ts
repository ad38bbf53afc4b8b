/** The drill of docs/upgrading.md, with few records. */
import { expect, it } from 'vitest';
import { drill } from './support/drill.ts';

it('has each thing read again while the feed answers, and goes on after a kill', async () => {
  const printed = await drill('upgrade', '--records', '10000', '--searches', '12');
  for (const name of ['search index', 'offer to DiWoo', 'proof log raadsfeed'])
    expect(printed).toMatch(new RegExp(`^${name}, emptied:\n(  .+\n)+${name}, read:$`, 'm'));
  const seen = [...printed.matchAll(/^ {2}10000 records in [\d.]+ minutes, readiness saying (\d+) times how far/gm)];
  expect(seen.map(([, times]) => Number(times) > 0)).toEqual([true, true, true]);
  expect(printed.split('proof log raadsfeed, emptied:').at(-1)).toMatch(/^ {2}10000 written of 10000$/m);
  expect(printed).toMatch(/^12 searches in 10000 records: \d+ ms/m);
  // How long searches take says nothing on a busy machine.
  expect(printed).not.toMatch(/^FAULT (?!95 of 100 searches)/m);
});
