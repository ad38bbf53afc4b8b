import { Argument, Command } from 'commander';
import { table } from '../../../cli/output.ts';
import { CommandError, runCommand } from '../../../cli/run-command.ts';
import type { Pool } from '../../../database/pool.ts';
import type { Db } from '../../../database/transaction.ts';
import { PROOF_LOGS, type ProofLogName, type ProofWriter, type StoredProof } from '../../../seams/proof-log.ts';
import type { Terminal } from '../../../seams/terminal.ts';
import type { Config } from '../../../settings/read-config.ts';
import type { ProofVerification } from '../verify.ts';
import type { ProofFault } from '../verify-tree.ts';

/** Faults that are shown; all are counted, and `--json` has all. */
const SHOWN = 1000;

/** `koppelvlak proof verify`: every leaf recomputed from the stored records. */
export function proofVerifyCommand(terminal: Terminal): Command {
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
        const { verifyLog } = await import('../verify.ts');
        const { openPublishedCheckpoints, statePath } = await import('../state.ts');
        const { transaction, allowLongStatements } = await import('../../../database/transaction.ts');
        const { key } = config.proof;
        if (key === undefined) throw new CommandError('PROOF_KEY is not set');
        // Read before the database: what is published meanwhile must not look like a conflict.
        const published = await openPublishedCheckpoints(statePath(config));
        const results: (ProofVerification & { readonly faults: readonly ProofFault[] })[] = [];
        for (const log of PROOF_LOGS) {
          const writer = proof(log, 'kept');
          if (writer === undefined || (only ?? log) !== log) continue;
          const faults: ProofFault[] = [];
          const verified = await transaction(
            pool,
            async (client) => {
              const db = await allowLongStatements(client, 0);
              return verifyLog({
                db,
                log,
                proofKey: Buffer.from(key, 'base64'),
                records: await recordsOf(db, { config, pool }, log, writer),
                published: published.get,
                endedAfter: config.proof.ended.some((name) => name === log) ? await lastEntered(db, log) : undefined,
                found: (fault) => faults.push(fault),
                signal: interrupted,
                progress: (done) => output.progress(`${log}: ${done} records`),
              });
            },
            { isolation: 'repeatable read', readOnly: true },
          );
          results.push({ ...verified, faults });
        }
        if (results.length === 0) throw new CommandError('this log is not kept: PROOF_LOGS and AREAS say which are');
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

/** The moment of the last record that a log which was ended has an entry of. */
async function lastEntered(db: Db, log: ProofLogName): Promise<Date | undefined> {
  if (log === 'leveringen') return (await import('../../../gegevens/store/proof.ts')).lastProven(db);
  return (await import('../../../verwerkingenlog/store/proof.ts')).lastProven(db);
}

async function recordsOf(
  db: Db,
  { config, pool }: { readonly config: Config; readonly pool: Pool },
  log: ProofLogName,
  writer: ProofWriter,
): Promise<AsyncIterable<StoredProof>> {
  if (log === 'raadsfeed') return (await import('../../../raadsfeed/store/proof.ts')).storedRecords(db, writer);
  if (log === 'leveringen') return (await import('../../../gegevens/store/proof.ts')).storedDeliveries(db, writer);
  const { storedVersions } = await import('../../../verwerkingenlog/store/proof.ts');
  const { openIdentityKeys } = await import('../../../verwerkingenlog/store/keys.ts');
  return storedVersions(db, writer, await openIdentityKeys(pool, config.verwerkingenlog.key, 'read'));
}
