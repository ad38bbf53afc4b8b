import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { feedOperator, operator } from './cli.ts';
import { vergadering } from './support.ts';

feedOperator();

it('feed publish takes no more memory for many lines than for few', async () => {
  const path = join(operator.dir, 'veel.ndjson');
  const text = 'Een regel van ongeveer zes kilobyte. '.repeat(150);
  const lines = Array.from({ length: 3_000 }, (_, i) =>
    vergadering(`veel-${i}`, { vergadertoelichting: `${i} ${text}` }),
  );
  await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  // All of them together with the program would exceed this, and more so once parsed.
  const small = { NODE_OPTIONS: '--max-old-space-size=28' };
  const { child, ended } = operator.start(['publish', '--json', path], small);
  child.stdin?.end();
  const { status, stdout } = await ended;
  expect([status, JSON.parse(stdout)]).toMatchObject([0, { lines: 3_000, recorded: 3_000 }]);
});
