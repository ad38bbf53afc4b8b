import { Command } from 'commander';
import { runTool } from '../../../cli/run-command.ts';
import type { Terminal } from '../../../seams/terminal.ts';
import type { Client } from '../client.ts';
import { commandWords } from '../commands/command-words.ts';
import { listCases, requireAddress, type SuiteOptions, suiteOptions, testSuite } from '../commands/test-suite.ts';

const EXAMPLE = `
Reads only, but with --publish: then about forty changes of resources of its own are given to that command, a line of JSON on its standard
input each, and what is left is deleted at the end. No shell reads the command. The exit status is 0 when no must failed, 1 when one did, and 2 when the cases could not be run.

Examples:
  $ koppelvlak conformance raadsfeed https://raad.example/ori/v1 --report verslag/
  $ koppelvlak conformance raadsfeed https://raad.example/ori/v1 --only C-STR --not C-STR-09
  $ koppelvlak conformance raadsfeed http://127.0.0.1:8080/ori/v1 --publish 'koppelvlak feed publish'
  $ koppelvlak conformance raadsfeed --list`;

interface RaadsfeedOptions extends SuiteOptions {
  readonly publish?: readonly string[];
}

/** For what was published to appear. */
const PATIENCE_MS = 30_000;

export function raadsfeedCommand(terminal: Terminal): Command {
  return suiteOptions(new Command('raadsfeed'))
    .description('test a publisher of council information')
    .argument('[url]', 'address of its service document')
    .option('--publish <command>', 'also what happens on change: this command publishes a line', commandWords)
    .addHelpText('after', EXAMPLE)
    .action((url: string | undefined, options: RaadsfeedOptions) =>
      runTool(terminal, options, async (context) => {
        const { RAADSFEED } = await import('./suite.ts');
        const { publish: command } = options;
        if (command === undefined) {
          if (options.list) return listCases(context, RAADSFEED, options);
          const tested = requireAddress(url);
          const { readSubject } = await import('./subject.ts');
          const open = (client: Client) => readSubject(tested, client);
          return await testSuite(context, { suite: RAADSFEED, options, tested, open });
        }
        const { openPublishSubject, publishByCommand, RAADSFEED_PUBLISH } = await import(
          '../raadsfeed-publish/suite.ts'
        );

        const suite = { ...RAADSFEED, chapters: [...RAADSFEED.chapters, ...RAADSFEED_PUBLISH.chapters] };
        if (options.list) return listCases(context, suite, options);
        const tested = requireAddress(url);
        const publish = publishByCommand({ command, env: terminal.env, signal: context.interrupted });
        await testSuite(context, {
          ...{ suite, options, tested, configuration: { publish: command.join(' ') } },
          open: (client, say) => openPublishSubject({ url: tested, client, publish, patienceMs: PATIENCE_MS, say }),
        });
      }),
    );
}
