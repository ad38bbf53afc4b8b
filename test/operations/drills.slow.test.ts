/** Shortened versions of the long drills in docs/operations.md: they still start, load all areas, and judge. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { drill, drillEnvironment } from './support/drill.ts';

const hasNginx = spawnSync('nginx', ['-v'], { env: drillEnvironment() }).error === undefined;

describe('a short drill', { concurrent: true }, () => {
  it.runIf(hasNginx)(
    'rolling: restarts two instances and loses nothing',
    async () => {
      const printed = await drill('rolling', '1', '300', '200');
      expect(printed).toMatch(/^2 restarts in \d+ s: \d{3,} answered, 0 failed$/m);
    },
    240_000,
  );

  it('soak: loads all areas and measures memory, files and connections', async () => {
    const printed = await drill('soak', '0.05', '200');
    expect(printed).toMatch(
      /^second half compared with first: memory -?\d+ MB of \d+, files -?[\d.]+, connections -?[\d.]+$/m,
    );
    // Whether memory is flat says nothing after some seconds, in which caches fill.
    expect(printed).toMatch(/^0\.05 min: \d{2,} answered, 0 failed, \d+ published; (not )?flat$/m);
  });
});
