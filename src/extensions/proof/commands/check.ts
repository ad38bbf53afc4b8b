import { readFile, stat } from 'node:fs/promises';
import { Command } from 'commander';
import { CommandError, runTool, type ToolContext, UsageError } from '../../../cli/run-command.ts';
import { FormatError, LOG_KEY, parseVerifierKey, type VerifierKey } from '../../../lib/tlog/note.ts';
import { type Policy, PolicyError, parsePolicy, policyForLog } from '../../../lib/tlog/policy.ts';
import { MAX_PROOF_BYTES } from '../../../lib/tlog/proof-file.ts';
import type { Terminal } from '../../../seams/terminal.ts';
import { checkRecord } from '../check.ts';
import { proofKeyOf, signerOf } from '../keys.ts';

interface CheckOptions {
  readonly key?: string;
  readonly policy?: string;
  readonly json?: boolean;
}

/** Most bytes of a record. */
const MAX_RECORD_BYTES = 64 * 1024 * 1024;

export function proofCheckCommand(terminal: Terminal): Command {
  return new Command('check')
    .description('check offline that a record is the one that was logged, and was not changed since')
    .argument('<proof>', 'the proof, a .tlog-proof file')
    .argument('<record>', 'the record as JSON, as the service answered it')
    .option('--key <vkey>', 'verifier key of the log, as its /key answers it')
    .option('--policy <file>', 'which logs and witnesses are trusted (C2SP tlog-policy)')
    .option('--json', 'one machine-readable result')
    .addHelpText(
      'after',
      '\nWithout --key and --policy the key follows from PROOF_KEY: the proof must be of a log of this service.' +
        '\n\nExample:\n  $ koppelvlak proof check actie.tlog-proof actie.json --key "$(cat log.vkey)"',
    )
    .action((proof: string, record: string, options: CheckOptions) =>
      runTool(terminal, options, (context) => check(proof, record, options, context)),
    );
}

async function check(
  proofPath: string,
  recordPath: string,
  options: CheckOptions,
  context: ToolContext,
): Promise<void> {
  const policyFor = await choosePolicy(options, context);
  const proof = await readText(proofPath, MAX_PROOF_BYTES);
  const record = parseRecord(await readText(recordPath, MAX_RECORD_BYTES), recordPath);
  const verdict = checkRecord(proof, record, policyFor);
  if (!verdict.isProven) throw new CommandError(`not proven: ${verdict.reason}`);
  const { checkpoint, cosignatures, hiddenParts = 0 } = verdict;
  const witnesses = cosignatures.map(({ key, time = 0 }) => ({
    name: key.name,
    at: new Date(time * 1000).toISOString(),
  }));
  const root = Buffer.from(checkpoint.root).toString('base64');
  context.output.result({ log: checkpoint.origin, size: checkpoint.size, root, hiddenParts, witnesses }, () => {
    context.output.line(`proven: this record is in ${checkpoint.origin}, and was not changed since`);
    context.output.line(`tree: ${checkpoint.size} leaves, root ${root}`);
    for (const { name, at } of witnesses) context.output.line(`witness: ${name}, ${at}`);
    if (hiddenParts > 0) context.output.line(`not shown to you, and not judged: ${hiddenParts} parts of the record`);
    context.output.line('not proven: that nothing was left out of the log');
  });
}

/** Which keys are believed for a log, by its origin. */
async function choosePolicy(
  { key, policy }: CheckOptions,
  { config }: ToolContext,
): Promise<(origin: string) => Policy> {
  if (policy !== undefined) {
    if (key !== undefined) throw new UsageError('give --key or --policy, not both');
    try {
      const parsed = parsePolicy(await readFile(policy));
      return () => parsed;
    } catch (error) {
      if (error instanceof PolicyError) throw new UsageError(`${policy}: ${error.message}`);
      throw error;
    }
  }
  if (key !== undefined) {
    const parsed = policyForLog(parseLogKey(key));
    return () => parsed;
  }
  const proofKey = proofKeyOf(config.proof);
  if (proofKey === undefined) throw new UsageError('give the key of the log with --key, or a --policy');
  return (origin) => policyForLog(signerOf(proofKey, origin).key);
}

/** @throws {UsageError} */
export function parseLogKey(text: string): VerifierKey {
  try {
    const key = parseVerifierKey(text.trim());
    if (key.type !== LOG_KEY) throw new FormatError('this is the key of a witness, not of a log');
    return key;
  } catch (error) {
    if (error instanceof FormatError) throw new UsageError(`--key: ${error.message}`);
    throw error;
  }
}

async function readText(path: string, maxBytes: number): Promise<string> {
  if ((await stat(path)).size > maxBytes) throw new CommandError(`${path} is larger than ${maxBytes} bytes`);
  return await readFile(path, 'utf8');
}

function parseRecord(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new CommandError(`not proven: ${path} is not JSON`);
    throw error;
  }
}
