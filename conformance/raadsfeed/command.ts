import { Command } from 'commander';
import type { Terminal } from '../../src/lib/terminal.ts';
import type { SuiteDescription } from '../case.ts';
import { commandText } from '../commands/command-words.ts';
import { requireAddress, type SuiteOptions, suiteCommand, suiteOptions, testSuite } from '../commands/test-suite.ts';
import type { ToolContext } from '../commands/tool.ts';
import type { Client } from '../exchange.ts';
import { wordsOf } from '../protocol.ts';
import { longestWaitMs } from '../run-limit.ts';

const EXAMPLE = `
Reads only, except with --publish: it then passes about forty changes of its own resources to that command, each as a line of JSON on the
command's standard input, and deletes the remaining resources at the end. The command runs without a shell. The exit status is 0 when no must
case failed, 1 when one did, and 2 when the cases could not be run.

Examples:
  $ koppelvlak-conformance raadsfeed https://raad.example/ori/v1 --report verslag/
  $ koppelvlak-conformance raadsfeed https://raad.example/ori/v1 --only C-STR --not C-STR-09
  $ koppelvlak-conformance raadsfeed http://127.0.0.1:8080/ori/v1 --publish 'koppelvlak feed publish'
  $ koppelvlak-conformance raadsfeed --list`;

interface RaadsfeedOptions extends SuiteOptions {
  readonly publish?: string;
}

/** For a publication to appear. */
const PATIENCE_MS = 30_000;
/** For a line to be published. */
const PUBLISH_MS = 60_000;

export function raadsfeedCommand(terminal: Terminal): Command {
  return suiteOptions(new Command('raadsfeed'))
    .description('test a publisher of council information')
    .argument('[url]', 'address of its service document')
    .option('--publish <command>', 'also test publishing: a command that publishes a line', commandText)
    .addHelpText('after', EXAMPLE)
    .action((url: string | undefined, options: RaadsfeedOptions) =>
      suiteCommand(
        terminal,
        options,
        () => suiteOf(options),
        (context) => run(context, requireAddress(url), options),
      ),
    );
}

async function suiteOf({ publish }: RaadsfeedOptions): Promise<SuiteDescription> {
  const { RAADSFEED } = await import('./suite.ts');
  return publish === undefined ? RAADSFEED : (await import('../raadsfeed-publish/suite.ts')).WITH_PUBLISHING;
}

async function run(context: ToolContext, tested: string, options: RaadsfeedOptions): Promise<void> {
  const { readSubject } = await import('./subject.ts');
  if (options.publish === undefined) {
    const { RAADSFEED } = await import('./suite.ts');
    const open = (client: Client) => readSubject(tested, client);
    return await testSuite(context, { suite: RAADSFEED, options, tested, open });
  }
  const { openPublishSubject, publishByCommand, RAADSFEED_PUBLISH, WITH_PUBLISHING } = await import(
    '../raadsfeed-publish/suite.ts'
  );
  const { terminal, interrupted: signal } = context;
  const command = wordsOf(options.publish);
  const publish = publishByCommand({ command, env: terminal.env, timeoutMs: PUBLISH_MS, signal });
  await testSuite(context, {
    suite: WITH_PUBLISHING,
    options,
    tested,
    part: RAADSFEED_PUBLISH,
    waitMs: longestWaitMs(RAADSFEED_PUBLISH, PUBLISH_MS),
    open: async (client, say) => openPublishSubject(await readSubject(tested, client), publish, PATIENCE_MS, say),
  });
}
