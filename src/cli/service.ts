import process from 'node:process';
import { Command } from 'commander';
import { runTool, warnOfUnknown } from '../commands/run-command.ts';
import { reportFailure } from '../lib/command-line.ts';
import { createLogger } from '../lib/log.ts';
import { createOutput, table } from '../lib/output.ts';
import type { Environment, Terminal } from '../lib/terminal.ts';
import { type Setting, shownValue } from '../settings/kinds.ts';
import { readConfig, settingGroups } from '../settings/read-config.ts';

export function serveCommand(terminal: Terminal): Command {
  return new Command('serve')
    .description('serve the areas named in AREAS until SIGTERM')
    .addHelpText('after', '\nExample:\n  $ AREAS=raadsfeed koppelvlak serve')
    .action(() =>
      reportFailure(terminal, async () => {
        const config = readConfig(terminal.env, 'serve', terminal.overrides);
        const { serve, stopOnSignals } = await import('../serve.ts');
        // For the process itself the logger writes to the descriptor, without a stream in between.
        const logger = createLogger(config.server.logLevel, terminal === process ? undefined : terminal.stdout);
        const { organisation } = config.server;
        const log = organisation === undefined ? logger : logger.child({ organisation });
        warnOfUnknown(terminal.env, log);
        // The first process of a container gets no signal without a handler, and migrating may take long.
        const endStart = (signal: NodeJS.Signals): void => {
          log.info({ reason: signal }, 'stopped before it had started');
          terminal.exit(0);
        };
        terminal.once('SIGTERM', endStart).once('SIGINT', endStart);
        let stopped: Promise<void>;
        try {
          const service = await serve({ config, log });
          stopped = stopOnSignals(terminal, {
            stop: service.stop,
            log,
            drainMs: config.server.shutdownDrainMs,
            timeoutMs: config.server.shutdownTimeoutMs,
            lost: service.databaseExited,
          });
        } finally {
          // Only once others listen: a signal without a listener would be lost.
          terminal.off('SIGTERM', endStart).off('SIGINT', endStart);
        }
        await stopped;
      }),
    );
}

export function migrateCommand(terminal: Terminal): Command {
  return new Command('migrate')
    .description('migrate the database to what this version needs')
    .option('--distributed', 'also distribute the processing log over the nodes of Citus')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ DATABASE_URL=postgres://owner@db/koppelvlak koppelvlak migrate')
    .action((options: { distributed?: boolean; json?: boolean }) =>
      runTool(terminal, options, async ({ config, log, output }) => {
        const { openDatabaseServer } = await import('../database/open-database.ts');
        const { MIGRATIONS, migrate } = await import('../database/migrate.ts');
        const { owner } = await openDatabaseServer({ config, log, purpose: 'command' });
        const { distributed } = options;
        const announce = (line: string): boolean => terminal.stderr.write(line);
        const applied = await migrate({ ...owner, dir: MIGRATIONS, log, distributed, announce });
        output.result({ applied }, () => {
          output.line(applied.length === 0 ? 'Nothing to do.' : `Applied: ${applied.join(', ')}`);
        });
      }),
    );
}

export function demoCommand(terminal: Terminal): Command {
  return new Command('demo')
    .description('start everything on this machine, load example data and play the clients')
    .option('--once', 'end after the tour')
    .option('--empty', 'load no data and play no tour')
    .addHelpText('after', '\nExample:\n  $ koppelvlak demo --once')
    .action((options: { once?: boolean; empty?: boolean }) =>
      reportFailure(terminal, async () => {
        const { runDemo } = await import('../demo/run-demo.ts');
        await runDemo({ once: options.once ?? false, empty: options.empty ?? false }, terminal);
      }),
    );
}

interface Row {
  readonly variable: string;
  readonly value: string | null;
  readonly source: 'environment' | 'default';
}

export function configCommand(terminal: Terminal): Command {
  return new Command('config')
    .description('print the effective configuration, secrets hidden')
    .option('--serve', 'fail with all faults where `serve` would refuse it')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ PORT=80 koppelvlak config --serve')
    .action((options: { serve?: boolean; json?: boolean }) =>
      reportFailure(terminal, async () => {
        const config = readConfig(terminal.env, options.serve === true ? 'serve' : 'tool');
        const output = createOutput(terminal, options.json ?? false);
        const values: Readonly<Record<string, Readonly<Record<string, unknown>>>> = config;
        const rows = Object.entries(settingGroups).flatMap(([group, settings]) =>
          Object.entries(settings).map(([name, setting]) => row(setting, values[group]?.[name], terminal.env)),
        );
        output.result(rows, () => {
          output.line(
            table(
              ['variable', 'value', 'from'],
              rows.map(({ variable, value, source }) => [variable, value ?? '-', source]),
            ),
          );
        });
      }),
    );
}

function row({ variable, secret }: Setting<unknown>, value: unknown, environment: Environment): Row {
  const given = [variable, ...(secret ? [`${variable}_FILE`] : [])].some((key) => (environment[key] ?? '') !== '');
  const shown = value === undefined ? null : shownValue(value);
  return { variable, value: secret && shown !== null ? '(secret)' : shown, source: given ? 'environment' : 'default' };
}
