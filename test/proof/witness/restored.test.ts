/** A log whose database and file come from one backup: only its witnesses know better, through the interface that every witness has. */
import { it } from 'vitest';
import { restoredLogSignsNothing, startMemoryWitness } from './restored-log.ts';

it('signs nothing after a restore when a standard witness has cosigned more leaves', async () => {
  const witness = await startMemoryWitness();
  try {
    await restoredLogSignsNothing(witness);
  } finally {
    witness.close();
  }
});
