import { EventEmitter } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { Argument, Command, InvalidArgumentError } from 'commander';
import type { Organisation } from '../fleet/organisations.ts';
import { type Environment, readConfig } from '../kernel/config/read-config.ts';
import { isRecord } from '../kernel/json-value.ts';
import { type Logger, reasonOf } from '../kernel/log.ts';
import type { Terminal } from '../kernel/terminal.ts';
import { CommandError, runTool, UsageError } from './run-command.ts';

const ACTIONS = ['provision', 'migrate', 'prune', 'verify', 'status'] as const;
type Action = (typeof ACTIONS)[number];

interface FleetOptions {
  readonly atOnce: number;
  readonly only?: readonly string[];
  readonly dryRun?: boolean;
  readonly ready?: boolean;
  readonly json?: boolean;
}

/** Runs another command of the program on a terminal of its own. */
type RunProgram = (words: readonly string[], terminal: Terminal) => Promise<void>;

/** `koppelvlak fleet FILE …`: the same for every organisation of a file, each with its own settings. */
export function fleetCommand(terminal: Terminal, run: RunProgram): Command {
  return new Command('fleet')
    .description('do the same for many organisations, each with a database and settings of its own')
    .argument('<file>', 'the organisations and their settings, in JSON')
    .addArgument(new Argument('<action>', 'what to do for each').choices(ACTIONS))
    .option('--at-once <number>', 'so many organisations at a time', parseAtOnce, 4)
    .option('--only <names...>', 'these organisations instead of all')
    .option('--dry-run', 'with prune: only count')
    .option('--ready', 'with status: also ask each process on its management port')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', HELP)
    .action((file: string, action: Action, options: FleetOptions) =>
      runTool(terminal, options, async ({ output, interrupted, log }) => {
        const { readFleet } = await import('../fleet/organisations.ts');
        if (options.dryRun === true && action !== 'prune') throw new UsageError('--dry-run is for prune');
        if (options.ready === true && action !== 'status') throw new UsageError('--ready is for status');
        const organisations = chosen(await readFleet(file), options.only);
        const width = Math.max(...organisations.map(({ name }) => name.length));
        const work = { action, options, log, run, env: terminal.env, interrupted };
        const outcomes = await eachAtOnce(organisations, options.atOnce, async (organisation) => {
          const outcome = await outcomeOf(work, organisation);
          output.line(`${outcome.name.padEnd(width)}  ${outcome.ok ? 'ok    ' : 'failed'}  ${outcome.text}`);
          return outcome;
        });
        const failed = outcomes.filter(({ ok }) => !ok);
        output.result(outcomes, () => undefined);
        if (failed.length > 0) throw new CommandError(`${failed.length} of ${outcomes.length} organisations failed`);
      }),
    );
}

const HELP = `
provision  make database, logins and grants (needs DATABASE_ADMIN_URL, in the file or in the environment)
migrate    as \`koppelvlak migrate\`
prune      as \`koppelvlak log prune\`
verify     as \`log verify\`, \`feed verify\` and \`proof verify\`, for what the organisation serves
status     whether the database is reached and up to date, and how large it is

Example:
  $ koppelvlak fleet /etc/koppelvlak/fleet.json migrate --at-once 8`;

const MOST_AT_ONCE = 64;

function parseAtOnce(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > MOST_AT_ONCE)
    throw new InvalidArgumentError(`It is not a number from 1 to ${MOST_AT_ONCE}.`);
  return number;
}

function chosen(organisations: readonly Organisation[], only: readonly string[] | undefined): readonly Organisation[] {
  if (only === undefined) return organisations;
  const unknown = only.filter((name) => !organisations.some((organisation) => organisation.name === name));
  if (unknown.length > 0) throw new UsageError(`the fleet has no organisation ${unknown.join(', ')}`);
  return organisations.filter(({ name }) => only.includes(name));
}

/** Results are in the order of the items. */
async function eachAtOnce<T, R>(items: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results = new Map<number, R>();
  const waiting = items.entries();
  const take = async (): Promise<void> => {
    for (const [i, item] of waiting) results.set(i, await work(item));
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, take));
  return [...results].sort(([a], [b]) => a - b).map(([, result]) => result);
}

interface Work {
  readonly action: Action;
  readonly options: FleetOptions;
  readonly log: Logger;
  readonly run: RunProgram;
  /** Environment of this command. */
  readonly env: Environment;
  readonly interrupted: AbortSignal;
}

interface Outcome {
  readonly name: string;
  readonly ok: boolean;
  /** What was done, or why not: without addresses and values of settings. */
  readonly text: string;
}

async function outcomeOf(work: Work, organisation: Organisation): Promise<Outcome> {
  const { name } = organisation;
  try {
    if (work.interrupted.aborted) throw new CommandError('not begun: interrupted');
    return { name, ok: true, text: await doFor(work, organisation) };
  } catch (error) {
    // The faults of a configuration are a line each.
    const reason = error instanceof CommandError ? error.message : reasonOf(error);
    return { name, ok: false, text: reason.split(/\s*\n\s*/).join(' ') };
  }
}

async function doFor(work: Work, organisation: Organisation): Promise<string> {
  const { configOf } = await import('../fleet/organisations.ts');
  const config = configOf(organisation);
  switch (work.action) {
    case 'provision': {
      const { provision } = await import('../fleet/provision.ts');
      const adminUrl = config.database.adminUrl ?? readConfig(work.env, 'tool').database.adminUrl;
      if (adminUrl === undefined) throw new CommandError('DATABASE_ADMIN_URL is missing');
      const made = await provision(config, adminUrl);
      return made.length === 0 ? 'nothing to make' : `made ${made.join(', ')}`;
    }
    case 'status': {
      const { readStatus } = await import('../fleet/status.ts');
      const { databaseMb, newer, process } = await readStatus(config, work.log, work.options.ready === true);
      const migrations = newer === 0 ? 'up to date' : `${newer} migrations newer than this program`;
      return [`database of ${databaseMb} MB`, migrations, ...(process === undefined ? [] : [process])].join(', ');
    }
    case 'migrate': {
      const { applied } = await resultOf(work, organisation, ['migrate']);
      return Array.isArray(applied) && applied.length > 0 ? `${applied.length} migrations applied` : 'up to date';
    }
    case 'prune': {
      const dryRun = work.options.dryRun === true;
      const { removed } = await resultOf(work, organisation, ['log', 'prune', ...(dryRun ? ['--dry-run'] : [])]);
      return `${Number(removed)} actions ${dryRun ? 'would be removed' : 'removed'}`;
    }
    case 'verify': {
      const { areas } = config.server;
      const found = [];
      if (areas.some((area) => area !== 'raadsfeed')) {
        const { versions } = await resultOf(work, organisation, ['log', 'verify']);
        found.push(`${Number(versions)} versions of the log`);
      }
      if (areas.includes('raadsfeed')) {
        const { records } = await resultOf(work, organisation, ['feed', 'verify']);
        found.push(`${Number(records)} records of the feed`);
      }
      if (config.proof.key !== undefined) {
        await resultOf(work, organisation, ['proof', 'verify']);
        found.push('the proof logs');
      }
      return `checked ${found.join(', ')}: no faults`;
    }
  }
}

/** Of what a command writes so much is kept: its result is small, and a list of faults is for the command itself to show. */
const KEPT_CHARACTERS = 1_000_000;

/** Runs a command with the organisation's settings. @returns its machine-readable result @throws {CommandError} with its reason */
async function resultOf(
  { run, interrupted }: Work,
  { env }: Organisation,
  words: readonly string[],
): Promise<Record<string, unknown>> {
  const [stdout, stderr] = [keeping(), keeping()];
  const streams = { stdin: new PassThrough().end(), stdout: stdout.stream, stderr: stderr.stream };
  const signals = new EventEmitter();
  const terminal: Terminal = Object.assign(signals, {
    ...{ env, ...streams, exitCode: 0 },
    exit: (code: number): void => {
      terminal.exitCode = code;
    },
  });
  const interrupt = (): void => void signals.emit('SIGINT', 'SIGINT');
  interrupted.addEventListener('abort', interrupt);
  try {
    await run([...words, '--json'], terminal);
  } finally {
    interrupted.removeEventListener('abort', interrupt);
  }
  // The reason comes last, after warnings and progress.
  const at = stderr.text().lastIndexOf('koppelvlak: ');
  const reason =
    at === -1
      ? 'it failed'
      : stderr
          .text()
          .slice(at + 'koppelvlak: '.length)
          .trim();
  if (terminal.exitCode !== 0) throw new CommandError(`${words.join(' ')}: ${reason}`);
  const result: unknown = JSON.parse(stdout.text());
  return isRecord(result) ? result : {};
}

function keeping(): { readonly stream: Writable; text(): string } {
  let kept = '';
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      kept = `${kept}${chunk}`.slice(-KEPT_CHARACTERS);
      done();
    },
  });
  return { stream, text: () => kept };
}
