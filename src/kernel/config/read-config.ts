import { readFileSync } from 'node:fs';
import { contradictions, unreadableFiles } from './contradictions.ts';
import { gegevensConstants, gegevensSettings } from './gegevens-settings.ts';
import { inzageConstants, inzageSettings } from './inzage-settings.ts';
import type { Setting } from './kinds.ts';
import { ldvOutConstants, ldvOutSettings } from './ldv-out-settings.ts';
import { ldvConstants, ldvSettings } from './ldv-settings.ts';
import { pagesSettings } from './pages-settings.ts';
import {
  databaseConstants,
  databaseSettings,
  demoSettings,
  serverConstants,
  serverSettings,
  tokenConstants,
  tokenSettings,
} from './platform-settings.ts';
import { proofSettings } from './proof-settings.ts';
import { raadsfeedConstants, raadsfeedSettings } from './raadsfeed-settings.ts';
import { securitySettings } from './security-settings.ts';
import { verwerkingenlogConstants, verwerkingenlogSettings } from './verwerkingenlog-settings.ts';

/** Every setting there is, by group. The tables in docs/settings.md are tested against it. */
export const settings = {
  server: serverSettings,
  security: securitySettings,
  database: databaseSettings,
  tokens: tokenSettings,
  gegevens: gegevensSettings,
  verwerkingenlog: verwerkingenlogSettings,
  inzage: inzageSettings,
  ldv: ldvSettings,
  ldvOut: ldvOutSettings,
  raadsfeed: raadsfeedSettings,
  proof: proofSettings,
  pages: pagesSettings,
  demo: demoSettings,
};

interface Constant {
  readonly variable: string;
  readonly value: number;
}

/**
 * What an operator has no reason to change, with the settings that it belongs to. Tests change it by its variable, with `NODE_ENV=test`;
 * elsewhere that variable is refused.
 */
const constants = {
  server: serverConstants,
  database: databaseConstants,
  tokens: tokenConstants,
  gegevens: gegevensConstants,
  verwerkingenlog: verwerkingenlogConstants,
  inzage: inzageConstants,
  ldv: ldvConstants,
  ldvOut: ldvOutConstants,
  raadsfeed: raadsfeedConstants,
};

/** Settings of earlier versions, and what to do instead: a service that starts without what its operator asked for would be worse. */
export const REMOVED: Readonly<Record<string, string>> = {
  DATABASE_ADMIN_URL: 'run deploy/sql/organisation.sql as the administrator of the database server',
};

/** Every variable that is read, those that name the file of a secret too. */
export function knownVariables(): string[] {
  return Object.values(settings).flatMap((group) =>
    Object.values(group).flatMap(({ variable, secret }) => (secret ? [variable, `${variable}_FILE`] : [variable])),
  );
}

type Values<G> = {
  readonly [K in keyof G]: G[K] extends Setting<infer T> ? T : G[K] extends Constant ? number : never;
};
export type Config = {
  readonly [G in keyof typeof settings]: Values<(typeof settings)[G]> &
    (G extends keyof typeof constants ? Values<(typeof constants)[G]> : unknown);
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

function readGroup<G extends Record<string, Setting<unknown>>>(group: G, env: Environment, faults: ConfigFault[]) {
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

function readConstants(group: Record<string, Constant>, env: Environment, faults: ConfigFault[]) {
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
    Object.entries(settings).map(([name, group]) => [name, readGroup(group, env, faults)]),
  );
  for (const [name, group] of Object.entries(constants))
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
    faults.push(...contradictions(groups).filter(({ involves }) => !involves.some((name) => malformed.has(name))));
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return groups;
}

/** The table above decides the shape; this only tells the compiler so after every group has been read. */
function assertConfig(groups: Record<string, unknown>): asserts groups is Config {
  for (const name of Object.keys(settings)) {
    if (typeof groups[name] !== 'object') throw new TypeError(`group ${name} was not read`);
  }
}

/** A variable that looks like one of ours and is none. */
interface UnknownVariable {
  readonly variable: string;
  /** The one that was probably meant. */
  readonly nearest: string;
}

/** First words that variables of others begin with too: `LOG_DIR`, `NODE_OPTIONS`. There only a slip of a letter or two is taken for ours. */
const SHARED_WORDS = ['BODY', 'CLIENT', 'HEADER', 'LOG', 'NODE', 'PUBLIC', 'REQUEST', 'TRUST'];
/** What Kubernetes and Docker tell of a service that is called as we are. */
const OF_A_SERVICE = /_(SERVICE_(HOST|PORT\w*)|PORT(_\d+_(TCP|UDP)\w*)?)$/;
/** So many letters may differ. */
const SLIP = 2;
const MIN_LENGTH = 8;

/** Names what would be ignored in silence, such as `GEGEVENS_TRUST_ANCHOR`. @param known every variable that is read */
export function unknownVariables(env: Environment, known: readonly string[]): UnknownVariable[] {
  const words = new Set(known.filter((name) => name.includes('_')).map(firstWord));
  for (const word of SHARED_WORDS) words.delete(word);
  return Object.keys(env)
    .filter(
      (name) =>
        !known.includes(name) &&
        !isConstant(name) &&
        /^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/.test(name) &&
        !OF_A_SERVICE.test(name),
    )
    .flatMap((variable) => {
      const distances = known.map((name) => ({ name, distance: distance(variable, name) }));
      const [first] = distances.sort((a, b) => a.distance - b.distance);
      if (first === undefined) return [];
      const isSlip = variable.length >= MIN_LENGTH && first.distance <= SLIP;
      return words.has(firstWord(variable)) || isSlip ? [{ variable, nearest: first.name }] : [];
    });
}

/** Elsewhere than in tests these are refused. */
function isConstant(name: string): boolean {
  return Object.values(constants).some((group) => Object.values(group).some(({ variable }) => variable === name));
}

function firstWord(name: string): string {
  return name.slice(0, name.indexOf('_'));
}

/** Letters to change, add or leave out to make the one of the other (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
