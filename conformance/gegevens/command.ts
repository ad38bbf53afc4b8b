import { Command, Option } from 'commander';
import type { Terminal } from '../../src/lib/terminal.ts';
import { tokenOptions } from '../../src/lib/token-options.ts';
import { suiteCommand, suiteOptions } from '../commands/test-suite.ts';
import type { GegevensOptions } from '../commands/test-supplier.ts';

const EXAMPLE = `
Sends requests as a statistics office does, and changes nothing except a supplier's record of requests. No answer is shown or reported.

--tokens names a JSON file of tokens that must be refused: \`expired\`, \`without-scope\`, \`other-group\`, \`other-service\`. Cases
without their token are skipped, as are those for --revoked and --expired: key and chain (PEM) of a certificate that is no longer valid.

Examples:
  $ koppelvlak-conformance gegevens https://inway.example/shv/v1/gegevens --variant shv --key key.pem --chain chain.pem --trust root.pem \\
      --token-url https://auth.example/token --client-id statistiek --client-secret-file secret.txt --report verslag/
  $ koppelvlak-conformance gegevens /vs/v1/gegevens --variant vs --outway http://127.0.0.1:8443 --grant-hash '$1$4$…' \\
      --key key.pem --chain chain.pem --trust root.pem`;
const suite = async () => (await import('./suite.ts')).GEGEVENS;

export function gegevensCommand(terminal: Terminal): Command {
  const command = suiteOptions(new Command('gegevens'))
    .description('test a supplier of data (SHV or VS)')
    .argument('[url]', 'address of `gegevens`; with --outway only its path counts')
    .addOption(new Option('--variant <variant>', 'exchange model').choices(['shv', 'vs']))
    .option('--model <version>', 'model that it must follow: a built-in version, or the path of a schema')
    .option('--key <file>', 'private key to sign requests with (PEM)')
    .option('--chain <file>', 'its certificate chain (PEM)')
    .option('--trust <file>', "root certificates of the supplier's chain (PEM)")
    .option('--revoked <files...>', 'key and chain of a revoked certificate')
    .option('--expired <files...>', 'key and chain of an expired certificate')
    .option('--client-key <file>', 'private key of the client, instead of its secret (`private_key_jwt`)')
    .option('--tokens <file>', 'tokens that must be refused, by name')
    .option('--outway <url>', 'send through this Outway, which adds the token')
    .option('--grant-hash <hash>', 'grant by which the Outway finds the service');
  return tokenOptions(command)
    .addHelpText('after', EXAMPLE)
    .action((url: string | undefined, options: GegevensOptions) =>
      suiteCommand(terminal, options, suite, async (context) =>
        (await import('../commands/test-supplier.ts')).testSupplier(context, url, options),
      ),
    );
}
