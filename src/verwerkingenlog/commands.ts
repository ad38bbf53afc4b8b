import { Command, InvalidArgumentError } from 'commander';
import { runCommand } from '../commands/run-command.ts';
import { CommandError, UsageError } from '../lib/command-error.ts';
import { counted, table, written } from '../lib/output.ts';
import { isUuid } from '../lib/patterns.ts';
import type { Terminal } from '../lib/terminal.ts';
import { DATE_TIME, isDay, toUtc } from '../lib/time.ts';
import { logForwardIssuesCommand } from './ldv/commands.ts';
import type { LogFault } from './store/verify.ts';

export function verwerkingenlogCommand(terminal: Terminal): Command {
  return new Command('log')
    .description('inspect the processing log, prune it, check it')
    .addCommand(logHistoryCommand(terminal))
    .addCommand(logExportCommand(terminal))
    .addCommand(logPruneCommand(terminal))
    .addCommand(logVerifyCommand(terminal))
    .addCommand(logRotateKeyCommand(terminal))
    .addCommand(logForwardIssuesCommand(terminal));
}

function logHistoryCommand(terminal: Terminal): Command {
  return new Command('history')
    .description('every version of one action: content, time and author')
    .argument('<actieId>', 'identity of the action', parseUuid)
    .option('--identifiers', 'show persons’ identifiers instead of hiding them')
    .option('--proof', 'all parts of each version in clear, with its proof, as one machine-readable result')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak log history 0198c0de-7c1e-7aa0-9b1c-3d5e7f900000')
    .action((actieId: string, options: { identifiers?: boolean; proof?: boolean; json?: boolean }) =>
      runCommand(terminal, options, async ({ database, config, proof, output }) => {
        const { hideIdentifiers, reveal } = await import('./domain/encryption.ts');
        const { readHistory } = await import('./store/versions.ts');
        const { openIdentityKeys } = await import('./store/keys.ts');
        const keys = await openIdentityKeys(database.pool, config, 'read');
        const stored = await readHistory(database.pool, actieId);
        if (stored.length === 0) throw new CommandError(`the log has no action ${actieId}`);
        if (options.proof === true) {
          const { provenVersions } = await import('./store/proof.ts');
          const writer = proof('verwerkingen', 'kept');
          if (writer === undefined) throw new CommandError('the proof log verwerkingen is not kept: see PROOF_KEY');
          const proven = await provenVersions(database.pool, writer, stored, keys);
          output.result(proven, () => output.line(JSON.stringify(proven, undefined, 2)));
          return;
        }
        const versions = await Promise.all(
          stored.map((row) => (options.identifiers === true ? reveal(row, keys) : hideIdentifiers(row))),
        );
        output.result(versions, () => {
          for (const { versie, ...members } of versions) {
            const rows = Object.entries(members).map(([name, value]) => [name, text(value)]);
            output.line(`Version ${versie}`);
            output.line(table(['member', 'value'], rows));
          }
        });
      }),
    );
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

interface ExportOptions {
  readonly from: string;
  readonly to: string;
  readonly activity?: string;
  readonly processing?: string;
  readonly history?: boolean;
}

function logExportCommand(terminal: Terminal): Command {
  return new Command('export')
    .description(
      'actions as lines of NDJSON, in the order in which they were first logged; the log keeps an entry about it',
    )
    .requiredOption('--from <moment>', 'performed (tijdstip) at or after this date or time', parseMoment)
    .requiredOption('--to <moment>', 'performed (tijdstip) before this date or time', parseMoment)
    .option('--activity <id>', 'only of this verwerkingsactiviteitId', parseUuid)
    .option('--processing <id>', 'only of this verwerkingId', parseUuid)
    .option('--history', 'every version of actions with a selected version, deletions too, with its author')
    .addHelpText(
      'after',
      `
The lines hold persons' identifiers, and confidential actions too. A day is its midnight in the Netherlands.

Example:
  $ koppelvlak log export --from 2026-01-01 --to 2026-04-01 > quarter.ndjson`,
    )
    .action(({ from, to, activity, processing, history = false }: ExportOptions) =>
      runCommand(terminal, {}, async (context) => {
        const { config, interrupted: signal } = context;
        if (Date.parse(from) > Date.parse(to)) throw new UsageError('--to must not be before --from');
        const { exportLines } = await import('./export.ts');
        const { createForwardQueue } = await import('./ldv/store/forward-queue.ts');
        const selection = { from, to, verwerkingsactiviteitId: activity, verwerkingId: processing, history };
        const by = terminal.env.USER ? `log export (${terminal.env.USER})` : 'log export';
        const lines = exportLines(context, createForwardQueue(config.ldvOut), selection, { by, signal });
        for await (const line of lines) await written(terminal.stdout, line, signal);
      }),
    );
}

const SHOWN = 50;

function logVerifyCommand(terminal: Terminal): Command {
  return new Command('verify')
    .description('check the stored data against the promises of the log')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak log verify')
    .action((options: { json?: boolean }) =>
      runCommand(terminal, { ...options, role: 'retention' }, async ({ database, config, output, interrupted }) => {
        const { verifyLog } = await import('./store/verify.ts');
        const { openIdentityKeys } = await import('./store/keys.ts');
        const { keyOfLine } = await import('./ldv/store/line-keys.ts');
        let versions = 0;
        const found = verifyLog(database.retentionPool, {
          keys: await openIdentityKeys(database.retentionPool, config, 'read'),
          keyOfLine,
          signal: interrupted,
          progress: (seen, month) => {
            versions = seen;
            output.progress(`${seen} versions, at month ${month}`);
          },
        });
        const faults: LogFault[] = [];
        for await (const fault of found) faults.push(fault);
        output.result({ versions, faults }, () => {
          const rows = faults.slice(0, SHOWN).map(({ actieId, fault }) => [actieId, fault]);
          if (rows.length > 0) output.line(table(['action', 'fault'], rows));
          output.line(`${counted(versions, 'version')} checked, ${counted(faults.length, 'fault')}.`);
        });
        if (faults.length > 0) throw new CommandError(`the log has ${counted(faults.length, 'fault')}`);
      }),
    );
}

function logPruneCommand(terminal: Terminal): Command {
  return new Command('prune')
    .description('remove actions whose retention term, minimum and grace have passed; without a term they are kept')
    .option('--dry-run', 'only count them')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak log prune --dry-run')
    .action((options: { dryRun?: boolean; json?: boolean }) =>
      runCommand(
        terminal,
        { ...options, role: 'retention', changes: true },
        async ({ database, config, clock, proof, output, interrupted }) => {
          const { prune } = await import('./store/retention.ts');
          const { requireProofWriter } = await import('../proof/proof-log.ts');
          const { dryRun = false } = options;
          const pool = database.retentionPool;
          const result = await prune({
            pool,
            clock,
            dryRun,
            proof: await requireProofWriter(pool, 'verwerkingen', proof),
            rules: config.verwerkingenlog,
            signal: interrupted,
            progress: (removed, month) => output.progress(`${removed} actions, at month ${month}`),
          });
          output.result({ dryRun, ...result }, () => {
            const months = Object.entries(result.byMonth).map(([month, count]) => [month, String(count)]);
            if (months.length > 0) output.line(table(['month', 'actions'], months));
            output.line(`${counted(result.removed, 'action')} ${dryRun ? 'would be removed' : 'removed'}.`);
            if (result.withoutTerm > 0)
              output.line(`Without a term, and kept: ${counted(result.withoutTerm, 'action')}.`);
            if (result.droppedMonths.length > 0)
              output.line(`Empty months dropped: ${result.droppedMonths.join(', ')}.`);
          });
        },
      ),
    );
}

function logRotateKeyCommand(terminal: Terminal): Command {
  return new Command('rotate-key')
    .description('re-encrypt everything that has another key with the first key of VERWERKINGENLOG_KEY')
    .option('--json', 'one machine-readable result')
    .addHelpText(
      'after',
      `
The service keeps running. The order: add the new key after the old one on every instance; then put it first, on every instance;
run this command; then remove the old key, a day later if this command says so. An entry that no key can read is named and left as it is.

Example:
  $ VERWERKINGENLOG_KEY=new:…,old:… koppelvlak log rotate-key`,
    )
    .action((options: { json?: boolean }) =>
      runCommand(
        terminal,
        { ...options, role: 'retention', changes: true },
        async ({ database, config, output, interrupted }) => {
          const { openIdentityKeys } = await import('./store/keys.ts');
          const { rotateKeys } = await import('./store/rotate.ts');
          const { keyOfLine } = await import('./ldv/store/line-keys.ts');
          const pool = database.retentionPool;
          const keys = await openIdentityKeys(pool, config, 'write');
          const { rewritten, unreadable, forgotten, keptUntil, inUse } = await rotateKeys({
            pool,
            keys,
            keyOfLine,
            signal: interrupted,
            progress: (versions, month) => output.progress(`${versions} versions, at month ${month}`),
          });
          output.result({ key: keys.current, rewritten, unreadable, forgotten, keptUntil, inUse }, () => {
            const rows = unreadable.slice(0, SHOWN).map((one) => [one.actieId, `${one.versie}`, one.key, one.reason]);
            if (rows.length > 0) output.line(table(['action', 'version', 'key', 'fault'], rows));
            output.line(`${counted(rewritten, 'version')} rewritten with key ${keys.current}.`);
            if (forgotten.length > 0) output.line(`No longer needed: ${forgotten.join(', ')}.`);
            for (const { key: name, until } of keptUntil)
              output.line(`Keep ${name} until ${until}: idempotency keys of the last 24 hours are hashed with it.`);
          });
          if (inUse.length > 0) {
            throw new CommandError(
              `still needed: ${inUse.join(', ')}. An instance of the service that was seen in the last minute writes with it, or has no other
key. Put ${keys.current} first on every instance, start it again, and repeat this command after a minute`,
            );
          }
          if (unreadable.length > 0)
            throw new CommandError(`${counted(unreadable.length, 'version')} could not be read`);
        },
      ),
    );
}

function parseUuid(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError('It is not a UUID.');
  return text.toLowerCase();
}

/** A day is its midnight in the Netherlands. @returns a UTC text */
function parseMoment(text: string): string {
  const utc = isDay(DATE_TIME.test(text) ? text.slice(0, 10) : text) ? toUtc(text) : undefined;
  if (utc === undefined) {
    throw new InvalidArgumentError('Expected a date (2026-03-31) or a time with its offset (2026-03-31T12:00:00Z).');
  }
  return utc;
}
