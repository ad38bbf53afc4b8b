import { Command, InvalidArgumentError } from 'commander';
import type { Terminal } from '../kernel/terminal.ts';
import { table } from './output.ts';
import { CommandError, runCommand } from './run-command.ts';

export function logHistoryCommand(terminal: Terminal): Command {
  return new Command('history')
    .description('every version of one action: what it said, since when, who made it')
    .argument('<actieId>', 'identity of the action', parseUuid)
    .option('--identifiers', 'show persons’ identifiers instead of hiding them')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak log history 0198c0de-7c1e-7aa0-9b1c-3d5e7f900000')
    .action((actieId: string, options: { identifiers?: boolean; json?: boolean }) =>
      runCommand(terminal, options, async ({ platform, output }) => {
        const { isOrganisation, readHistory, reveal } = await import('../verwerkingenlog/store/versions.ts');
        const { openIdentityKeys } = await import('../verwerkingenlog/store/keys.ts');
        const keys = await openIdentityKeys(platform.pool, platform.config.verwerkingenlog.key, 'read');
        const stored = await readHistory(platform.pool, actieId);
        if (stored.length === 0) throw new CommandError(`the log has no action ${actieId}`);
        const isHidden = ({ soortAfnemerId: kind, afnemerId: id }: (typeof stored)[number]): boolean =>
          id !== null && !isOrganisation(kind, id);
        const hide = options.identifiers !== true;
        const versions = stored.map((row) => {
          const { sleutelnaam, ...plain } = row;
          const versie = hide
            ? { ...plain, objecten: row.objecten.map(({ nr, soort }) => ({ nr, soort })) }
            : reveal(row, keys);
          return { ...versie, ...(hide && isHidden(row) ? { afnemerId: '(hidden)' } : {}) };
        });
        output.result(versions, () => {
          for (const [i, versie] of versions.entries()) {
            const before = versions[i - 1];
            const changed = Object.entries(versie)
              .map(([name, value]) => [name, text(value)] as const)
              .filter(
                ([name, value]) =>
                  before === undefined || text(Object.entries(before).find(([key]) => key === name)?.[1]) !== value,
              );
            output.line(`${i === 0 ? '' : '\n'}Version ${versie.versie}`);
            output.line(table([i === 0 ? 'member' : 'changed', 'value'], changed));
          }
        });
      }),
    );
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

function parseUuid(value: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value)) throw new InvalidArgumentError('It is not a UUID.');
  return value.toLowerCase();
}
