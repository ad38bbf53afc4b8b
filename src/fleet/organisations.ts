/** The organisations of a fleet: a file that names each, with the settings of its process. */
import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import pg from 'pg';
import { type Config, type Environment, readConfig } from '../kernel/config/read-config.ts';
import { readAddresses } from '../kernel/database/addresses.ts';
import { isRecord } from '../kernel/json-value.ts';

/** One organisation: a database and a process of its own. */
export interface Organisation {
  readonly name: string;
  /** All its settings; nothing of the environment of the command is among them. */
  readonly env: Environment;
}

/** The file of a fleet cannot be used; the message names the organisation and the member, never a value. */
export class FleetError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'FleetError';
  }
}

const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_ORGANISATIONS = 10_000;
/** As the setting ORGANISATION: it becomes a label of metrics, a part of a unit's name and of a file's. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
const VARIABLE = /^[A-Z][A-Z0-9_]*$/;

/**
 * Reads the file: `{ "settings": {…}, "organisations": [{ "name", "settings"?: {…}, "settingsFile"?: path }] }`. What stands higher up is
 * replaced by what stands further down: the settings for all, then the file (lines `NAME=value`, as systemd reads them; its path is
 * relative to the fleet's file), then the organisation's own.
 * @throws {FleetError}
 */
export async function readFleet(path: string): Promise<Organisation[]> {
  const fleet = parseJson(await readLimited(path, 'the file of the fleet'));
  const members = Object.keys(fleet).filter((name) => !['settings', 'organisations'].includes(name));
  if (members.length > 0) throw new FleetError(`the fleet has an unknown member ${members[0]}`);
  const shared = settingsIn(fleet.settings, 'the settings for all');
  const { organisations: listed } = fleet;
  if (!Array.isArray(listed) || listed.length === 0)
    throw new FleetError('`organisations` must be a list of at least one');
  if (listed.length > MAX_ORGANISATIONS) throw new FleetError(`more than ${MAX_ORGANISATIONS} organisations`);
  const organisations: Organisation[] = [];
  const names = new Set<string>();
  for (const [i, entry] of listed.entries()) {
    const { name, settings, settingsFile, ...unknown } = isRecord(entry) ? entry : {};
    if (typeof name !== 'string' || !NAME.test(name))
      throw new FleetError(
        `organisation ${i + 1} needs a \`name\` of at most 63 letters, digits, \`.\`, \`_\` and \`-\``,
      );
    const [odd] = Object.keys(unknown);
    if (odd !== undefined) throw new FleetError(`${name} has an unknown member ${odd}`);
    if (names.has(name)) throw new FleetError(`${name} is listed twice`);
    names.add(name);
    if (settingsFile !== undefined && typeof settingsFile !== 'string')
      throw new FleetError(`\`settingsFile\` of ${name} must be a path`);
    const file = settingsFile === undefined ? {} : await readSettingsFile(resolve(dirname(path), settingsFile), name);
    const env = { ORGANISATION: name, ...shared, ...file, ...settingsIn(settings, `the settings of ${name}`) };
    organisations.push({ name, env });
  }
  requireOwnDatabases(organisations);
  return organisations;
}

function parseJson(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // The error of the parser repeats a piece of the file, which may be a secret.
  }
  throw new FleetError('the file of the fleet is not an object in JSON');
}

async function readSettingsFile(path: string, name: string): Promise<Record<string, string>> {
  return settingsIn(parseEnv(await readLimited(path, `the settings file of ${name}`)), `the settings file of ${name}`);
}

async function readLimited(path: string, what: string): Promise<string> {
  try {
    if ((await stat(path)).size <= MAX_FILE_BYTES) return await readFile(path, 'utf8');
  } catch (cause) {
    throw new FleetError(`${what} cannot be read`, { cause });
  }
  throw new FleetError(`${what} is larger than ${MAX_FILE_BYTES} bytes`);
}

function settingsIn(value: unknown, what: string): Record<string, string> {
  if (value === undefined) return {};
  if (!isRecord(value)) throw new FleetError(`${what} must be an object`);
  return Object.fromEntries(
    Object.entries(value).map(([name, setting]) => {
      if (!VARIABLE.test(name)) throw new FleetError(`${what} have a name that is no setting`);
      if (typeof setting !== 'string') throw new FleetError(`${name} in ${what} must be text between quotes`);
      return [name, setting];
    }),
  );
}

/** The configuration of an organisation. @throws {ConfigError | FleetError} also when it names no database: never the embedded one */
export function configOf({ name, env }: Organisation): Config {
  const config = readConfig(env, 'tool');
  if (config.database.url === undefined) throw new FleetError(`${name} has no DATABASE_URL`);
  return config;
}

/** A login in an address, and where it leads. */
export interface Login {
  /** Host and port, or the directory of the socket. */
  readonly server: string;
  readonly database: string;
  readonly user: string;
  readonly password: string | undefined;
}

/** @throws {Error} that does not repeat the address */
export function loginIn(url: string): Login {
  const { host, port, database = '', user = '', password } = new pg.Client(readAddresses(url).urls[0]);
  return { server: `${host}:${port}`, database, user, password: password === '' ? undefined : (password ?? undefined) };
}

/** Two in one database would write one log. A configuration with faults is left to the command that runs with it. */
function requireOwnDatabases(organisations: readonly Organisation[]): void {
  const owners = new Map<string, string>();
  for (const organisation of organisations) {
    const database = databaseOf(organisation);
    const other = database === undefined ? undefined : owners.get(database);
    if (other !== undefined) throw new FleetError(`${other} and ${organisation.name} have the same database`);
    if (database !== undefined) owners.set(database, organisation.name);
  }
}

function databaseOf(organisation: Organisation): string | undefined {
  try {
    const { server, database } = loginIn(configOf(organisation).database.url ?? '');
    return `${server}/${database}`;
  } catch {
    return undefined;
  }
}
