import { readFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import { type ToolContext, UsageError } from '../../../cli/run-command.ts';
import { reasonOf } from '../../../lib/log.ts';
import { createGuardedFetch } from '../../../lib/outbound/guarded-fetch.ts';
import type { Terminal } from '../../../seams/terminal.ts';
import { asUsage } from '../commands/as-usage.ts';
import { type SuiteOptions, suiteCommand, suiteOptions, testSuite } from '../commands/test-suite.ts';
import { readContract } from '../contract.ts';
import type { SignedMessage } from './message.ts';

interface SignatureOptions extends SuiteOptions {
  readonly trust?: string;
  readonly crl?: readonly string[];
  readonly online?: boolean;
  readonly at?: Date;
}

const EXAMPLE = `
A file holds a message as HTTP writes it: headers, an empty line, and the body to the byte, as \`conformance --save\` writes them; or it is a
\`page-1.exchange.json\` of \`gegevens request --keep\`, with its body beside it. No body is shown.

Examples:
  $ koppelvlak conformance signature berichten/*.http --trust root.pem --online
  $ koppelvlak conformance signature bewijs/*.exchange.json --trust root.pem --crl intermediate.crl root.crl --at 2026-04-01T12:00:00Z`;

export function signatureCommand(terminal: Terminal): Command {
  return suiteOptions(new Command('signature'))
    .description('test signed messages that were kept')
    .argument('[files...]', 'messages with headers and body')
    .option('--trust <file>', 'root certificates (PEM)')
    .option('--crl <files...>', 'revocation lists of the issuers')
    .option('--online', 'ask the issuers whether a certificate was revoked')
    .option('--at <time>', 'the moment at which certificates must be valid; default: now', moment)
    .addHelpText('after', EXAMPLE)
    .action((files: readonly string[], options: SignatureOptions) =>
      suiteCommand(
        terminal,
        options,
        async () => (await import('./suite.ts')).SIGNATURES,
        (context) => run(context, files, options),
      ),
    );
}

function moment(text: string): Date {
  const at = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}/.test(text) || Number.isNaN(at.getTime()))
    throw new InvalidArgumentError('a date, or a moment such as 2026-04-01T12:00:00Z');
  return at;
}

async function run(context: ToolContext, files: readonly string[], options: SignatureOptions): Promise<void> {
  const { trust: roots, crl = [], online, at = new Date() } = options;
  if (files.length === 0) throw new UsageError('a file with a signed message is needed');
  if (roots === undefined) throw new UsageError('--trust is needed');
  if (online && crl.length > 0) throw new UsageError('--online and --crl exclude each other');
  const [{ SIGNATURES }, { MessageFileError, readMessages }, { readTrust }] = await Promise.all([
    import('./suite.ts'),
    import('./message.ts'),
    import('./trust.ts'),
  ]);
  const read = (file: string): Promise<Buffer> =>
    readFile(file).catch(() => {
      throw new UsageError(`${file} cannot be read`);
    });
  const { server, gegevens } = context.config;
  const network = createGuardedFetch({ allowPrivate: gegevens.revocationAllowPrivate, proxy: server });
  try {
    const [anchors, lists] = await Promise.all([read(roots), Promise.all(crl.map(read))]);
    const messages: SignedMessage[] = [];
    for (const file of files) {
      const read = await readMessages(file).catch((error: unknown) => {
        if (error instanceof MessageFileError) throw new UsageError(error.message);
        throw new UsageError(`${file} cannot be read: ${reasonOf(error)}`);
      });
      messages.push(...read);
    }
    const fetch = online ? network.fetch : undefined;
    const trust = asUsage('--trust', () =>
      readTrust({ anchors: anchors.toString(), at, lists, fetch, signal: context.interrupted }),
    );
    await testSuite(context, {
      ...{ suite: SIGNATURES, options, tested: files.join(' '), words: files },
      open: async (client) => ({ client, values: {}, fault: readContract('gegevens.yaml'), messages, trust }),
    });
  } finally {
    await network.close();
  }
}
