import { Command } from 'commander';
import type { Terminal } from '../kernel/terminal.ts';
import { requireSource } from './bron-source.ts';
import { runCommand } from './run-command.ts';

const SOURCE = 'address that the source was added with';

export function bronPauseCommand(terminal: Terminal): Command {
  return new Command('pause')
    .description('stop reading a source; what was published stays')
    .argument('<source>', SOURCE)
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak bron pause https://raad.voorbeeldstad.example/ori/v1')
    .action((text: string, options: { json?: boolean }) => setPaused(terminal, text, true, options));
}

export function bronResumeCommand(terminal: Terminal): Command {
  return new Command('resume')
    .description('read a paused source again, or one that waits after a failure, at once')
    .argument('<source>', SOURCE)
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak bron resume https://raad.voorbeeldstad.example/ori/v1')
    .action((text: string, options: { json?: boolean }) => setPaused(terminal, text, false, options));
}

async function setPaused(
  terminal: Terminal,
  text: string,
  paused: boolean,
  options: { json?: boolean },
): Promise<void> {
  await runCommand(terminal, options, async ({ platform, output }) => {
    const store = await import('../aggregator/store/sources.ts');
    const { id, adres } = await requireSource(platform.pool, text);
    await store.setPaused(platform.pool, id, paused);
    output.result({ adres, paused }, () => output.line(`${paused ? 'Paused' : 'Resumed'}: ${adres}`));
  });
}

export function bronRemoveCommand(terminal: Terminal): Command {
  return new Command('remove')
    .description('forget a source; what was published of it stays in the feed')
    .argument('<source>', SOURCE)
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak bron remove https://raad.voorbeeldstad.example/ori/v1')
    .action((text: string, options: { json?: boolean }) =>
      runCommand(terminal, options, async ({ platform, output }) => {
        const { removeSource } = await import('../aggregator/store/sources.ts');
        const { id, adres } = await requireSource(platform.pool, text);
        await removeSource(platform.pool, id);
        output.result({ adres, removed: true }, () => output.line(`Removed: ${adres}`));
      }),
    );
}
