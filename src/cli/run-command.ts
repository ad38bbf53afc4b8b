import process from 'node:process';
import {
  type Config,
  ConfigError,
  type Environment,
  knownVariables,
  processEnvironment,
  readConfig,
  unknownVariables,
} from '../kernel/config/read-config.ts';
import { reasonOf } from '../kernel/error-text.ts';
import { createLogger, type Logger } from '../kernel/log.ts';
import { openPlatform, type Platform, type PlatformOptions } from '../kernel/platform.ts';
import { createOutput, type Output } from './output.ts';

/** A command could not do what was asked; the message is for people and says why. */
export class CommandError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandError';
  }
}

/** Why a command ends whose output is not read any more. */
export const NOBODY_READS = 'nobody reads the output any more';

/** The command was called with words that it does not take: exit status 2. */
export class UsageError extends CommandError {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

export interface CommandContext {
  readonly platform: Platform;
  /** Address of the database as its owner. */
  readonly ownerUrl: string;
  readonly output: Output;
  /** Fires on Ctrl-C and `SIGTERM`: stop, leave nothing half done. */
  readonly interrupted: AbortSignal;
}

export interface CommandOptions {
  readonly json?: boolean;
  /** The database role that it works as; its login needs to be a member of no other. Default: the one that serves. */
  readonly role?: PlatformOptions['role'];
}

/** What a command has that needs no open database. */
export interface ToolContext {
  readonly config: Config;
  readonly log: Logger;
  readonly output: Output;
  readonly interrupted: AbortSignal;
}

/** Runs a command that opens what it needs by itself; its exit status is 0, or 1 with the reason on standard error. */
export async function runTool(
  options: CommandOptions,
  command: (context: ToolContext) => Promise<unknown>,
): Promise<void> {
  await reportFailure(async () => {
    const config = readConfig(processEnvironment(), 'tool');
    // Standard output belongs to the result.
    const log = createLogger(config.server.logLevel === 'info' ? 'warn' : config.server.logLevel, process.stderr);
    warnOfUnknown(processEnvironment(), log);
    const interruption = new AbortController();
    const interrupt = (): void => interruption.abort(new CommandError('interrupted'));
    process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
    // Whoever read the output has gone (`| head`): there is nobody to work for.
    process.stdout.on('error', () => interruption.abort(new CommandError(NOBODY_READS)));
    try {
      await command({ config, log, output: createOutput(options.json ?? false), interrupted: interruption.signal });
    } finally {
      process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    }
  });
}

/** Says which variables are not read though they look like ours: else a slip of the pen is a setting that does nothing. */
export function warnOfUnknown(env: Environment, log: Logger): void {
  for (const { variable, nearest } of unknownVariables(env, knownVariables())) {
    log.warn({ variable, nearest }, `${variable} is no setting; the nearest is ${nearest}`);
  }
}

/** Runs a command on an open platform. */
export async function runCommand(
  options: CommandOptions,
  command: (context: CommandContext) => Promise<unknown>,
): Promise<void> {
  await runTool(options, async ({ config, log, output, interrupted }) => {
    const open = await openPlatform({ config, log, purpose: 'command', role: options.role });
    try {
      await command({ platform: open.platform, ownerUrl: open.ownerUrl, output, interrupted });
    } finally {
      open.beginStop();
      await open.close();
    }
  });
}

/** Turns a failure into an exit status and a sentence; only what nobody foresaw shows where it happened. */
export async function reportFailure(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    process.exitCode = error instanceof UsageError ? 2 : 1;
    process.stderr.write(`koppelvlak: ${explain(error)}\n`);
  }
}

function explain(error: unknown): string {
  if (error instanceof CommandError || error instanceof ConfigError) return error.message;
  // What `pg` or the system says may have nothing but a cause.
  return reasonOf(error);
}
