import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createDatabase } from '../../support/database.ts';
import { RID } from './parlaeus/server.ts';
import { runSupplierKillDrill } from './supplier-kill-drill.ts';

it('matches its suppliers, with nothing lost or duplicated and no limit exceeded, however often it is killed', {
  timeout: 600_000,
}, async () => {
  const database = await createDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'koppelvlak-kills-'));
  const ridFile = join(folder, 'rid');
  await writeFile(ridFile, RID);
  try {
    const result = await runSupplierKillDrill({
      databaseUrl: database.url,
      ridFile,
      kills: 5,
      longestLifeMs: 600,
      report: () => undefined,
    });
    expect(result.faults).toEqual([]);
    expect(result.inTheMiddle).toBeGreaterThan(0);
  } finally {
    await database.drop();
    await rm(folder, { recursive: true });
  }
});
