import { Command, InvalidArgumentError } from 'commander';
import { UsageError } from '../../src/lib/command-error.ts';
import type { Terminal } from '../../src/lib/terminal.ts';
import { commandText } from '../commands/command-words.ts';
import { type SuiteOptions, suiteCommand, suiteOptions, testSuite } from '../commands/test-suite.ts';
import type { ToolContext } from '../commands/tool.ts';
import type { Client } from '../exchange.ts';
import { wordsOf } from '../protocol.ts';
import { longestWaitMs } from '../run-limit.ts';

interface ConsumerOptions extends SuiteOptions {
  readonly state?: string;
  readonly program?: string;
  readonly feed?: string;
  readonly add?: string;
  readonly port: number;
  readonly patience: number;
}

const EXAMPLE = `
Each case plays its own feed on an address of this machine. The exit status is 0 when no must case failed, 1 when one did, and 2 when the
cases could not be run. In a command {feed} is the address of a feed; the command runs without a shell.

Examples:
  $ koppelvlak-conformance raadsfeed-consumer --state 'python3 follow.py {feed}'
  $ koppelvlak-conformance raadsfeed-consumer --program 'node consumer.mjs'
  $ koppelvlak-conformance raadsfeed-consumer --feed http://127.0.0.1:8080/ori/v1 --add 'koppelvlak bron add {feed}'`;

/** Milliseconds for a command or an answer of a program. */
const TIMEOUT_MS = 60_000;

const suite = async () => (await import('./suite.ts')).RAADSFEED_CONSUMER;

export function raadsfeedConsumerCommand(terminal: Terminal): Command {
  return suiteOptions(new Command('raadsfeed-consumer'))
    .description('test a consumer of council information, or an aggregator')
    .option(
      '--state <command>',
      'command that catches up with the feed, prints its resources as lines of JSON, and exits',
      commandText,
    )
    .option('--program <command>', 'program that does so for each line of JSON on its standard input', commandText)
    .option('--feed <url>', 'service document of an aggregator, which reads on its own')
    .option('--add <command>', 'with --feed: gives the aggregator a source', commandText)
    .option('--port <number>', 'port of the played feeds (default: any free port)', wholeNumber, 0)
    .option('--patience <seconds>', 'time for a consumer to reach the state of a feed', wholeNumber, 30)
    .addHelpText('after', EXAMPLE)
    .action((options: ConsumerOptions) => suiteCommand(terminal, options, suite, (context) => run(context, options)));
}

async function run(context: ToolContext, options: ConsumerOptions): Promise<void> {
  const { openConsumerSubject, RAADSFEED_CONSUMER } = await import('./suite.ts');
  const { state, program, feed, add, port, patience } = options;
  const [tested, ...others] = [state, program, feed].filter((way) => way !== undefined);
  if (tested === undefined || others.length > 0) throw new UsageError('one of --state, --program and --feed is needed');
  const { commandConsumer, programConsumer, publishingConsumer } = await import('./consumer.ts');
  const { runCommand } = await import('../child-program.ts');
  const signal = context.interrupted;
  const common = { env: context.terminal.env, timeoutMs: TIMEOUT_MS, signal };
  const patienceMs = patience * 1000;
  const addAll = async (feeds: readonly string[]): Promise<void> => {
    if (add === undefined) return;
    for (const address of feeds) {
      const command = wordsOf(add).map((word) => word.replaceAll('{feed}', address));
      const { failure } = await runCommand({ ...common, command });
      if (failure !== undefined) throw new UsageError(`--add: ${failure}`);
    }
  };
  const consumerOf = async (client: Client) => {
    if (state !== undefined) return await commandConsumer({ ...common, command: wordsOf(state) });
    if (program !== undefined) return programConsumer({ ...common, command: wordsOf(program) });
    return await publishingConsumer(tested, client, patienceMs, signal);
  };
  await testSuite(context, {
    suite: RAADSFEED_CONSUMER,
    options,
    tested,
    words: [],
    waitMs: longestWaitMs(RAADSFEED_CONSUMER, patienceMs),
    open: async (client, say, isWanted) =>
      openConsumerSubject({
        client,
        isWanted,
        port,
        patienceMs,
        signal,
        consumer: await consumerOf(client),
        opened: async (feeds) => {
          if (feed !== undefined) say(`the sources for ${feed} are\n${feeds.join('\n')}`);
          await addAll(feeds);
        },
      }),
  });
}

function wholeNumber(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new InvalidArgumentError('a whole number');
  return Number(text);
}
