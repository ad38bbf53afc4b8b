/** Synthetic deliveries, checked against the statistics office's rules. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { breaksOf } from '../../../src/lib/exchange-model/synthetic/breaks.ts';
import { callProgram } from '../../support/program.ts';
import { check, found, VS_VERSIONS } from './check/support.ts';

const generate = (...words: readonly string[]) => callProgram(['gegevens', 'generate', ...words], {});

/** The findings on the generated file. */
async function findings(variant: string, version: string, ...words: readonly string[]) {
  const file = join(mkdtempSync(join(tmpdir(), 'proef-')), 'levering.json');
  const which = ['--variant', variant, '--model', version];
  const made = await generate(...which, ...words, '--out', file);
  expect(made.stderr).toBe('');
  const { stdout } = await check([...which, '--json', file]);
  return JSON.parse(stdout);
}

const MODELS = [['shv', '1.0'], ...VS_VERSIONS.map((version) => ['vs', version] as const)] as const;

describe.each(MODELS)('%s %s', (variant, version) => {
  it('follows every rule, however many records and whatever the seed and the period', async () => {
    const runs = [['0'], ['1', '--seed', 'twee'], ['1300', '--seed', '3'], ['90', '--period', '2025-12-30/2026-01-02']];
    for (const [records = '', ...words] of runs) {
      const report = await findings(variant, version, '--records', records, ...words);
      expect([records, found(report)]).toEqual([records, []]);
      const counted = report.municipalities.map((each: Record<string, unknown>) => each.trajectories ?? each.signals);
      expect(counted.reduce((sum: number, each: number) => sum + each, 0)).toBe(Number(records));
    }
  });

  // The drafts between the first and the last version spell names the same.
  if (version.startsWith('1.1')) return;
  const breaks = Object.entries(breaksOf(variant, version)).map(([name, { rule, what }]) => ({ name, rule, what }));

  it.each(breaks)('--break $name: breaks rule $rule and no other ($what)', async ({ name, rule }) => {
    const { findings: broken } = await findings(variant, version, '--records', '12', '--break', name);
    expect(broken).toMatchObject([{ rule, count: 1 }]);
  });
});

it('breaks every rule that the model allows to be broken', () => {
  const rules = (variant: 'shv' | 'vs') => [
    ...new Set(Object.values(breaksOf(variant, '1.2')).map(({ rule }) => rule)),
  ];
  // The remaining early warning rules are about trajectories; its model allows no other sex.
  expect(rules('shv')).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 'model']);
  expect(rules('vs')).toEqual([2, 3, 4, 11, 13, 14, 15, 'model']);
});

it('makes the same text for the same seed, and a different one for another', async () => {
  const words = ['--variant', 'vs', '--records', '30', '--seed'];
  const [one, again, other] = await Promise.all(['a', 'a', 'b'].map((seed) => generate(...words, seed)));
  expect(one?.stdout).toBe(again?.stdout);
  expect(one?.stdout).not.toBe(other?.stdout);
  expect(JSON.parse(other?.stdout ?? '').leveringen).toHaveLength(4);
});

it('refuses a rule that it cannot break, and lists the ones it can', async () => {
  const sex = await generate('--variant', 'vs', '--records', '20', '--break', '9');
  expect([sex.status, sex.stderr]).toEqual([
    2,
    expect.stringContaining('choose 2, 3, 4, 11, 13, 14, 15, model-member'),
  ]);
  const few = await generate('--variant', 'shv', '--records', '3', '--break', '5');
  expect([few.status, few.stderr]).toEqual([2, expect.stringContaining('8 records or more')]);
});
