import { Command, Option } from 'commander';
import type { Terminal } from '../kernel/terminal.ts';
import { type Removal, VERWIJDERREDENEN, type Verwijderreden } from '../raadsfeed/domain/change.ts';
import { collectResources, type NamedResource, requireToelichting } from './feed-options.ts';
import { runCommand } from './run-command.ts';

interface RedactOptions {
  readonly resource: NamedResource[];
  readonly reden: Verwijderreden;
  readonly toelichting?: string;
  readonly json?: boolean;
}

export function feedRedactCommand(terminal: Terminal): Command {
  return new Command('redact')
    .description('take the content of a resource out of the whole history, for good')
    .requiredOption(
      '--resource <organisatiecode/resourceType/bronidentificatie>',
      'the resource; may be given more than once',
      collectResources,
    )
    .addOption(new Option('--reden <reden>', 'verwijderreden').choices(VERWIJDERREDENEN).makeOptionMandatory())
    .option('--toelichting <text>', 'toelichting; needed with overig')
    .option('--json', 'one machine-readable result')
    .addHelpText(
      'after',
      '\nExample:\n  $ koppelvlak feed redact --resource gm0363/Informatieobject/doc-1 --reden persoonsgegevens',
    )
    .action((options: RedactOptions) =>
      runCommand(terminal, options, async ({ platform, ownerUrl, output }) => {
        const { reden: verwijderreden, toelichting } = options;
        requireToelichting(verwijderreden, toelichting);
        const { createPublisher } = await import('../raadsfeed/writer/publisher.ts');
        const { vacuumFeed } = await import('../raadsfeed/store/vacuum-feed.ts');
        const changes = options.resource.map(
          (named): Removal => ({ op: 'redact', ...named, verwijderreden, toelichting }),
        );
        const outcomes = await createPublisher(platform).publish(changes);
        await vacuumFeed(ownerUrl);
        const results = changes.map(({ resourceType, resource }, i) => {
          const outcome = outcomes[i] ?? 'no-op';
          const name = `${resource.organisatiecode}/${resourceType}/${resource.bronidentificatie}`;
          return outcome === 'no-op'
            ? { resource: name, sequenceNumber: null, geredigeerdeSequenceNumbers: [] }
            : { resource: name, sequenceNumber: outcome.recorded, geredigeerdeSequenceNumbers: outcome.redacted ?? [] };
        });
        output.result(results, () => {
          for (const { resource, sequenceNumber, geredigeerdeSequenceNumbers } of results) {
            output.line(
              sequenceNumber === null
                ? `${resource}: nothing in the feed holds content of it.`
                : `${resource}: redacted as ${sequenceNumber}; content gone from ${geredigeerdeSequenceNumbers.join(', ')}.`,
            );
          }
        });
      }),
    );
}
