import {
  type Config,
  ConfigError,
  type Environment,
  knownVariables,
  readConfig,
  unknownVariables,
} from '../kernel/config/read-config.ts';
import { createLogger, type Logger, reasonOf } from '../kernel/log.ts';
import { openPlatform, type Platform, type PlatformOptions } from '../kernel/platform.ts';
import type { Terminal } from '../kernel/terminal.ts';
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
  readonly terminal: Terminal;
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
  readonly terminal: Terminal;
  readonly config: Config;
  readonly log: Logger;
  readonly output: Output;
  readonly interrupted: AbortSignal;
}

/** Runs a command that opens what it needs by itself; its exit status is 0, or 1 with the reason on standard error. */
export async function runTool(
  terminal: Terminal,
  options: CommandOptions,
  command: (context: ToolContext) => Promise<unknown>,
): Promise<void> {
  await reportFailure(terminal, async () => {
    const config = readConfig(terminal.env, 'tool');
    // Standard output belongs to the result.
    const log = createLogger(config.server.logLevel === 'info' ? 'warn' : config.server.logLevel, terminal.stderr);
    warnOfUnknown(terminal.env, log);
    const interruption = new AbortController();
    const interrupt = (): void => interruption.abort(new CommandError('interrupted'));
    terminal.once('SIGINT', interrupt).once('SIGTERM', interrupt);
    // Whoever read the output has gone (`| head`): there is nobody to work for.
    terminal.stdout.on('error', () => interruption.abort(new CommandError(NOBODY_READS)));
    try {
      const output = createOutput(terminal, options.json ?? false);
      await command({ terminal, config, log, output, interrupted: interruption.signal });
    } finally {
      terminal.off('SIGINT', interrupt).off('SIGTERM', interrupt);
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
  terminal: Terminal,
  options: CommandOptions,
  command: (context: CommandContext) => Promise<unknown>,
): Promise<void> {
  await runTool(terminal, options, async ({ config, log, output, interrupted }) => {
    const open = await openPlatform({ config, log, purpose: 'command', role: options.role });
    try {
      await command({ terminal, platform: open.platform, ownerUrl: open.ownerUrl, output, interrupted });
    } finally {
      open.beginStop();
      await open.close();
    }
  });
}

/** Turns a failure into an exit status and a sentence; only what nobody foresaw shows where it happened. */
export async function reportFailure(
  terminal: Pick<Terminal, 'stderr' | 'exitCode'>,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    terminal.exitCode = error instanceof UsageError ? 2 : 1;
    terminal.stderr.write(`koppelvlak: ${explain(error)}\n`);
  }
}

function explain(error: unknown): string {
  if (error instanceof CommandError || error instanceof ConfigError) return error.message;
  // What `pg` or the system says may have nothing but a cause.
  return reasonOf(error);
}
