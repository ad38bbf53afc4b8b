import { Command, InvalidArgumentError } from 'commander';
import type { Terminal } from '../../src/lib/terminal.ts';
import type { SignatureOptions } from '../commands/test-messages.ts';
import { suiteCommand, suiteOptions } from '../commands/test-suite.ts';

const EXAMPLE = `
A file contains an HTTP message: headers, an empty line, and the exact body, as \`koppelvlak-conformance --save\` writes it; or it is a
\`page-1.exchange.json\` of \`gegevens request --keep\`, with its body beside it. No body is shown.

Examples:
  $ koppelvlak-conformance signature berichten/*.http --trust root.pem --online
  $ koppelvlak-conformance signature bewijs/*.exchange.json --trust root.pem --crl intermediate.crl root.crl --at 2026-04-01T12:00:00Z`;

const suite = async () => (await import('./suite.ts')).SIGNATURES;

export function signatureCommand(terminal: Terminal): Command {
  return suiteOptions(new Command('signature'))
    .description('test saved signed messages')
    .argument('[files...]', 'messages with headers and body')
    .option('--trust <file>', 'root certificates (PEM)')
    .option('--crl <files...>', 'revocation lists of the issuers')
    .option('--online', 'ask the issuers whether certificates were revoked')
    .option('--at <time>', 'time at which certificates must be valid; default: now', moment)
    .addHelpText('after', EXAMPLE)
    .action((files: readonly string[], options: SignatureOptions) =>
      suiteCommand(terminal, options, suite, async (context) =>
        (await import('../commands/test-messages.ts')).testMessages(context, files, options),
      ),
    );
}

function moment(text: string): Date {
  const at = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}/.test(text) || Number.isNaN(at.getTime()))
    throw new InvalidArgumentError('a date, or a time such as 2026-04-01T12:00:00Z');
  return at;
}
