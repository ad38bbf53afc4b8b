import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { commandWithResult, runCommand } from '../commands/run-command.ts';
import { CommandError, UsageError } from '../lib/command-error.ts';
import { VERWIJDERREDENEN, type Verwijderreden } from '../lib/feed/record.ts';
import { isResourceType, type NamedResource, RESOURCE_TYPES, resourceKey } from '../lib/feed/resource.ts';
import { createProgress } from '../lib/output.ts';
import type { Terminal } from '../lib/terminal.ts';
import { isDay } from '../lib/time.ts';
import { feedFollowCommand } from './aggregator/commands/follow.ts';
import { bronCommand } from './aggregator/commands.ts';
import { feedPublishCommand, feedSyncCommand, parseOrganisatie } from './commands/publish.ts';
import { registerCommand } from './commands/register.ts';
import { diwooCommand } from './diwoo/commands.ts';
import type { Removal } from './domain/change.ts';

export function raadsfeedCommands(terminal: Terminal): Command[] {
  return [feedCommand(terminal), registerCommand(terminal), bronCommand(terminal), diwooCommand(terminal)];
}

function feedCommand(terminal: Terminal): Command {
  return new Command('feed')
    .description('publish to the council feed, maintain it')
    .addCommand(feedPublishCommand(terminal))
    .addCommand(feedSyncCommand(terminal))
    .addCommand(feedRedactCommand(terminal))
    .addCommand(feedPruneCommand(terminal))
    .addCommand(feedVerifyCommand(terminal))
    .addCommand(feedFollowCommand(terminal));
}

interface RedactOptions {
  readonly resource: NamedResource[];
  readonly reden: Verwijderreden;
  readonly toelichting?: string;
  readonly json?: boolean;
}

/** How long a feature may take to follow the feed. */
const WAIT_SECONDS = 60;

function feedRedactCommand(terminal: Terminal): Command {
  return commandWithResult(
    'redact',
    'remove the content of a resource from the whole history, permanently',
    'feed redact --resource gm0363/Informatieobject/doc-1 --reden persoonsgegevens',
  )
    .requiredOption(
      '--resource <organisatiecode/resourceType/bronidentificatie>',
      'the resource; may be given more than once',
      collectResources,
    )
    .addOption(new Option('--reden <reden>', 'verwijderreden').choices(VERWIJDERREDENEN).makeOptionMandatory())
    .option('--toelichting <text>', 'toelichting; needed with overig')
    .action((options: RedactOptions) =>
      runCommand(terminal, { ...options, changes: true }, async ({ database, clock, proof, output, interrupted }) => {
        const { reden: verwijderreden, toelichting } = options;
        if (verwijderreden === 'overig' && (toelichting ?? '') === '')
          throw new UsageError('--reden overig needs --toelichting');
        if (toelichting !== undefined && !/^[^\0]{1,2000}$/s.test(toelichting))
          throw new UsageError('--toelichting must have 1 to 2000 characters');
        const { createPublisher } = await import('./writer/publisher.ts');
        const { rewriteContentTables } = await import('./store/text-partitions.ts');
        const { vacuumFeed } = await import('./store/owner-files.ts');
        const changes = options.resource.map(
          (named): Removal => ({ op: 'redact', ...named, verwijderreden, toelichting }),
        );
        const outcomes = await createPublisher({ pool: database.pool, clock, proof }).publish(changes);
        await vacuumFeed(database.ownerUrl);
        let waiting = await rewriteContentTables(database.pool);
        for (let waited = 0; waiting.length > 0 && waited < WAIT_SECONDS; waited += 1) {
          await sleep(1000, undefined, { signal: interrupted });
          waiting = await rewriteContentTables(database.pool);
        }
        const results = changes.map((change, i) => {
          const outcome = outcomes[i] ?? 'no-op';
          const { recorded: sequenceNumber = null, redacted = [] } = outcome === 'no-op' ? {} : outcome;
          return { resource: resourceKey(change), sequenceNumber, geredigeerdeSequenceNumbers: redacted };
        });
        output.result(results, () => {
          for (const { resource, sequenceNumber, geredigeerdeSequenceNumbers } of results) {
            output.line(
              sequenceNumber === null
                ? `${resource}: the feed holds no content of it.`
                : `${resource}: redacted as ${sequenceNumber}; content gone from ${geredigeerdeSequenceNumbers.join(', ')}.`,
            );
          }
          output.line(
            waiting.length === 0
              ? 'No table or index holds the content any more.'
              : `Files of ${waiting.join(', ')} may still hold it: no server follows the feed there. Start one with the extension on; it is rewritten within a minute.`,
          );
        });
      }),
    );
}

function feedPruneCommand(terminal: Terminal): Command {
  return commandWithResult(
    'prune',
    'drop history stored before a date or time; the current state stays',
    'feed prune --before 2021-01-01',
  )
    .requiredOption('--before <moment>', 'a day (UTC) or a time with its zone', parseMoment)
    .action(({ before, ...options }: { before: Date; json?: boolean }) =>
      runCommand(terminal, { ...options, changes: true }, async (context) => {
        const { config, clock, proof, output, interrupted } = context;
        const { pool } = context.database;
        if (before > clock.now())
          throw new UsageError('--before is in the future: give a date or time that has passed');
        const { pruneGraceMs, pruneHistory } = await import('./store/prune.ts');
        const { rewritePartitions } = await import('./store/text-partitions.ts');
        const { requireProofWriter } = await import('../proof/proof-log.ts');
        const pruned = await pruneHistory(pool, {
          proof: await requireProofWriter(pool, 'raadsfeed', proof),
          before,
          graceMs: pruneGraceMs(config.database.statementTimeoutMs),
          signal: interrupted,
          progress: (done, of) => output.progress(`${done} of ${of} numbers`),
        });
        await rewritePartitions(pool);
        output.result(pruned, () => {
          output.line(`${pruned.removed} records removed; the history begins after number ${pruned.upTo}.`);
        });
      }),
    );
}

function feedVerifyCommand(terminal: Terminal): Command {
  return commandWithResult('verify', 'check the stored data against the promises of the feed', 'feed verify')
    .option('--files', 'also find files of the database that a crash left behind; needs the login of its owner')
    .action((options: { files?: boolean; json?: boolean }) =>
      runCommand(terminal, options, async ({ database, clock, output, interrupted }) => {
        const { verifyFeed } = await import('./verify/verify-feed.ts');
        const progress = createProgress(terminal, 'checked', undefined);
        const { findOrphanFiles } = await import('./store/owner-files.ts');
        const how = { clock, signal: interrupted, progress: (number: number) => progress.update(number) };
        const verified = await verifyFeed(database.pool, how);
        progress.end();
        const files = options.files === true ? await findOrphanFiles(database.ownerUrl) : [];
        const result = { ...verified, ...(options.files === true && { files }) };
        output.result(result, () => {
          for (const { sequenceNumber, fault } of result.faults) {
            output.line(sequenceNumber === undefined ? fault : `${sequenceNumber}: ${fault}`);
          }
          output.line(
            `${result.records} records, ${result.resources} resources, head ${result.head}: ${result.faultCount} faults.`,
          );
          for (const { path, bytes } of files) output.line(`${path}: ${bytes} bytes that belong to no relation`);
        });
        if (result.faultCount > 0) throw new CommandError(`${result.faultCount} promises are broken.`);
        if (files.length > 0) {
          throw new CommandError(
            `${files.length} files of the database belong to no relation and may hold what was redacted: see docs/runbook.md, "Files without a relation"`,
          );
        }
      }),
    );
}

/** `gm0363/Informatieobject/doc-1`: everything after the second slash is the identification, including slashes. */
function collectResources(text: string, before: readonly NamedResource[] = []): NamedResource[] {
  const [code = '', resourceType, ...rest] = text.split('/');
  const bronidentificatie = rest.join('/');
  const organisatiecode = parseOrganisatie(code);
  if (!isResourceType(resourceType)) {
    throw new InvalidArgumentError(`After the code comes one of ${RESOURCE_TYPES.join(', ')}.`);
  }
  if (bronidentificatie === '') throw new InvalidArgumentError('After the second slash comes the bronidentificatie.');
  return [...before, { resourceType, resource: { organisatiecode, bronidentificatie } }];
}

/** A date, or a time with a time zone; 30 February would be read as a day in March. */
function parseMoment(text: string): Date {
  const isWritten = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text);
  const moment = new Date(text);
  if (!isWritten || Number.isNaN(moment.getTime()) || !isDay(text.slice(0, 10))) {
    throw new InvalidArgumentError('Give a date (2026-01-31, UTC) or a time with its zone (2026-01-31T12:00:00Z).');
  }
  return moment;
}
