import { readFileSync } from 'node:fs';
import { CommandError } from '../lib/command-error.ts';
import type { Environment } from '../lib/terminal.ts';
import { decodeUtf8 } from '../lib/text-file.ts';
import { type Config, type ConfigFault, declared, type Fault } from './config.ts';
import { contradictions, unreadableFiles } from './contradictions.ts';
import { type Setting, shownValue } from './kinds.ts';
import { whyUnreadable } from './readable-file.ts';

export type { Config, ConfigFault, SettingGroups } from './config.ts';

type Group = Readonly<Record<string, Setting<unknown>>>;
const groups: Readonly<Record<string, Group>> = declared;

/** What an operator can set. @see SettingGroups */
export const settingGroups: Readonly<Record<string, Group>> = Object.fromEntries(
  Object.entries(groups).map(([name, group]) => [
    name,
    Object.fromEntries(Object.entries(group).filter(([, { fixed }]) => !fixed)),
  ]),
);

/** Settings of earlier versions, and what to do instead: a service that starts without what its operator asked for would be worse. */
export const REMOVED: Readonly<Record<string, string>> = {
  INZAGE_CONTACT: 'name it as `contact` in PAGES_LINKS',
  DATABASE_ADMIN_URL: 'run deploy/sql/organisation.sql as the administrator of the database server',
  DATABASE_DISTRIBUTED: 'run `koppelvlak migrate --distributed`',
  GEGEVENS_SHV_SERVICE: 'write `shv=name` in GEGEVENS_SERVICES',
  GEGEVENS_SIGNING_P12: 'name that file in GEGEVENS_SIGNING_KEY, without GEGEVENS_SIGNING_CHAIN',
  GEGEVENS_TRANSPORT_CERTIFICATE: 'give `gegevens preflight` the option --transport-certificate',
  GEGEVENS_VS_SERVICE: 'write `vs=name` in GEGEVENS_SERVICES',
  INZAGE_ORGANISATION: 'it is ORGANISATION_NAME now',
  LDV_FORWARD_TOKEN: 'name the token endpoint of that logbook in LDV_FORWARD_TOKEN_URL',
  LDV_LOGBOOK_ID: 'it is always PUBLIC_BASE_URL',
  LDV_ORGANIZATION_NAME: 'it is ORGANISATION_NAME now',
  NOTUBIZ_WOO_REGISTERS: 'write `register:name=code` in NOTUBIZ_WOO_CATEGORIES',
  NOTUBIZ_WOO_TYPES: 'write `type:name=code` in NOTUBIZ_WOO_CATEGORIES',
  ORGANISATION: 'it is ORGANISATION_NAME now',
  SECURITY_ACKNOWLEDGMENTS: 'write it in the file that SECURITY_TXT names',
  SECURITY_CONTACT: 'write it in the file that SECURITY_TXT names',
  SECURITY_ENCRYPTION: 'write it in the file that SECURITY_TXT names',
  SECURITY_EXPIRES: 'write it in the file that SECURITY_TXT names',
  SECURITY_LANGUAGES: 'write it in the file that SECURITY_TXT names',
  SECURITY_POLICY: 'write it in the file that SECURITY_TXT names',
  TRACING_SAMPLE_PERCENT: 'a collector samples better, as it sees how each trace ended',
  VERWERKINGENLOG_UNKNOWN_ACTIVITY:
    'such actions are accepted, and counted in koppelvlak_verwerkingenlog_unknown_activity_total',
  VERWERKINGENLOG_PRUNE_INTERVAL_MINUTES:
    'run `koppelvlak log prune` by a timer: deploy/systemd, or the job of the chart',
};

/** Every variable that an operator can set, those that name the file of a secret too. */
export function knownVariables(): string[] {
  return Object.values(settingGroups).flatMap((group) =>
    Object.values(group).flatMap(({ variable, secret }) => (secret ? [variable, `${variable}_FILE`] : [variable])),
  );
}

/** Whether a variable has one right value: elsewhere than in tests it is refused. */
export function isFixed(name: string): boolean {
  return Object.values(groups).some((group) =>
    Object.values(group).some(({ variable, fixed }) => fixed && variable === name),
  );
}

/** Address that clients see, as far as the configuration says: for a command, which does not listen. */
export function baseUrlOf({ publicBaseUrl, host, port }: Config['server']): string {
  return publicBaseUrl ?? `http://${host}:${port}`;
}

/** The configuration cannot be used; the message names every fault, a line each. Values are not repeated: they may be secret. */
export class ConfigError extends CommandError {
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

/**
 * Reads the whole configuration from the environment.
 * @param purpose `serve` also demands what the mounted areas need; `tool` is for commands that need only some of it
 * @param changes values of what is fixed, by variable; in tests those of the environment win
 * @throws {ConfigError} naming every malformed, missing or contradicting variable together
 */
export function readConfig(env: Environment, purpose: 'serve' | 'tool', changes: Environment = {}): Config {
  const fixed = env.NODE_ENV === 'test' ? { ...changes, ...env } : changes;
  const faults: ConfigFault[] = [];
  const config = Object.fromEntries(
    Object.entries(groups).map(([name, group]) => [name, readGroup(group, env, fixed, faults)]),
  );
  assertConfig(config);
  for (const [variable, instead] of Object.entries(REMOVED)) {
    if (isSet(env, variable) || isSet(env, `${variable}_FILE`))
      faults.push({ variable, wrong: 'is no longer a setting', allowed: `nothing; ${instead}` });
  }
  if (purpose === 'serve') {
    const malformed = new Set(faults.map((fault) => fault.variable));
    faults.push(...unreadableFiles(config));
    // A variable that could not be read looks absent: what follows from that alone would only hide the real fault.
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

function readGroup(group: Group, env: Environment, fixed: Environment, faults: ConfigFault[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(group)) {
    const { variable, kind } = setting;
    values[name] = setting.fallback;
    if (setting.fixed && env.NODE_ENV !== 'test' && isSet(env, variable)) {
      const instead = setting.description || `it is always ${shownValue(setting.fallback) || 'empty'}`;
      faults.push({ variable, wrong: 'is no longer a setting', allowed: `nothing; ${instead}` });
      continue;
    }
    try {
      const text = readText(setting, setting.fixed ? fixed : env);
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
  for (const name of Object.keys(groups)) {
    if (typeof read[name] !== 'object') throw new TypeError(`group ${name} was not read`);
  }
}
