/** The program and its commands; each group has a file, which loads its code when it is called. */
import { Command } from 'commander';
import { proofCommand } from '../commands/proof.ts';
import { gegevensCommand } from '../gegevens/commands.ts';
import { UsageError } from '../lib/command-error.ts';
import { reportFailure, runCommandLine } from '../lib/command-line.ts';
import { packageVersion } from '../lib/package-version.ts';
import type { Terminal } from '../lib/terminal.ts';
import type { ProvenLog } from '../proof/proof-log.ts';
import { raadsfeedCommands } from '../raadsfeed/commands.ts';
import { verwerkingenlogCommand } from '../verwerkingenlog/commands.ts';
import { configCommand, demoCommand, migrateCommand, serveCommand } from './service.ts';

export async function runProgram(words: readonly string[], terminal: Terminal): Promise<void> {
  await runCommandLine(createProgram(terminal), words, terminal);
}

export function createProgram(terminal: Terminal): Command {
  const program = new Command('koppelvlak')
    .version(packageVersion(), '--version', 'print the version')
    .description('One server, three national interfaces: gegevens, verwerkingenlog, raadsfeed');
  for (const command of [
    serveCommand(terminal),
    migrateCommand(terminal),
    demoCommand(terminal),
    configCommand(terminal),
    gegevensCommand(terminal),
    verwerkingenlogCommand(terminal),
    ...raadsfeedCommands(terminal),
    proofCommand(terminal, loadProvenLogs),
    conformanceCommand(terminal),
  ])
    program.addCommand(command, { hidden: command.name() === 'conformance' });
  return program;
}

/** The suites are a separate program; this says so when somebody still calls them here. */
function conformanceCommand(terminal: Terminal): Command {
  return new Command('conformance')
    .argument('[words...]')
    .allowUnknownOption()
    .helpOption(false)
    .action(() =>
      reportFailure(terminal, async () => {
        throw new UsageError(
          'the suites are a program of their own: koppelvlak-conformance, in a checkout `npm run conformance --`',
        );
      }),
    );
}

async function loadProvenLogs(): Promise<readonly ProvenLog[]> {
  const [{ verwerkingenProofLog }, { leveringenProofLog }, { raadsfeedProofLog }] = await Promise.all([
    import('../verwerkingenlog/proof-log.ts'),
    import('../gegevens/proof-log.ts'),
    import('../raadsfeed/proof-log.ts'),
  ]);
  return [verwerkingenProofLog, leveringenProofLog, raadsfeedProofLog];
}
