import { Command } from 'commander';
import { runTool } from '../../../cli/run-command.ts';
import type { Terminal } from '../../../seams/terminal.ts';
import { listCases, requireAddress, type SuiteOptions, suiteOptions, testSuite } from '../commands/test-suite.ts';

const EXAMPLE = `
Reads only. The exit status is 0 when no must failed, 1 when one did, and 2 when the cases could not be run.

Examples:
  $ koppelvlak conformance raadsfeed https://raad.example/ori/v1 --report verslag/
  $ koppelvlak conformance raadsfeed https://raad.example/ori/v1 --only C-STR --not C-STR-09
  $ koppelvlak conformance raadsfeed --list`;

export function raadsfeedCommand(terminal: Terminal): Command {
  return suiteOptions(new Command('raadsfeed'))
    .description('test a publisher of council information')
    .argument('[url]', 'address of its service document')
    .addHelpText('after', EXAMPLE)
    .action((url: string | undefined, options: SuiteOptions) =>
      runTool(terminal, options, async (context) => {
        const { RAADSFEED } = await import('./suite.ts');
        if (options.list) return listCases(context, RAADSFEED, options);
        const tested = requireAddress(url);
        const { readSubject } = await import('./subject.ts');
        await testSuite(context, { suite: RAADSFEED, options, tested, open: (client) => readSubject(tested, client) });
      }),
    );
}
