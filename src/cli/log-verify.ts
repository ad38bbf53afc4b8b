import { Command } from 'commander';
import type { Terminal } from '../kernel/terminal.ts';
import type { LogFault } from '../verwerkingenlog/store/verify.ts';
import { table } from './output.ts';
import { CommandError, runCommand } from './run-command.ts';

const SHOWN = 50;

export function logVerifyCommand(terminal: Terminal): Command {
  return new Command('verify')
    .description('check on the stored data what the log promises')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak log verify')
    .action((options: { json?: boolean }) =>
      runCommand(terminal, { ...options, role: 'retention' }, async ({ platform, output, interrupted }) => {
        const { verifyLog } = await import('../verwerkingenlog/store/verify.ts');
        const { openIdentityKeys } = await import('../verwerkingenlog/store/keys.ts');
        let versions = 0;
        const faults: LogFault[] = [];
        const found = verifyLog(platform.prunePool, {
          keys: await openIdentityKeys(platform.prunePool, platform.config.verwerkingenlog.key, 'read'),
          signal: interrupted,
          progress: (seen, month) => {
            versions = seen;
            output.progress(`${seen} versions, at month ${month}`);
          },
        });
        for await (const fault of found) faults.push(fault);
        output.result({ versions, faults }, () => {
          const rows = faults.slice(0, SHOWN).map(({ actieId, fault }) => [actieId, fault]);
          if (rows.length > 0) output.line(table(['action', 'fault'], rows));
          output.line(`${versions} versions checked, ${faults.length} faults.`);
        });
        if (faults.length > 0) throw new CommandError(`the log has ${faults.length} faults`);
      }),
    );
}
