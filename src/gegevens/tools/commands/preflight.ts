import { Command } from 'commander';
import { runTool, type ToolContext } from '../../../commands/run-command.ts';
import { CommandError } from '../../../lib/command-error.ts';
import type { Terminal } from '../../../lib/terminal.ts';
import { hasToken, type TokenOptions, tokenOptions } from '../../../lib/token-options.ts';
import { ConfigError, readConfig } from '../../../settings/read-config.ts';
import type { Preflight } from '../preflight/preflight.ts';
import { authorization, collect, wholeNumber } from './options.ts';

interface PreflightOptions extends TokenOptions {
  readonly transportCertificate?: string;
  readonly contact: readonly string[];
  readonly timeout: number;
  readonly json?: boolean;
}

const HELP = `
Reads the settings of the service, and changes nothing. With a token it makes one signed request to the service through
PUBLIC_BASE_URL, for a day without data; that delivery is in the journal. Without one it sees whether the service answers.

Exit status: 0 no line failed; 1 a line failed; 2 wrong usage. What could not be checked from here does not fail.

Example:
  $ koppelvlak gegevens preflight --transport-certificate inway.pem --contact 'Beheer, beheer@leverancier.example, 070 0000000'`;

export function preflightCommand(terminal: Terminal): Command {
  const command = new Command('preflight')
    .description('check for the usual problems before the first request, and print the data sheet')
    .option('--transport-certificate <file>', 'certificate of the Inway (PEM), to compare with that of the signatures')
    .option('--contact <text>', 'a contact for the data sheet; may be repeated', collect, []);
  return tokenOptions(command)
    .option('--timeout <seconds>', 'longest time for each call', wholeNumber(1, 999), 10)
    .option('--json', 'one machine-readable result')
    .addHelpText('after', HELP)
    .action((options: PreflightOptions) => runTool(terminal, options, (context) => check(context, options)));
}

async function check(context: ToolContext, options: PreflightOptions): Promise<void> {
  const { preflight } = await import('../preflight/preflight.ts');
  const { sheetLines } = await import('../preflight/data-sheet.ts');
  const { config, terminal, output, interrupted: signal } = context;
  const headers = hasToken(options) ? await authorization(options) : {};
  const result = await preflight({
    config,
    signal,
    now: () => new Date(),
    timeoutMs: options.timeout * 1000,
    transportCertificate: options.transportCertificate,
    faults: faultsOfService(terminal),
    contacts: options.contact,
    authorization: async () => headers,
  });
  output.result(result, () => {
    for (const line of [...preflightText(result), '', ...sheetLines(result.dataSheet)]) output.line(line);
  });
  const failures = result.lines.filter(({ state }) => state === 'failed').map(({ name }) => name);
  if (failures.length > 0) throw new CommandError(`${failures.length} line(s) failed: ${failures.join(', ')}`);
}

/** Problems that would keep the service from starting. */
function faultsOfService({ env }: Terminal): ConfigError['faults'] {
  try {
    readConfig(env, 'serve');
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

const STATES = { ok: 'ok', warning: 'warning', failed: 'FAILED', 'not-checked': 'not checked' } as const;

function preflightText({ lines }: Preflight): string[] {
  const width = Math.max(...lines.map(({ name }) => name.length));
  const indent = ' '.repeat(13);
  const count = (state: keyof typeof STATES): number => lines.filter((line) => line.state === state).length;
  return [
    ...lines.flatMap(({ name, state, detail, todo }) => [
      `${STATES[state].padEnd(indent.length)}${name.padEnd(width)}  ${detail}`,
      ...(todo === undefined ? [] : [`${indent}-> ${todo}`]),
    ]),
    `${count('ok')} ok, ${count('warning')} warning(s), ${count('failed')} failed, ${count('not-checked')} not checked`,
  ];
}
