import { Command } from 'commander';
import { UsageError } from '../../src/lib/command-error.ts';
import { PROCESSING_LOG_SCOPES } from '../../src/lib/processing-log-scopes.ts';
import type { Terminal } from '../../src/lib/terminal.ts';
import { requireAddress, type SuiteOptions, suiteCommand, suiteOptions, testSuite } from '../commands/test-suite.ts';
import type { ToolContext } from '../commands/tool.ts';

const EXAMPLE = `
Writes actions about fictitious persons and deletes them at the end; the log may keep records of deleted actions and of readings.
The exit status is 0 when no must case failed, 1 when one did, and 2 when the cases could not be run.

The file has a token for each scope, with exactly that scope, and under \`other\` a token that must be refused. A client of an
authorization server may take the place of a token:
  { "read:normal": "eyJ…", "create:normal": { "tokenUrl": "https://…", "clientId": "…", "clientSecret": "…" }, "other": "eyJ…" }

Examples:
  $ koppelvlak-conformance verwerkingenlog https://log.example/verwerkingenlog/v1 --tokens tokens.json --report verslag/
  $ koppelvlak-conformance verwerkingenlog --list`;

interface Options extends SuiteOptions {
  readonly tokens?: string;
  readonly oin?: string;
}

const suite = async () => (await import('./suite.ts')).VERWERKINGENLOG;

export function verwerkingenlogCommand(terminal: Terminal): Command {
  return suiteOptions(new Command('verwerkingenlog'))
    .description('test a processing log')
    .argument('[url]', 'its address')
    .option('--tokens <file>', "JSON with a token or client for each scope; or a demo's demo.json")
    .option('--oin <number>', 'OIN of the caller, for a log that requires the header')
    .addHelpText('after', EXAMPLE)
    .action((url: string | undefined, options: Options) =>
      suiteCommand(terminal, options, suite, (context) => run(context, url, options)),
    );
}

async function run(context: ToolContext, url: string | undefined, options: Options): Promise<void> {
  const tested = requireAddress(url);
  const { tokens: file, oin } = options;
  if (file === undefined) throw new UsageError('--tokens is needed: a processing log answers nobody without one');
  const [{ readTokenFile, requireAccess }, { readLogSubject, whatIsWritten }] = await Promise.all([
    import('../commands/token-file.ts'),
    import('./subject.ts'),
  ]);
  const { tokens, secrets } = await readTokenFile(file, PROCESSING_LOG_SCOPES);
  await testSuite(context, {
    suite: await suite(),
    options,
    tested,
    needs: { tokens, secrets },
    open: async (client, say) => {
      const subject = readLogSubject(tested, client, tokens, oin);
      await requireAccess(client, { to: `${subject.base}/verwerkingsacties/${subject.activity}`, as: 'read:normal' });
      say(whatIsWritten(subject));
      return subject;
    },
  });
}
