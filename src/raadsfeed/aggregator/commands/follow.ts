import { open } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { Command, InvalidArgumentError } from 'commander';
import { runTool, type ToolContext } from '../../../commands/run-command.ts';
import { CommandError, OUTPUT_CLOSED, UsageError } from '../../../lib/command-error.ts';
import type { Terminal } from '../../../lib/terminal.ts';
import { systemClock } from '../../../lib/time.ts';
import type { FollowState } from '../feed/follow-feed.ts';

interface FollowOptions {
  readonly state?: string;
  readonly output?: string;
  readonly once?: boolean;
  readonly json?: boolean;
}

const MAX_PAGE_BYTES = 256 * 1024 * 1024;

export function feedFollowCommand(terminal: Terminal): Command {
  return new Command('follow')
    .description('follow any council feed: its snapshot, then its feed; records go out as lines of NDJSON')
    .argument('<url>', 'service document of the feed, or its host', parseWebAddress)
    .option('--state <file>', 'where the cursor is kept (default: council-feed-<host>.json)')
    .option('--output <file>', 'append the records to a file (default: standard output)')
    .option('--once', 'end once the head of the feed is reached')
    .option('--json', 'one machine-readable result at the end (with --output)')
    .addHelpText(
      'after',
      '\nExample:\n  $ koppelvlak feed follow https://raad.example/ori/v1 --output raad.ndjson --once',
    )
    .action((address: string, options: FollowOptions) =>
      runTool(terminal, options, (context) => follow(address, options, context)),
    );
}

async function follow(
  address: string,
  options: FollowOptions,
  { terminal, output, interrupted: signal }: ToolContext,
): Promise<void> {
  if (options.json && options.output === undefined) throw new UsageError('--json needs --output');
  const { createOutboundClient } = await import('../../../lib/outbound/outbound-client.ts');
  const { FeedFault } = await import('../../../lib/feed/service-document.ts');
  const { findFeed, followFeed, readFollowState, writeFollowState } = await import('../feed/follow-feed.ts');
  const file = options.state ?? `council-feed-${new URL(address).host.replaceAll(':', '-')}.json`;
  const saved = await readFollowState(file);
  if (saved !== undefined && !isStateOf(address, saved)) {
    throw new CommandError(`${file} holds the state of another feed, ${saved.service}; name another --state`);
  }
  // The operator chose the address, so a private one is allowed.
  const limits = { timeoutMs: 60_000, maxBytes: MAX_PAGE_BYTES, connections: 1, allowPrivate: true };
  const client = createOutboundClient({ clock: systemClock, ...limits });
  const handle = options.output === undefined ? undefined : await open(options.output, 'a');
  /** Resolves once the text has left this process. */
  const write = async (text: string): Promise<void> => {
    if (handle === undefined) return await writeOut(terminal.stdout, text);
    await handle.appendFile(text);
    await handle.datasync();
  };
  const waiting = (reason: string, ms: number) => output.progress(`${reason}; again in ${Math.ceil(ms / 1000)} s`);
  const counts = { records: 0, faults: 0 };
  let state = saved;
  try {
    state ??= await findFeed(address, { client, signal, waiting });
    await followFeed(state, {
      client,
      signal,
      waiting,
      once: options.once ?? false,
      page: async (page, next) => {
        if (page.length > 0) await write(page.map((record) => `${JSON.stringify(record)}\n`).join(''));
        counts.records += page.length;
        state = next;
        await writeFollowState(file, next);
      },
      fault: (text) => {
        counts.faults += 1;
        output.progress(`fault: ${text}`);
      },
    });
  } catch (error) {
    if (error instanceof FeedFault && error.code === 'cursor-refused') {
      throw new CommandError(`${error.message}\nRemove ${file} to start with a new snapshot.`);
    }
    // Following ends with Ctrl-C; what was received is kept.
    if (error instanceof CommandError || !signal.aborted) throw error;
  } finally {
    await handle?.close();
    await client.close();
  }
  const { lastNumber = null, cursor = null } = state ?? {};
  output.result({ ...counts, lastNumber, cursor }, () => {
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
