import { Command } from 'commander';
import { CommandError, runCommand } from './run-command.ts';

export function logRotateKeyCommand(): Command {
  return new Command('rotate-key')
    .description('encrypt with the first key of VERWERKINGENLOG_KEY what was kept with another one, or with none')
    .option('--json', 'one machine-readable result')
    .addHelpText(
      'after',
      `
The service goes on meanwhile. In this order: give every instance the new key behind the old one; then put it in front, everywhere;
then run this until nothing is left; then take the old key away.

Example:
  $ VERWERKINGENLOG_KEY=new:…,old:… koppelvlak log rotate-key`,
    )
    .action((options: { json?: boolean }) =>
      runCommand({ ...options, role: 'retention' }, async ({ platform, output, interrupted }) => {
        const { rotateKeys } = await import('../verwerkingenlog/store/rotate-keys.ts');
        const { createIdentityKeys } = await import('../verwerkingenlog/domain/identity-keys.ts');
        const keys = createIdentityKeys(platform.config.verwerkingenlog.key);
        if (keys.current === null) throw new CommandError('VERWERKINGENLOG_KEY is not set');
        const rewritten = await rotateKeys({
          pool: platform.prunePool,
          keys,
          signal: interrupted,
          progress: (versions, month) => output.progress(`${versions} versions, at month ${month}`),
        });
        output.result({ key: keys.current, rewritten }, () => {
          output.line(`${rewritten} versions rewritten with key ${keys.current}.`);
        });
      }),
    );
}
