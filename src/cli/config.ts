import { Command } from 'commander';
import type { Setting } from '../kernel/config/kinds.ts';
import { type Environment, readConfig, settings } from '../kernel/config/read-config.ts';
import type { Terminal } from '../kernel/terminal.ts';
import { createOutput, table } from './output.ts';
import { reportFailure } from './run-command.ts';

interface Row {
  readonly variable: string;
  readonly value: string | null;
  readonly source: 'environment' | 'default';
}

export function configCommand(terminal: Terminal): Command {
  return new Command('config')
    .description('print the effective configuration, secrets hidden')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ PORT=80 koppelvlak config')
    .action((options: { json?: boolean }) =>
      reportFailure(terminal, async () => {
        const environment = terminal.env;
        const config = readConfig(environment, 'tool');
        const output = createOutput(terminal, options.json ?? false);
        const rows = Object.entries(settings).flatMap(([group, entries]) =>
          Object.entries(entries).map(([name, setting]) =>
            row(setting, Object.entries(config).find(([key]) => key === group)?.[1], name, environment),
          ),
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

function row(setting: Setting<unknown>, group: object | undefined, name: string, environment: Environment): Row {
  const { variable, secret } = setting;
  const given = [variable, ...(secret ? [`${variable}_FILE`] : [])].some((key) => (environment[key] ?? '') !== '');
  const value: unknown = Object.entries(group ?? {}).find(([key]) => key === name)?.[1];
  const shown = value === undefined ? null : shownValue(value);
  return { variable, value: secret && shown !== null ? '(secret)' : shown, source: given ? 'environment' : 'default' };
}

function shownValue(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  return value instanceof Map ? [...value].map((pair) => pair.join('=')).join(',') : String(value);
}
