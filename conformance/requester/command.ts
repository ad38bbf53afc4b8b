import { Command, InvalidArgumentError, Option } from 'commander';
import type { Terminal } from '../../src/lib/terminal.ts';
import { commandText } from '../commands/command-words.ts';
import type { RequesterOptions } from '../commands/test-requester.ts';
import { suiteCommand, suiteOptions } from '../commands/test-suite.ts';

const EXAMPLE = `
Plays suppliers on this machine with valid and invalid answers, using keys made for the run. The directory of --keys gets \`root.pem\`, which
the requester must trust, and \`requester-key.pem\` and \`requester-chain.pem\` for a requester without keys of its own; otherwise --trust
names the roots of its certificates. The OCSP responder for the run's keys is on this machine too.

With --command the suite drives the program: for each supplier it writes a line of JSON to the program's standard input, the program sends the
requests, and it answers with a line: \`{"accepted": true, "records": 5}\`, or \`{"refused": "why"}\`. Without --command, point the requester at
each address that is printed; its next request then shows whether it accepted an answer, until no more arrive.

Examples:
  $ koppelvlak-conformance gegevens-requester --variant shv --command "node adapter.js" --report verslag/
  $ koppelvlak-conformance gegevens-requester --variant vs --trust root.pem --wait 900`;

const suite = async () => (await import('./suite.ts')).REQUESTER;

export function requesterCommand(terminal: Terminal): Command {
  return suiteOptions(new Command('gegevens-requester'))
    .description('test a requester of data (SHV or VS): suppliers with valid and invalid answers')
    .addOption(new Option('--variant <variant>', 'exchange model').choices(['shv', 'vs']))
    .option('--model <version>', 'version of the model that the suppliers deliver')
    .option('--keys <directory>', 'directory for the keys of the run', 'sleutels')
    .option('--trust <file>', "root certificates of the requester's signatures (PEM)")
    .option('--command <program>', 'program that sends requests as told; runs without a shell', commandText)
    .option('--port <number>', 'port of the suppliers; 0: any free port', whole(65_535), 0)
    .option('--wait <seconds>', 'how long to wait for requests sent by hand', whole(86_400), 600)
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
