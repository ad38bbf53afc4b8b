import { readFileSync } from 'node:fs';
import { CommandError } from '../lib/command-error.ts';
import type { Environment } from '../lib/terminal.ts';
import { decodeUtf8 } from '../lib/text-file.ts';
import { type Config, type ConfigFault, constants, declared, type Fault, type Overrides } from './config.ts';
import { contradictions, unreadableFiles } from './contradictions.ts';
import type { Setting } from './kinds.ts';
import { whyUnreadable } from './readable-file.ts';

export type { Config, ConfigFault, Overrides, SettingGroups } from './config.ts';

type Group = Readonly<Record<string, Setting<unknown>>>;
export const settingGroups: Readonly<Record<string, Group>> = declared;
const constantGroups: Readonly<Record<string, object>> = constants;

/** Every variable that an operator can set, including those that name the file of a secret. */
export function knownVariables(): string[] {
  return Object.values(settingGroups).flatMap((group) =>
    Object.values(group).flatMap(({ variable, secret }) => (secret ? [variable, `${variable}_FILE`] : [variable])),
  );
}

/** Address that clients see, as far as configured: for a command, which does not listen. */
export function baseUrlOf({ publicBaseUrl, host, port }: Config['server']): string {
  return publicBaseUrl ?? `http://${host}:${port}`;
}

/** The configuration cannot be used; the message names every fault, a line each. Values are not repeated: they may be secret. */
export class ConfigError extends CommandError {
  override readonly name = 'ConfigError';
  readonly code = 'ERR_CONFIG';
  readonly faults: readonly ConfigFault[];
  constructor(faults: readonly ConfigFault[]) {
    super(
      ['The configuration has faults:', ...faults.map((f) => `  ${f.variable} ${f.wrong}; allowed: ${f.allowed}`)].join(
        '\n',
      ),
    );
    this.faults = faults;
  }
}

/** @param purpose `serve` also requires what the areas need @throws {ConfigError} naming every malformed, missing or contradicting variable */
export function readConfig(env: Environment, purpose: 'serve' | 'tool', overrides: Overrides = {}): Config {
  const faults: ConfigFault[] = [];
  const overridden: Readonly<Record<string, object | undefined>> = overrides;
  const config = Object.fromEntries(
    Object.entries(settingGroups).map(([name, group]) => [
      name,
      { ...constantGroups[name], ...overridden[name], ...readGroup(group, env, faults) },
    ]),
  );
  assertConfig(config);
  if (purpose === 'serve') {
    const malformed = new Set(faults.map((fault) => fault.variable));
    faults.push(...unreadableFiles(config));
    // A variable that could not be read looks absent: faults that follow from that alone would only hide the real one.
    const fault: Fault = (involves, wrong, allowed) => {
      if (!involves.some((name) => malformed.has(name))) faults.push({ variable: involves[0], wrong, allowed });
    };
    contradictions(config, fault);
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

function isSet(env: Environment, name: string): boolean {
  return (env[name] ?? '') !== '';
}

function readGroup(group: Group, env: Environment, faults: ConfigFault[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(group)) {
    const { variable, kind } = setting;
    values[name] = setting.fallback;
    try {
      const text = readText(setting, env);
      if (text !== undefined) values[name] = kind.parse(text);
    } catch (error) {
      faults.push({ variable, wrong: error instanceof Error ? error.message : String(error), allowed: kind.allowed });
    }
  }
  return values;
}

/** The text of one setting: its variable, or for a secret the file that `<variable>_FILE` names. */
function readText({ variable, secret }: Setting<unknown>, env: Environment): string | undefined {
  const file = secret ? env[`${variable}_FILE`] : undefined;
  if (file === undefined || file === '') return env[variable] === '' ? undefined : env[variable];
  if (isSet(env, variable)) throw new Error(`is given twice, as itself and as ${variable}_FILE`);
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch {
    throw new Error(`cannot be read: ${variable}_FILE names ${whyUnreadable(file) ?? 'a file that changed meanwhile'}`);
  }
  return decodeUtf8(bytes, `cannot be read: the file of ${variable}_FILE`).trim();
}

/** The declarations decide the shape; this only tells the compiler so after every group has been read. */
function assertConfig(read: Record<string, unknown>): asserts read is Config {
  for (const name of Object.keys(settingGroups)) {
    if (typeof read[name] !== 'object') throw new TypeError(`group ${name} was not read`);
  }
}
