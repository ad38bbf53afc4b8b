import { Command, InvalidArgumentError } from 'commander';
import type { Variant } from '../../gegevens/domain/model/mapping.ts';
import type { Journalled } from '../../gegevens/store/read-journal.ts';
import type { Terminal } from '../../kernel/terminal.ts';
import { table } from '../output.ts';
import { CommandError, runCommand } from '../run-command.ts';
import { parseId, parseMoment, variantOption } from './options.ts';

interface JournalOptions {
  readonly variant?: Variant;
  readonly oin?: string;
  readonly since?: Date;
  readonly limit: number;
  readonly json?: boolean;
}

export function journalCommand(terminal: Terminal): Command {
  return new Command('journal')
    .description('what was asked and delivered, newest first; with a number: one entry with its signatures')
    .argument('[id]', 'number of an entry', parseId)
    .addOption(variantOption())
    .option('--oin <oin>', 'only what this requester asked')
    .option('--since <date>', 'only from this day or moment on', parseMoment)
    .option('--limit <number>', 'most entries', parseLimit, 50)
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak gegevens journal --since 2026-04-01 --json')
    .action((id: number | undefined, options: JournalOptions) =>
      runCommand(terminal, options, async ({ platform, output }) => {
        const { readJournal } = await import('../../gegevens/store/read-journal.ts');
        const entries = await readJournal(platform.pool, { ...options, id });
        const [first] = entries;
        if (id !== undefined && first === undefined) throw new CommandError(`there is no entry ${id}`);
        output.result(id === undefined ? { entries } : first, () => {
          if (id !== undefined && first !== undefined) output.line(whole(first));
          else output.line(entries.length === 0 ? 'Nothing was delivered.' : overview(entries));
        });
      }),
    );
}

function overview(entries: readonly Journalled[]): string {
  const head = ['id', 'ready', 'sent', 'variant', 'requester', 'asked', 'page', 'records', 'bytes', 'digest'];
  const rows = entries.map((entry) => [
    String(entry.id),
    entry.klaargezetOp.toISOString(),
    entry.verzondenOp?.toISOString() ?? 'no',
    entry.variant,
    entry.oin ?? entry.subject,
    entry.vraag.replaceAll(/\s+/g, ' ').slice(0, 60),
    String(entry.pagina),
    String(entry.records),
    String(entry.bytes),
    entry.antwoordDigest,
  ]);
  return table(head, rows);
}

function whole(entry: Journalled): string {
  return Object.entries(entry)
    .map(([name, value]) => {
      const shown =
        value instanceof Date ? value.toISOString() : Array.isArray(value) ? listText(value) : (value ?? '-');
      return `${name.padEnd(20)} ${shown}`;
    })
    .join('\n');
}

function listText(list: readonly unknown[]): string {
  return list.map((item) => (typeof item === 'object' ? JSON.stringify(item) : String(item))).join(', ');
}

function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError('A number from 1 to 99999 is expected.');
  return Number(text);
}
