import { Command, InvalidArgumentError, Option } from 'commander';
import type { Terminal } from '../../src/lib/terminal.ts';
import { commandText } from '../commands/command-words.ts';
import type { RequesterOptions } from '../commands/test-requester.ts';
import { suiteCommand, suiteOptions } from '../commands/test-suite.ts';

const EXAMPLE = `
Plays suppliers on this machine that answer well and badly, with keys made for the run. --keys gets \`root.pem\`, which the requester must
trust, and \`requester-key.pem\` and \`requester-chain.pem\` for one that has no keys of its own; of another one --trust names the roots. The
responder of these keys is on this machine too.

With --command the program is driven: for each supplier it gets a line of JSON on its standard input, asks as that says, and answers with a
line: \`{"accepted": true, "records": 5}\`, or \`{"refused": "why"}\`. Without, point the requester at each address that is printed; whether it
took an answer is then seen by what it asks next, until nothing more comes.

Examples:
  $ koppelvlak-conformance gegevens-requester --variant shv --command "node adapter.js" --report verslag/
  $ koppelvlak-conformance gegevens-requester --variant vs --trust root.pem --wait 900`;

const suite = async () => (await import('./suite.ts')).REQUESTER;

export function requesterCommand(terminal: Terminal): Command {
  return suiteOptions(new Command('gegevens-requester'))
    .description('test a requester of data (SHV or VS): suppliers that answer well and badly')
    .addOption(new Option('--variant <variant>', 'exchange model').choices(['shv', 'vs']))
    .option('--model <version>', 'version of the model that the suppliers deliver')
    .option('--keys <directory>', 'where the keys of the run are written', 'sleutels')
    .option('--trust <file>', 'roots of the certificates that the requester signs with (PEM)')
    .option('--command <program>', 'program that asks as it is told, without a shell', commandText)
    .option('--port <number>', 'port of the suppliers; 0: a free one', whole(65_535), 0)
    .option('--wait <seconds>', 'how long is waited for what a requester asks by hand', whole(86_400), 600)
    .addHelpText('after', EXAMPLE)
    .action((options: RequesterOptions) =>
      suiteCommand(terminal, options, suite, async (context) =>
        (await import('../commands/test-requester.ts')).testRequester(context, options),
      ),
    );
}

function whole(most: number): (text: string) => number {
  return (text) => {
    if (!/^\d{1,6}$/.test(text) || Number(text) > most) throw new InvalidArgumentError(`a whole number up to ${most}`);
    return Number(text);
  };
}
