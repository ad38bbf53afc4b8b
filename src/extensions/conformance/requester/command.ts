import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type ToolContext, UsageError } from '../../../cli/run-command.ts';
import { loadModel } from '../../../gegevens/model/model.ts';
import { createGuardedFetch } from '../../../lib/outbound/guarded-fetch.ts';
import type { Terminal } from '../../../seams/terminal.ts';
import { asUsage } from '../commands/as-usage.ts';
import { commandText } from '../commands/command-words.ts';
import { type SuiteOptions, suiteCommand, suiteOptions, testSuite } from '../commands/test-suite.ts';
import { createMask } from '../mask.ts';
import { saveExchange } from '../saved-exchanges.ts';
import { readTrust } from '../signature/trust.ts';
import { SCENARIOS, type ScenarioName } from './scenarios.ts';
import type { ReceivedRequest } from './suppliers.ts';

interface RequesterOptions extends SuiteOptions {
  readonly variant?: 'shv' | 'vs';
  readonly model?: string;
  readonly keys: string;
  readonly trust?: string;
  readonly command?: string;
  readonly port: number;
  readonly wait: number;
}

const EXAMPLE = `
Plays suppliers on this machine that answer well and badly, with keys made for the run. --keys gets \`root.pem\`, which the requester must
trust, and \`requester-key.pem\` and \`requester-chain.pem\` for one that has no keys of its own; of another one --trust names the roots. The
responder of these keys is on this machine too.

With --command the program is driven: for each supplier it gets a line of JSON on its standard input, asks as that says, and answers with a
line: \`{"accepted": true, "records": 5}\`, or \`{"refused": "why"}\`. Without, point the requester at each address that is printed; whether it
took an answer is then seen by what it asks next, until nothing more comes.

Examples:
  $ koppelvlak conformance gegevens-requester --variant shv --command "node adapter.js" --report verslag/
  $ koppelvlak conformance gegevens-requester --variant vs --trust root.pem --wait 900`;
const ANSWER_MS = 120_000;
const QUIET_MS = 10_000;

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
      suiteCommand(
        terminal,
        options,
        async () => (await import('./suite.ts')).REQUESTER,
        (context) => run(context, options),
      ),
    );
}

function whole(most: number): (text: string) => number {
  return (text) => {
    if (!/^\d{1,6}$/.test(text) || Number(text) > most) throw new InvalidArgumentError(`a whole number up to ${most}`);
    return Number(text);
  };
}

async function run(context: ToolContext, options: RequesterOptions): Promise<void> {
  const { variant, port, command } = options;
  if (variant === undefined) throw new UsageError('--variant is needed: shv or vs');
  const [
    { REQUESTER },
    { makeKeys },
    { startSuppliers },
    { requesterSubject, waitForRequests },
    { restartedProgram, wordsOf },
  ] = await Promise.all([
    import('./suite.ts'),
    import('./keys.ts'),
    import('./suppliers.ts'),
    import('./subject.ts'),
    import('../protocol.ts'),
  ]);
  const words = command === undefined ? undefined : wordsOf(command);
  const model = asUsage('--model', () => loadModel(variant, options.model));
  const directory = resolve(options.keys);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const { interrupted: signal, terminal, config } = context;
  const token = randomBytes(24).toString('base64url');
  const keys = await makeKeys(directory);
  const network = createGuardedFetch({ allowPrivate: true, proxy: config.server });
  const suppliers = await startSuppliers({ keys, model, port, token });
  const program = words && restartedProgram({ command: words, env: terminal.env, timeoutMs: ANSWER_MS, signal });
  try {
    const roots = await Promise.all([keys.root, ...(options.trust === undefined ? [] : [options.trust])].map(readText));
    const trust = asUsage('--trust', () =>
      readTrust({ anchors: roots.join('\n'), at: new Date(), fetch: network.fetch, signal }),
    );
    await testSuite(context, {
      ...{ suite: REQUESTER, options, tested: command ?? 'a requester', words: [] },
      needs: { secrets: [token] },
      open: async (client, say) => {
        const needs = { client, model, keys, suppliers, trust, token, program };
        if (program !== undefined) return requesterSubject(needs);
        for (const line of instructions(token, keys.root, suppliers.addressOf)) say(line);
        await waitForRequests(suppliers, { waitMs: options.wait * 1000, quietMs: QUIET_MS, signal });
        if (suppliers.received.length === 0) throw new UsageError('the requester asked nothing');
        return requesterSubject(needs);
      },
    });
    if (options.save !== undefined) await saveRequests(suppliers.received, options.save, token);
  } finally {
    await program?.close();
    await Promise.all([suppliers.close(), keys.close(), network.close()]);
  }
}

/** As other suites save what they sent; of an answer the status says which one it was. */
async function saveRequests(received: readonly ReceivedRequest[], directory: string, token: string): Promise<void> {
  const mask = createMask([token]);
  for (const [index, { shown, message }] of received.entries()) {
    const exchange = { ...shown, sentBody: message.body, body: Buffer.alloc(0), json: undefined };
    await saveExchange(directory, index + 1, exchange, mask);
  }
}

/** What the person who tests a requester by hand needs; the token is of this run only. */
function* instructions(token: string, root: string, addressOf: (name: ScenarioName) => string): Generator<string> {
  yield `trust ${root}, send the token ${token}, and ask each of these for the quarter 2026-01-01 to 2026-03-31:`;
  for (const name of Object.keys(SCENARIOS)) if (isScenario(name)) yield `  ${addressOf(name)}`;
}

const isScenario = (name: string): name is ScenarioName => Object.hasOwn(SCENARIOS, name);

/** @throws {UsageError} */
async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => {
    throw new UsageError(`${file} cannot be read`);
  });
}
