import { open } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { Command, InvalidArgumentError, Option } from 'commander';
import { CommandError, OUTPUT_CLOSED, runTool, type ToolContext, UsageError } from '../../cli/run-command.ts';
import type { FollowState } from '../../lib/feed-client/follow.ts';
import type { OutboundClient } from '../../lib/outbound/outbound-client.ts';
import { systemClock } from '../../lib/time.ts';
import type { Terminal } from '../../seams/terminal.ts';
import { RESOURCE_TYPES } from '../domain/resource.ts';
import { parseOrganisatie } from './publish.ts';

interface FollowOptions {
  readonly state?: string;
  readonly output?: string;
  readonly organisatie?: string;
  readonly resourceType?: string;
  readonly once?: boolean;
  readonly restart?: boolean;
  readonly json?: boolean;
}

/** Largest page, in bytes. */
const MAX_PAGE_BYTES = 256 * 1024 * 1024;

export function feedFollowCommand(terminal: Terminal): Command {
  return new Command('follow')
    .description('follow any council feed: its snapshot, then its feed; records go out as lines of NDJSON')
    .argument('<url>', 'service document of the feed, or its host', parseWebAddress)
    .option('--state <file>', 'where the cursor is kept (default: council-feed-<host>.json)')
    .option('--output <file>', 'append the records to a file (default: standard output)')
    .option('--organisatie <code>', 'only this organisation', parseOrganisatie)
    .addOption(new Option('--resource-type <type>', 'only this kind').choices(RESOURCE_TYPES))
    .option('--once', 'end once the head of the feed is reached')
    .option('--restart', 'start with a new snapshot when the feed no longer knows the cursor')
    .option('--json', 'one machine-readable result at the end (with --output)')
    .addHelpText(
      'after',
      '\nExample:\n  $ koppelvlak feed follow https://raad.example/ori/v1 --output raad.ndjson --once',
    )
    .action((address: string, options: FollowOptions) =>
      runTool(terminal, options, (context) => follow(address, options, context)),
    );
}

async function follow(address: string, options: FollowOptions, context: ToolContext): Promise<void> {
  if (options.json && options.output === undefined) throw new UsageError('--json needs --output');
  const { createOutboundClient } = await import('../../lib/outbound/outbound-client.ts');
  const client = createOutboundClient({
    clock: systemClock,
    timeoutMs: 60_000,
    maxBytes: MAX_PAGE_BYTES,
    connections: 1,
    // The operator chose the address.
    allowPrivate: true,
  });
  try {
    await followWith(client, address, options, context);
  } finally {
    await client.close();
  }
}

async function followWith(
  client: OutboundClient,
  address: string,
  options: FollowOptions,
  { terminal, output, interrupted: signal }: ToolContext,
): Promise<void> {
  const { FeedFault } = await import('../../lib/feed-client/client.ts');
  const { findFeed, followFeed, readFollowState, writeFollowState } = await import('../../lib/feed-client/follow.ts');
  const file = options.state ?? `council-feed-${new URL(address).host.replaceAll(':', '-')}.json`;
  const calls = {
    client,
    signal,
    waiting: (reason: string, ms: number) => output.progress(`${reason}; again in ${Math.ceil(ms / 1000)} s`),
  };
  const query = queryOf(options);
  const fresh = async (): Promise<FollowState> => ({
    ...(await findFeed(address, calls)),
    query,
    phase: 'snapshot',
    cursor: null,
    feedCursor: null,
    lastNumber: null,
  });
  const saved = await readFollowState(file);
  if (saved !== undefined && !isStateOf(address, saved)) {
    throw new CommandError(`${file} holds the state of another feed, ${saved.service}; name another --state`);
  }
  if (saved !== undefined && saved.query !== query) {
    throw new CommandError(`${file} was made with other filters; use them again, or another --state`);
  }
  let state = saved ?? (await fresh());
  const counts = { records: 0, faults: 0 };
  const handle = options.output === undefined ? undefined : await open(options.output, 'a');
  /** Resolves once the text has left this process. */
  const write = async (text: string): Promise<void> => {
    if (handle === undefined) return await writeOut(terminal.stdout, text);
    await handle.appendFile(text);
    await handle.datasync();
  };
  const run = (): Promise<FollowState> =>
    followFeed(state, {
      ...calls,
      once: options.once ?? false,
      page: async (page, next) => {
        if (page.length > 0) await write(page.map(({ record }) => `${JSON.stringify(record)}\n`).join(''));
        counts.records += page.length;
        state = next;
        await writeFollowState(file, next);
      },
      fault: (text) => {
        counts.faults += 1;
        output.progress(`fault: ${text}`);
      },
      notice: (text) => output.progress(`note: ${text}`),
      caughtUp: ({ lastNumber }) => {
        if (counts.records > 0) output.progress(`caught up${lastNumber === null ? '' : ` at ${lastNumber}`}`);
      },
    });
  try {
    for (;;) {
      try {
        state = await run();
        break;
      } catch (error) {
        if (error instanceof CommandError) throw error;
        // Following ends with Ctrl-C; what was received is kept.
        if (signal.aborted) break;
        if (!(error instanceof FeedFault) || error.code !== 'cursor-refused') throw error;
        if (options.restart !== true) {
          throw new CommandError(`${error.message}\nUse --restart to start with a new snapshot.`);
        }
        output.progress(`${error.message}; starting with a new snapshot`);
        state = await fresh();
      }
    }
  } finally {
    await handle?.close();
  }
  output.result({ ...counts, lastNumber: state.lastNumber, cursor: state.cursor }, () => {
    output.progress(`${counts.records} records, ${counts.faults} faults.`);
  });
  if (counts.faults > 0) throw new CommandError(`the feed has ${counts.faults} faults`);
}

/** Whether the state belongs to the feed at this address: its service document, or any on the host when only the host was given. */
function isStateOf(address: string, { service }: FollowState): boolean {
  const given = new URL(address);
  const isHost = given.pathname === '/' && given.search === '';
  return isHost ? new URL(service).origin === given.origin : service === given.href;
}

function queryOf({ organisatie, resourceType }: FollowOptions): string {
  const query = new URLSearchParams();
  if (organisatie !== undefined) query.set('organisatiecode', organisatie);
  if (resourceType !== undefined) query.set('resourceType', resourceType);
  return query.toString();
}

/** An http or https address. */
function parseWebAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError('An address begins with https:// or http://.');
  }
  return url.href;
}

function writeOut(stdout: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stdout.write(text, (error) => (error ? reject(new CommandError(OUTPUT_CLOSED, { cause: error })) : resolve()));
  });
}
