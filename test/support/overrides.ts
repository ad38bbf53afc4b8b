/** In a test's environment a name with a dot is a constant of the configuration: `'raadsfeed.streamMax': '50'`. */
import { constants } from '../../src/settings/config.ts';
import { type Config, type Overrides, readConfig } from '../../src/settings/read-config.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const NAME = /^[a-zA-Z]+\.[a-zA-Z]+$/;

/**
 * Extracts the constants from an environment.
 * @throws Error for one that does not exist
 */
export function splitOverrides(given: Environment): { env: Environment; overrides: Overrides } {
  const entries = Object.entries(given);
  const overrides: Record<string, Record<string, unknown>> = {};
  for (const [key, text = ''] of entries.filter(([name]) => NAME.test(name))) {
    const [group = '', name = ''] = key.split('.');
    const constant = Object.entries(constantsOf(group)).find(([one]) => one === name)?.[1];
    overrides[group] = { ...overrides[group], [name]: parsed(key, constant, text) };
  }
  return { env: Object.fromEntries(entries.filter(([name]) => !NAME.test(name))), overrides };
}

/** The configuration for such an environment. */
export function readTestConfig(given: Environment, purpose: 'serve' | 'tool'): Config {
  const { env, overrides } = splitOverrides(given);
  return readConfig(env, purpose, overrides);
}

function constantsOf(group: string): object {
  return Object.entries(constants).find(([name]) => name === group)?.[1] ?? {};
}

function parsed(key: string, constant: unknown, text: string): unknown {
  if (typeof constant === 'number') return Number(text);
  if (typeof constant === 'boolean') return text === 'true';
  if (typeof constant !== 'string') throw new Error(`${key} is not a constant of the configuration`);
  return text;
}
