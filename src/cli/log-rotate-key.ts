import { Command } from 'commander';
import type { Terminal } from '../kernel/terminal.ts';
import { table } from './output.ts';
import { CommandError, runCommand } from './run-command.ts';

const SHOWN = 50;

export function logRotateKeyCommand(terminal: Terminal): Command {
  return new Command('rotate-key')
    .description('encrypt with the first key of VERWERKINGENLOG_KEY what was kept with another one, or with none')
    .option('--json', 'one machine-readable result')
    .addHelpText(
      'after',
      `
The service goes on meanwhile. In this order: give every instance the new key behind the old one; then put it in front, everywhere;
then run this; then take the old key away. An entry that no key can read is named and left as it is.

Example:
  $ VERWERKINGENLOG_KEY=new:…,old:… koppelvlak log rotate-key`,
    )
    .action((options: { json?: boolean }) =>
      runCommand(terminal, { ...options, role: 'retention' }, async ({ platform, output, interrupted }) => {
        const { rotateKeys } = await import('../verwerkingenlog/store/keys.ts');
        const { openIdentityKeys } = await import('../verwerkingenlog/store/keys.ts');
        const { key } = platform.config.verwerkingenlog;
        if (key === undefined) throw new CommandError('VERWERKINGENLOG_KEY is not set');
        const keys = await openIdentityKeys(platform.prunePool, key, 'write');
        const { rewritten, unreadable, forgotten } = await rotateKeys({
          pool: platform.prunePool,
          keys,
          signal: interrupted,
          progress: (versions, month) => output.progress(`${versions} versions, at month ${month}`),
        });
        output.result({ key: keys.current, rewritten, unreadable, forgotten }, () => {
          const rows = unreadable
            .slice(0, SHOWN)
            .map((one) => [one.actieId, String(one.versie), one.key ?? '-', one.reason]);
          if (rows.length > 0) output.line(table(['action', 'version', 'key', 'fault'], rows));
          output.line(`${rewritten} versions rewritten with key ${keys.current}.`);
          if (forgotten.length > 0) output.line(`No longer needed: ${forgotten.join(', ')}.`);
        });
        if (unreadable.length > 0) throw new CommandError(`${unreadable.length} versions could not be read`);
      }),
    );
}
