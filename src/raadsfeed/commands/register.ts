import { Command } from 'commander';
import { commandWithResult, runCommand } from '../../commands/run-command.ts';
import { CommandError } from '../../lib/command-error.ts';
import { table } from '../../lib/output.ts';
import type { Terminal } from '../../lib/terminal.ts';
import type { RegisterEntry } from '../store/register.ts';

type Options = { readonly json?: boolean };

export function registerCommand(terminal: Terminal): Command {
  return new Command('register')
    .description('the register of feeds: where they are, and nothing of their content')
    .addCommand(addCommand(terminal))
    .addCommand(listCommand(terminal))
    .addCommand(removeCommand(terminal));
}

function addCommand(terminal: Terminal): Command {
  return commandWithResult(
    'add',
    'find a feed by the well-known address of a domain, or by its own address, and add it',
    'register add www.voorbeeldstad.example',
  )
    .argument('<domain|url>', 'domain of an organisation, or address of a service document')
    .action((given: string, options: Options) =>
      runCommand(terminal, { ...options, changes: true }, async ({ config, database, clock, output, interrupted }) => {
        const { addFeed, createRegisterClient } = await import('../register/register.ts');
        const client = createRegisterClient(config, clock);
        try {
          const serviceUrl = await addFeed(database.pool, client, given, interrupted);
          output.result({ serviceUrl }, () => output.line(`Added: ${serviceUrl}`));
        } catch (error) {
          throw new CommandError(`no feed was found at ${given}: ${error instanceof Error ? error.message : error}`);
        } finally {
          await client.close();
        }
      }),
    );
}

function listCommand(terminal: Terminal): Command {
  return commandWithResult('list', 'the feeds that the register knows', 'register list').action((options: Options) =>
    runCommand(terminal, options, async ({ database, output }) => {
      const { readEntries } = await import('../store/register.ts');
      const entries = await readEntries(database.pool);
      const head = ['feed', 'organisations', 'last seen', 'state'];
      const none = 'No feeds; see koppelvlak register add --help.';
      output.result(entries, () => output.line(entries.length === 0 ? none : table(head, entries.map(row))));
    }),
  );
}

function row({ serviceUrl, codes, laatstGezien, bereikbaar, fout }: RegisterEntry): string[] {
  return [
    serviceUrl,
    codes.join(' '),
    laatstGezien?.toISOString() ?? 'never',
    bereikbaar ? 'answers' : (fout ?? 'unknown'),
  ];
}

function removeCommand(terminal: Terminal): Command {
  return commandWithResult('remove', 'forget a feed', 'register remove www.voorbeeldstad.example')
    .argument('<domain|url>', 'as it was added, or the address of its service document')
    .action((given: string, options: Options) =>
      runCommand(terminal, { ...options, changes: true }, async ({ database, output }) => {
        const { removeFeed } = await import('../store/register.ts');
        if (!(await removeFeed(database.pool, given))) throw new CommandError(`${given} is not in the register`);
        output.result({ removed: given }, () => output.line(`Removed: ${given}`));
      }),
    );
}
