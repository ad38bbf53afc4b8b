import { Command } from 'commander';
import { UsageError } from '../../src/lib/command-error.ts';
import type { Terminal } from '../../src/lib/terminal.ts';
import { requireAddress, type SuiteOptions, suiteCommand, suiteOptions, testSuite } from '../commands/test-suite.ts';
import type { ToolContext } from '../commands/tool.ts';

const EXAMPLE = `
Writes lines about fictitious persons, which cannot be removed. The exit status is 0 when no must case failed, 1 when one did, and 2 when
the cases could not be run.

The file has a token with the right to log, or JSON as for \`koppelvlak-conformance verwerkingenlog\` with \`create:normal\`.

Examples:
  $ koppelvlak-conformance ldv https://log.example/ldv/v1 --token-file token.txt --report verslag/
  $ koppelvlak-conformance ldv --list`;

interface Options extends SuiteOptions {
  readonly tokenFile?: string;
  readonly activity?: string;
}

const suite = async () => (await import('./suite.ts')).LDV;

export function ldvCommand(terminal: Terminal): Command {
  return suiteOptions(new Command('ldv'))
    .description('test an intake of log lines of the Logboek Dataverwerkingen')
    .argument('[url]', 'its address, without /traces')
    .option('--token-file <file>', 'a token, JSON with one for each scope, or the demo.json of a demo')
    .option('--activity <uri>', 'a processing activity in its register')
    .addHelpText('after', EXAMPLE)
    .action((url: string | undefined, options: Options) =>
      suiteCommand(terminal, options, suite, (context) => run(context, url, options)),
    );
}

async function run(context: ToolContext, url: string | undefined, options: Options): Promise<void> {
  const tested = requireAddress(url);
  const { tokenFile, activity } = options;
  if (tokenFile === undefined) throw new UsageError('--token-file is needed');
  const [{ readTokenFile, requireAccess }, { LOGS, readLdvSubject, whatIsWritten }] = await Promise.all([
    import('../commands/token-file.ts'),
    import('./subject.ts'),
  ]);
  const { tokens, secrets } = await readTokenFile(tokenFile, [LOGS]);
  await testSuite(context, {
    suite: await suite(),
    options,
    tested,
    needs: { tokens, secrets },
    open: async (client, say) => {
      const subject = readLdvSubject(tested, client, tokens, activity);
      await requireAccess(client, {
        to: `${subject.base}/traces`,
        method: 'POST',
        body: { resourceSpans: [] },
        as: LOGS,
      });
      say(whatIsWritten(subject));
      return subject;
    },
  });
}
