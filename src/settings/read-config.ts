import { readFileSync } from 'node:fs';
import { importFromExtensions, type UnknownModule } from '../seams/extensions.ts';
import { contradictions, unreadableFiles } from './contradictions.ts';
import { gegevensConstants, gegevensSettings } from './gegevens-settings.ts';
import { htmlSettings } from './html-settings.ts';
import type { Setting } from './kinds.ts';
import {
  databaseConstants,
  databaseSettings,
  demoSettings,
  serverConstants,
  serverSettings,
  tokenConstants,
  tokenSettings,
} from './platform-settings.ts';
import { raadsfeedConstants, raadsfeedSettings } from './raadsfeed-settings.ts';
import { securitySettings } from './security-settings.ts';
import { verwerkingenlogConstants, verwerkingenlogSettings } from './verwerkingenlog-settings.ts';

/** Every setting there is, by group; the `settings.ts` of an extension declares its groups here too. docs/settings.md is tested against it. */
export interface SettingGroups {
  readonly server: typeof serverSettings;
  readonly security: typeof securitySettings;
  readonly database: typeof databaseSettings;
  readonly tokens: typeof tokenSettings;
  readonly gegevens: typeof gegevensSettings;
  readonly verwerkingenlog: typeof verwerkingenlogSettings;
  readonly raadsfeed: typeof raadsfeedSettings;
  readonly html: typeof htmlSettings;
  readonly demo: typeof demoSettings;
}

interface Constant {
  readonly variable: string;
  readonly value: number;
}

/**
 * What an operator has no reason to change, with the settings that it belongs to. Tests change it by its variable, with `NODE_ENV=test`;
 * elsewhere that variable is refused.
 */
export interface ConstantGroups {
  readonly server: typeof serverConstants;
  readonly database: typeof databaseConstants;
  readonly tokens: typeof tokenConstants;
  readonly gegevens: typeof gegevensConstants;
  readonly verwerkingenlog: typeof verwerkingenlogConstants;
  readonly raadsfeed: typeof raadsfeedConstants;
}

/** Adds a fault that lies between variables, each of them well formed. @param involves the first one is named */
export type Fault = (involves: readonly [string, ...string[]], wrong: string, allowed: string) => void;

/** What `settings.ts` of an extension exports. */
interface ExtensionSettings {
  readonly settings: Readonly<Record<string, SettingGroup>>;
  readonly constants?: Readonly<Record<string, ConstantGroup>>;
  /** Whether its plugin is registered, beside what is mounted. */
  readonly isServed?: (config: Config) => boolean;
  /** Paths at which it serves. */
  readonly mounts?: (config: Config) => readonly string[];
  readonly contradictions?: (config: Config, fault: Fault) => void;
}
type SettingGroup = Readonly<Record<string, Setting<unknown>>>;
type ConstantGroup = Readonly<Record<string, Constant>>;

const extensions = (await importFromExtensions('settings')).map(({ extension: name, module }) => ({
  ...asExtensionSettings(module),
  name,
}));

/** @see SettingGroups */
export const settingGroups: Readonly<Record<string, SettingGroup>> = Object.assign(
  {
    server: serverSettings,
    security: securitySettings,
    database: databaseSettings,
    tokens: tokenSettings,
    gegevens: gegevensSettings,
    verwerkingenlog: verwerkingenlogSettings,
    raadsfeed: raadsfeedSettings,
    html: htmlSettings,
    demo: demoSettings,
  } satisfies Record<string, SettingGroup>,
  ...extensions.map(({ settings: added }) => added),
);

const constantGroups: Readonly<Record<string, ConstantGroup>> = Object.assign(
  {
    server: serverConstants,
    database: databaseConstants,
    tokens: tokenConstants,
    gegevens: gegevensConstants,
    verwerkingenlog: verwerkingenlogConstants,
    raadsfeed: raadsfeedConstants,
  } satisfies Record<string, ConstantGroup>,
  ...extensions.map(({ constants: added }) => added ?? {}),
);

function asExtensionSettings(module: UnknownModule): ExtensionSettings {
  if (!isExtensionSettings(module)) throw new TypeError('the settings.ts of an extension has no settings');
  return module;
}

function isExtensionSettings(module: object): module is ExtensionSettings {
  return 'settings' in module && typeof module.settings === 'object';
}

/** Settings of earlier versions, and what to do instead: a service that starts without what its operator asked for would be worse. */
export const REMOVED: Readonly<Record<string, string>> = {
  DATABASE_ADMIN_URL: 'run deploy/sql/organisation.sql as the administrator of the database server',
};

/** Every variable that is read, those that name the file of a secret too. */
export function knownVariables(): string[] {
  return Object.values(settingGroups).flatMap((group) =>
    Object.values(group).flatMap(({ variable, secret }) => (secret ? [variable, `${variable}_FILE`] : [variable])),
  );
}

/** Names of the extensions whose plugin this configuration switches on. */
export function servedExtensions(config: Config): string[] {
  return extensions.filter(({ isServed }) => isServed?.(config) === true).map(({ name }) => name);
}

/** Elsewhere than in tests these are refused. */
export function isConstant(name: string): boolean {
  return Object.values(constantGroups).some((group) => Object.values(group).some(({ variable }) => variable === name));
}

type Values<G> = {
  readonly [K in keyof G]: G[K] extends Setting<infer T> ? T : G[K] extends Constant ? number : never;
};
export type Config = {
  readonly [G in keyof SettingGroups]: Values<SettingGroups[G]> &
    (G extends keyof ConstantGroups ? Values<ConstantGroups[G]> : unknown);
};

/** The environment as a program gets it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One fault of the configuration. */
export interface ConfigFault {
  readonly variable: string;
  readonly wrong: string;
  readonly allowed: string;
}

/** The configuration cannot be used; the message names every fault, a line each. Values are not repeated: they may be secret. */
export class ConfigError extends Error {
  readonly code = 'ERR_CONFIG';
  readonly faults: readonly ConfigFault[];
  constructor(faults: readonly ConfigFault[]) {
    super(
      ['The configuration has faults:', ...faults.map((f) => `  ${f.variable} ${f.wrong}; allowed: ${f.allowed}`)].join(
        '\n',
      ),
    );
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The text of one setting: its variable, or for a secret the file that `<variable>_FILE` names. */
function readText(setting: Setting<unknown>, env: Environment): string | undefined {
  const given = env[setting.variable];
  const file = setting.secret ? env[`${setting.variable}_FILE`] : undefined;
  if (given !== undefined && given !== '' && file !== undefined && file !== '') {
    throw new Error(`is given twice, as itself and as ${setting.variable}_FILE`);
  }
  if (file !== undefined && file !== '') {
    try {
      return readFileSync(file, 'utf8').trim();
    } catch {
      throw new Error(`cannot be read: ${setting.variable}_FILE names no readable file`);
    }
  }
  return given === '' ? undefined : given;
}

function readGroup(group: SettingGroup, env: Environment, faults: ConfigFault[]) {
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(group)) {
    values[name] = setting.absent();
    try {
      const text = readText(setting, env);
      if (text !== undefined) values[name] = setting.parse(text);
    } catch (error) {
      faults.push({ variable: setting.variable, wrong: message(error), allowed: setting.allowed });
    }
  }
  return values;
}

function readConstants(group: ConstantGroup, env: Environment, faults: ConfigFault[]) {
  return Object.fromEntries(
    Object.entries(group).map(([name, { variable, value }]) => {
      const given = env[variable] ?? '';
      if (given === '') return [name, value];
      if (env.NODE_ENV !== 'test')
        faults.push({ variable, wrong: 'is no longer a setting', allowed: `nothing; it is always ${value}` });
      return [name, Number(given)];
    }),
  );
}

/**
 * Reads the whole configuration from the environment.
 * @param purpose `serve` also demands what the mounted areas need; `tool` is for commands that need only some of it
 * @throws {ConfigError} naming every malformed, missing or contradicting variable together
 */
export function readConfig(env: Environment, purpose: 'serve' | 'tool'): Config {
  const faults: ConfigFault[] = [];
  const groups = Object.fromEntries(
    Object.entries(settingGroups).map(([name, group]) => [name, readGroup(group, env, faults)]),
  );
  for (const [name, group] of Object.entries(constantGroups))
    Object.assign(groups[name] ?? {}, readConstants(group, env, faults));
  assertConfig(groups);
  for (const [variable, instead] of Object.entries(REMOVED)) {
    if ([variable, `${variable}_FILE`].some((name) => (env[name] ?? '') !== ''))
      faults.push({ variable, wrong: 'is no longer a setting', allowed: `nothing; ${instead}` });
  }
  if (purpose === 'serve') {
    const malformed = new Set(faults.map((fault) => fault.variable));
    // A variable that could not be read looks absent: what follows from that alone would only hide the real fault.
    faults.push(...unreadableFiles(groups));
    const fault: Fault = (involves, wrong, allowed) => {
      if (!involves.some((name) => malformed.has(name))) faults.push({ variable: involves[0], wrong, allowed });
    };
    const mounts = extensions.flatMap((one) => one.mounts?.(groups) ?? []);
    contradictions(groups, mounts, fault);
    for (const one of extensions) one.contradictions?.(groups, fault);
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return groups;
}

/** The table above decides the shape; this only tells the compiler so after every group has been read. */
function assertConfig(groups: Record<string, unknown>): asserts groups is Config {
  for (const name of Object.keys(settingGroups)) {
    if (typeof groups[name] !== 'object') throw new TypeError(`group ${name} was not read`);
  }
}
