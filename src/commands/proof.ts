import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { Argument, Command } from 'commander';
import { CommandError, UsageError } from '../lib/command-error.ts';
import { ANSWER_LIMITS, parseUntrusted, UntrustedJsonError } from '../lib/json/parse-untrusted.ts';
import { table } from '../lib/output.ts';
import type { Terminal } from '../lib/terminal.ts';
import { decodeUtf8 } from '../lib/text-file.ts';
import { deriveSealingKey, proofKeyOf, signerOf } from '../proof/keys.ts';
import { PROOF_LOGS, type ProofLogName, type ProvenLog } from '../proof/proof-log.ts';
import type { VerifierKey } from '../proof/tlog/note.ts';
import { MAX_PROOF_BYTES } from '../proof/tlog/proof-file.ts';
import type { VerifiedLog } from '../proof/verify.ts';
import type { Config } from '../settings/read-config.ts';
import { addKey, proofMonitorCommand } from './proof-monitor.ts';
import { runCommand, runTool, type ToolContext } from './run-command.ts';

/** Faults that are shown; all are counted, and `--json` has all. */
const SHOWN = 1000;
const MAX_RECORD_BYTES = 64 * 1024 * 1024;

export function proofCommand(terminal: Terminal, loadLogs: () => Promise<readonly ProvenLog[]>): Command {
  return new Command('proof')
    .description('transparency logs: keys, proofs, logs of others')
    .addCommand(keyCommand(terminal))
    .addCommand(checkCommand(terminal))
    .addCommand(verifyCommand(terminal, loadLogs))
    .addCommand(newOriginCommand(terminal))
    .addCommand(proofMonitorCommand(terminal));
}

function requireKey({ proof }: Config, reason = ''): Uint8Array {
  const key = proofKeyOf(proof);
  if (key === undefined) throw new CommandError(`PROOF_KEY is not set${reason}`);
  return key;
}

function keyCommand(terminal: Terminal): Command {
  return new Command('key')
    .description('make a value for PROOF_KEY: 32 random bytes in base64')
    .option('--sealing', 'instead derive PROOF_SEALING_KEY from PROOF_KEY: it seals entries and cannot sign')
    .addHelpText(
      'after',
      '\nExample:\n  $ koppelvlak proof key > /etc/koppelvlak/proof-key' +
        '\n  $ PROOF_KEY=$(cat /etc/koppelvlak/proof-key) koppelvlak proof key --sealing',
    )
    .action((options: { sealing?: boolean }) =>
      runTool(terminal, {}, async ({ config, output }) => {
        const derived = options.sealing && deriveSealingKey(requireKey(config, ': the sealing key follows from it'));
        output.line(Buffer.from(derived || randomBytes(32)).toString('base64'));
      }),
    );
}

function checkCommand(terminal: Terminal): Command {
  return new Command('check')
    .description('check offline that a record is the one that was logged, and was not changed since')
    .argument('<proof>', 'the proof, a .tlog-proof file')
    .argument('<record>', 'the record as JSON, as the service answered it')
    .option(
      '--key <vkey>',
      'verifier key of the log, or of a witness that must have cosigned; may be repeated',
      addKey,
      [],
    )
    .option('--json', 'one machine-readable result')
    .addHelpText(
      'after',
      '\nWithout --key the key follows from PROOF_KEY: the proof must be of a log of this service.' +
        '\n\nExample:\n  $ koppelvlak proof check actie.tlog-proof actie.json --key "$(cat log.vkey)"',
    )
    .action((proof: string, record: string, options: { key: readonly VerifierKey[]; json?: boolean }) =>
      runTool(terminal, options, (context) => check(proof, record, options.key, context)),
    );
}

async function check(
  proofPath: string,
  recordPath: string,
  keys: readonly VerifierKey[],
  { config, output }: ToolContext,
): Promise<void> {
  const proofKey = proofKeyOf(config.proof);
  if (keys.length === 0 && proofKey === undefined) throw new UsageError('give the key of the log with --key');
  const { checkRecord } = await import('../proof/check.ts');
  const proof = decodeUtf8(await readBytes(proofPath, MAX_PROOF_BYTES), proofPath);
  const record = parseRecord(await readBytes(recordPath, MAX_RECORD_BYTES), recordPath);
  const verdict = checkRecord(proof, record, (origin) =>
    proofKey === undefined || keys.length > 0 ? keys : [signerOf(proofKey, origin).key],
  );
  if (!verdict.isProven) throw new CommandError(`not proven: ${verdict.reason}`);
  const { checkpoint, cosignatures, hiddenParts } = verdict;
  const { origin, size } = checkpoint;
  const root = Buffer.from(checkpoint.root).toString('base64');
  const witnesses = cosignatures.map(({ key: { name }, time = 0 }) => ({
    name,
    at: new Date(time * 1000).toISOString(),
  }));
  output.result({ log: origin, size, root, hiddenParts, witnesses }, () => {
    output.line(`proven: this record is in ${origin}, and was not changed since`);
    output.line(`tree: ${size} leaves, root ${root}`);
    for (const { name, at } of witnesses) output.line(`witness: ${name}, ${at}`);
    if (hiddenParts > 0) output.line(`not shown to you, and not judged: ${hiddenParts} parts of the record`);
    output.line('not proven: that nothing was left out of the log');
  });
}

async function readBytes(path: string, maxBytes: number): Promise<Buffer> {
  if ((await stat(path)).size > maxBytes) throw new CommandError(`${path} is larger than ${maxBytes} bytes`);
  return await readFile(path);
}

function parseRecord(bytes: Buffer, path: string): unknown {
  try {
    return parseUntrusted(bytes, { bytes: MAX_RECORD_BYTES, ...ANSWER_LIMITS });
  } catch (error) {
    if (error instanceof UntrustedJsonError) throw new CommandError(`not proven: ${path} ${error.message}`);
    throw error;
  }
}

function verifyCommand(terminal: Terminal, loadLogs: () => Promise<readonly ProvenLog[]>): Command {
  return new Command('verify')
    .description('recompute every leaf from the stored records; name each record that was changed, removed or added')
    .addArgument(new Argument('[log]', 'one log instead of all that are kept').choices(PROOF_LOGS))
    .option('--json', 'one machine-readable result')
    .addHelpText(
      'after',
      `
It compares with PROOF_STATE, the last checkpoint outside the database. Use a file that the database's administrator cannot write.

Example:
  $ koppelvlak proof verify raadsfeed`,
    )
    .action((only: ProofLogName | undefined, options: { json?: boolean }) =>
      runCommand(terminal, options, async ({ config, database: { pool }, proof, output, interrupted }) => {
        const { verifyStoredLog } = await import('../proof/verify.ts');
        requireKey(config);
        const results: VerifiedLog[] = [];
        for (const log of await loadLogs()) {
          if (only !== undefined && only !== log.name) continue;
          const progress = (done: number): void => output.progress(`${log.name}: ${done} records`);
          const verified = await verifyStoredLog({ config, pool, proof, signal: interrupted, progress }, log);
          if (verified !== undefined) results.push(verified);
        }
        if (results.length === 0) throw new CommandError('this log is not kept: see PROOF_LOGS and AREAS');
        output.result({ logs: results }, () => {
          for (const { log, leaves, records, pending, unproven, faults } of results) {
            const rows = faults.slice(0, SHOWN).map(({ name, fault }) => [name, fault]);
            if (rows.length > 0) output.line(table(['what', 'fault'], rows));
            output.line(
              `${log}: ${leaves} leaves, ${records} records, ${pending} pending, ${unproven} without an entry, from before the log or after it was ended: ${faults.length} faults.`,
            );
          }
        });
        const found = results.reduce((sum, { faults }) => sum + faults.length, 0);
        if (found > 0) throw new CommandError(`${found} faults: the database is not what was published`);
      }),
    );
}

/** After a restored backup or a failover that lost entries. */
function newOriginCommand(terminal: Terminal): Command {
  return new Command('new-origin')
    .description(
      'continue under a new origin after a conflict; its first leaf binds the last checkpoint of the old one',
    )
    .addArgument(new Argument('<log>', 'which log').choices(PROOF_LOGS))
    .option('--json', 'one machine-readable result')
    .addHelpText(
      'after',
      `
Everybody who follows the log sees that it broke here: say why. The old log stays readable.

Example:
  $ koppelvlak proof new-origin raadsfeed`,
    )
    .action((log: ProofLogName, options: { json?: boolean }) =>
      runCommand(terminal, { ...options, changes: true }, async ({ config, database: { pool }, output }) => {
        const { beginNewOrigin } = await import('../proof/sequence.ts');
        const { openPublishedCheckpoints, statePath } = await import('../proof/state.ts');
        const key = requireKey(config);
        const begun = await beginNewOrigin(pool, log, key, await openPublishedCheckpoints(statePath(config)));
        output.result(begun, () => {
          output.line(
            `${begun.origin} continues; of the old origin ${begun.stored} of ${begun.published} leaves are here.`,
          );
          output.line(begun.verifierKey);
        });
      }),
    );
}
