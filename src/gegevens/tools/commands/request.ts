import { Command, Option } from 'commander';
import { runTool, type ToolContext } from '../../../commands/run-command.ts';
import { UsageError } from '../../../lib/command-error.ts';
import type { Terminal } from '../../../lib/terminal.ts';
import { tokenOptions } from '../../../lib/token-options.ts';
import type { DeliveredPage } from '../requester/request-delivery.ts';
import { wholeNumber } from './options.ts';
import { type RequestOptions, requestFrom } from './request-from.ts';

const EXAMPLE = `
Signs with the key of GEGEVENS_SIGNING_KEY and GEGEVENS_SIGNING_CHAIN, trusts the roots in
GEGEVENS_TRUST_ANCHORS and checks revocation as the service does.

Through an Outway no token is needed: the Outway adds it. Each request gets an Fsc-Transaction-Id of its own. The path is that of --outway;
when that has none, of <url>, else of this service's own mount. With --keep and --resume a request that was broken off continues after the
last page that was kept.

With --suppliers the exit status is 1 when one of them failed; run it again with --resume for those.

Examples:
  $ koppelvlak gegevens request --outway http://127.0.0.1:8443/shv/v1/gegevens --grant-hash '$1$4$…' --variant shv \\
      --keep bewijs/ --resume --out shv.json
  $ koppelvlak gegevens request https://inway.example/shv/v1/gegevens --variant shv \\
      --token-url https://auth.example/token --client-id statistiek --client-secret-file secret.txt --out shv.json`;

const MAX_AT_ONCE = 32;
const MAX_PAGE_SIZE = 999_999_999;

export function requestCommand(terminal: Terminal): Command {
  const command = new Command('request')
    .description('request a delivery from a supplier: sign, follow the pages, check everything')
    .argument('[url]', 'address of `gegevens` of any supplier; with --outway only its path counts')
    .addOption(new Option('--variant <variant>', 'exchange model').choices(['shv', 'vs']))
    .option('--model <version>', 'the model of the answer: a built-in version, or the path of a schema')
    .option('--start <date>', '`aanleverperiodeStartdatum`')
    .option('--end <date>', '`aanleverperiodeEinddatum`')
    .option('--organisation <name>', '`aanleverende_organisatie`')
    .option('--page-size <number>', 'records per page', wholeNumber(1, MAX_PAGE_SIZE))
    .addOption(new Option('--form <form>', 'form of the signature').choices(['digest', 'body']).default('digest'));
  return tokenOptions(command)
    .option('--outway <url>', 'send through this Outway, which adds the token')
    .option('--grant-hash <hash>', 'the grant by which the Outway finds the service')
    .option('--out <file>', 'write all pages together, as a file of the exchange model')
    .option('--keep <directory>', 'keep every answer as received, with its headers and the request')
    .option('--resume', 'continue after the pages that an earlier run kept in --keep')
    .option(
      '--suppliers <file>',
      'request from each line: address or grant hash, variant, model; --keep and --out are directories',
    )
    .option('--at-once <number>', 'suppliers at the same time', wholeNumber(1, MAX_AT_ONCE), 4)
    .option('--json', 'one machine-readable result')
    .addHelpText('after', EXAMPLE)
    .action((url: string | undefined, options: RequestOptions) =>
      runTool(terminal, options, (context) => requestAll(context, url, options)),
    );
}

async function requestAll(context: ToolContext, named: string | undefined, options: RequestOptions): Promise<void> {
  if (options.resume && options.keep === undefined) throw new UsageError('--resume needs --keep: where the pages are');
  if (options.suppliers !== undefined) {
    if (named !== undefined) throw new UsageError('give an address or --suppliers, not both');
    const { requestSuppliers } = await import('./request-suppliers.ts');
    await requestSuppliers(context, options.suppliers, options);
    return;
  }
  const { variant } = options;
  if (variant === undefined) throw new UsageError('--variant is needed: shv or vs');
  const { output, config } = context;
  const { openRequester } = await import('../requester/request-delivery.ts');
  const requester = await openRequester(config);
  const pages: object[] = [];
  try {
    const { url, records, leveringen } = await requestFrom(named, {
      context,
      requester,
      options: { ...options, variant },
      tell: output.progress,
      onPage: (page) => pages.push(summary(page)),
    });
    output.result({ url, records, pages }, () => {
      output.line(
        `${pages.length} page(s); every digest, signature and certificate is valid, and everything fits the model`,
      );
      if (records === 0) output.line(`nothing was delivered: ${leveringen} levering(en) without records`);
      if (options.out !== undefined) output.line(`written to ${options.out}`);
    });
  } finally {
    await requester.close();
  }
}

function summary({ page, records, paginering, verified, answered, request }: DeliveredPage): object {
  const { digest, style, oin } = verified;
  return {
    page,
    records,
    paginering,
    bytes: answered.body.length,
    digest,
    form: style.form,
    transactionId: answered.transactionId,
    ...(request === undefined ? { kept: true } : {}),
    signer: { oin },
  };
}
