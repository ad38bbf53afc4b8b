import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../src/settings/read-config.ts';

const ID = '0f5d1a40-6c0e-4f1c-9a52-6a4f7f1f2a10';

/** The variables for which a configuration is refused. */
function faultsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env, 'tool');
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(({ variable }) => variable);
    throw error;
  }
}

describe('the retention settings', () => {
  it("have the guide's terms by default", () => {
    expect(readConfig({}, 'tool').verwerkingenlog).toMatchObject({
      minRetention: 'P1Y',
      retentionGrace: 'P30D',
      maxRetention: undefined,
      ownRetention: 'P10Y',
    });
  });

  it.each(['1 jaar', 'P', 'P1001Y', 'P0.5Y', '-P1Y', 'P0D', 'PT0S'])('refuse %s, all reported at once', (value) => {
    const names = ['MIN_RETENTION', 'MAX_RETENTION', 'OWN_RETENTION'].map((name) => `VERWERKINGENLOG_${name}`);
    expect(faultsOf(Object.fromEntries(names.map((name) => [name, value]))).sort()).toEqual(names.sort());
  });
});

describe('VERWERKINGENLOG_OWN_ACTIVITIES', () => {
  it.each([`shv=${ID}`, `shv=${ID},vs=${ID}, log=${ID}`])('accepts %s', (value) => {
    const { ownActivities } = readConfig({ VERWERKINGENLOG_OWN_ACTIVITIES: value }, 'tool').verwerkingenlog;
    expect(new Set(ownActivities.values())).toEqual(new Set([ID]));
  });

  it.each([ID, `x=${ID}`, 'shv=', `shv=${ID}=1`, `shv=${ID},shv=${ID}`, `shv=${ID},`])('refuses %s', (value) => {
    expect(faultsOf({ VERWERKINGENLOG_OWN_ACTIVITIES: value })).toEqual(['VERWERKINGENLOG_OWN_ACTIVITIES']);
  });
});
