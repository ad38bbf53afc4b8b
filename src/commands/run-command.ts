import { Command } from 'commander';
import type { Database, DatabaseOptions } from '../database/open-database.ts';
import { interruptible, reportFailure } from '../lib/command-line.ts';
import { createLogger, type Logger } from '../lib/log.ts';
import { createOutput, type Output } from '../lib/output.ts';
import type { Environment, Terminal } from '../lib/terminal.ts';
import { type Clock, systemClock } from '../lib/time.ts';
import type { ProofWriterOf } from '../proof/proof-log.ts';
import { baseUrlOf, type Config, knownVariables, readConfig } from '../settings/read-config.ts';
import { unknownVariables } from '../settings/unknown-variables.ts';

export interface CommandContext extends ToolContext {
  readonly database: Database;
  readonly proof: ProofWriterOf;
  readonly clock: Clock;
  /** Address that clients see, without a trailing slash. */
  readonly publicBaseUrl: () => string;
}

interface CommandOptions {
  readonly json?: boolean;
  /** Whether it changes the database: then it names the database first. */
  readonly changes?: boolean;
  /** The database role to act as; the login needs no other. Default: the service's. */
  readonly role?: DatabaseOptions['role'];
}

export interface ToolContext {
  readonly terminal: Terminal;
  readonly config: Config;
  readonly log: Logger;
  readonly output: Output;
  /** Fires on Ctrl-C and `SIGTERM`: stop and leave nothing half done. */
  readonly interrupted: AbortSignal;
}

/** Runs a command that opens its own resources. The exit status is 0, or 1 with the reason on standard error. */
export async function runTool(
  terminal: Terminal,
  options: CommandOptions,
  command: (context: ToolContext) => Promise<unknown>,
): Promise<void> {
  await reportFailure(terminal, async () => {
    const config = readConfig(terminal.env, 'tool', terminal.overrides);
    const log = createLogger(config.server.logLevel === 'info' ? 'warn' : config.server.logLevel, terminal.stderr);
    warnOfUnknown(terminal.env, log);
    const output = createOutput(terminal, options.json ?? false);
    await interruptible(terminal, (interrupted) => command({ terminal, config, log, output, interrupted }));
  });
}

/** Warns of variables that look like settings but are not: a typing error would otherwise go unnoticed. */
export function warnOfUnknown(env: Environment, log: Logger): void {
  for (const { variable, nearest } of unknownVariables(env, knownVariables())) {
    log.warn({ variable, nearest }, `${variable} is not a setting; did you mean ${nearest}?`);
  }
}

export async function runCommand(
  terminal: Terminal,
  options: CommandOptions,
  command: (context: CommandContext) => Promise<unknown>,
): Promise<void> {
  await runTool(terminal, options, async (tool) => {
    const { config, log } = tool;
    const { role, changes = false } = options;
    // Loaded only for the commands that need them.
    const [{ openDatabase }, { nameDatabase }, { createProofWriters }, { requireRightKey }] = await Promise.all([
      import('../database/open-database.ts'),
      import('../database/name-database.ts'),
      import('../proof/writer.ts'),
      import('../proof/keys.ts'),
    ]);
    const database = await openDatabase({ config, log, purpose: 'command', role });
    try {
      const pool = role === 'retention' ? database.retentionPool : database.pool;
      await requireRightKey(pool, config);
      if (changes) terminal.stderr.write(await nameDatabase(pool));
      const publicBaseUrl = (): string => baseUrlOf(config.server);
      await command({ ...tool, database, clock: systemClock, publicBaseUrl, proof: createProofWriters(config) });
    } finally {
      await database.close();
    }
  });
}

/** A command that can print its result as JSON. @param examples what is typed after `koppelvlak` */
export function commandWithResult(name: string, description: string, ...examples: readonly string[]): Command {
  const lines = examples.map((example) => `\n  $ koppelvlak ${example}`);
  return new Command(name)
    .description(description)
    .option('--json', 'one machine-readable result')
    .addHelpText('after', `\nExample${lines.length > 1 ? 's' : ''}:${lines.join('')}`);
}
