import { readFile, rename, writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { CommandError, runTool, type ToolContext } from '../../../cli/run-command.ts';
import { isRecord } from '../../../lib/json/json-value.ts';
import { reasonOf } from '../../../lib/log.ts';
import type { Terminal } from '../../../seams/terminal.ts';
import type { FetchBelow, Observation } from '../monitor.ts';
import { parseLogKey } from './check.ts';

interface MonitorOptions {
  readonly state: string;
  readonly key: readonly string[];
  readonly interval: number;
  readonly once?: boolean;
  readonly json?: boolean;
}

const TIMEOUT_MS = 30_000;
/** Most bytes of a checkpoint or a tile. */
const MAX_BYTES = 256 * 1024;

/** What is kept of a log. */
interface Seen {
  readonly key: string;
  readonly checkpoint?: string;
  /** The checkpoints that contradict each other: evidence. */
  readonly conflict?: readonly string[];
}

export function proofMonitorCommand(terminal: Terminal): Command {
  return new Command('monitor')
    .description("follow anybody's logs: each checkpoint must continue the last one; what was seen is kept in a file")
    .argument('<url...>', 'address of a log, such as https://host/proof/v1/raadsfeed', readAddress)
    .option('--key <vkey>', 'verifier key of a log; repeat it. Without: the key of the first time is kept', collect, [])
    .option('--state <file>', 'where the last checkpoints are kept', 'proof-monitor.json')
    .option('--interval <seconds>', 'time between two looks at each log', readSeconds, 60)
    .option('--once', 'look once')
    .option('--json', 'one machine-readable result (with --once)')
    .addHelpText('after', '\nExample:\n  $ koppelvlak proof monitor https://raad.example/proof/v1/raadsfeed --once')
    .action((_first: string, options: MonitorOptions, command: Command) =>
      runTool(terminal, options, (context) =>
        monitor(
          command.args.map((url) => url.replace(/\/$/, '')),
          options,
          context,
        ),
      ),
    );
}

async function monitor(urls: readonly string[], options: MonitorOptions, context: ToolContext): Promise<void> {
  const { createGuardedFetch } = await import('../../../lib/outbound/guarded-fetch.ts');
  const { config, interrupted, output } = context;
  const { outboundProxy, outboundNoProxy } = config.server;
  // The operator chose the addresses.
  const connections = createGuardedFetch({ allowPrivate: true, proxy: { outboundProxy, outboundNoProxy } });
  const keys = await Promise.all(options.key.map(parseLogKey));
  const below =
    (url: string): FetchBelow =>
    (path) =>
      connections.fetch({
        url: `${url}/${path}`,
        method: 'GET',
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_BYTES,
        signal: interrupted,
      });
  const state = await readState(options.state);

  /** Looks at one log. @returns what is wrong with it */
  const look = async (url: string): Promise<{ fault?: string; observation?: Observation }> => {
    try {
      const { observe } = await import('../monitor.ts');
      const seen = state.get(url);
      const text = seen?.key ?? Buffer.from(await below(url)('key')).toString('utf8');
      const served = await parseLogKey(text);
      // A key that was given is believed; otherwise the one of the first time, for ever.
      const key = keys.length === 0 ? served : keys.find((given) => given.text === served.text);
      if (key === undefined) return { fault: 'its key is none of those given' };
      const observation = await observe(below(url), key, seen?.checkpoint);
      if (observation.kind === 'conflict') {
        state.set(url, { ...seen, key: key.text, conflict: [seen?.checkpoint ?? '', observation.note] });
      } else if (observation.kind !== 'older') state.set(url, { key: key.text, checkpoint: observation.note });
      return observation.kind === 'conflict' ? { fault: observation.reason, observation } : { observation };
    } catch (error) {
      interrupted.throwIfAborted();
      return { fault: `cannot be followed: ${reasonOf(error)}` };
    }
  };

  try {
    for (;;) {
      const looks = await Promise.all(urls.map(async (url) => ({ url, ...(await look(url)) })));
      await writeState(options.state, state);
      for (const { url, fault, observation } of looks) output.line(`${url}: ${fault ?? describe(observation)}`);
      const faults = looks.filter(({ fault }) => fault !== undefined);
      const isForked = looks.some(({ observation }) => observation?.kind === 'conflict');
      if (options.once)
        output.result({ logs: looks.map(({ url, fault, observation }) => ({ url, fault, ...observation })) }, () => {});
      if (isForked) throw new CommandError(`a log contradicts itself; both checkpoints are in ${options.state}`);
      if (options.once && faults.length > 0) throw new CommandError(`${faults.length} of ${urls.length} logs failed`);
      if (options.once) return;
      await wait(options.interval * 1000, undefined, { signal: interrupted });
    }
  } finally {
    await connections.close();
  }
}

function describe(observation: Observation | undefined): string {
  if (observation === undefined || observation.kind === 'conflict') return 'nothing was seen';
  const { kind, size, seen } = observation;
  if (kind === 'first') return `${size} leaves, seen for the first time`;
  if (kind === 'same') return `${size} leaves, as before`;
  if (kind === 'older') return `${size} leaves, older than the ${seen} seen before, which continue them`;
  return `${size} leaves, which continue the ${seen} seen before`;
}

async function readState(path: string): Promise<Map<string, Seen>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return new Map();
    throw error;
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new CommandError(`${path} is not a file of this command`, { cause });
  }
  const state = new Map<string, Seen>();
  for (const [url, seen] of Object.entries(isRecord(json) ? json : {})) {
    if (!isRecord(seen) || typeof seen.key !== 'string')
      throw new CommandError(`${path} is not a file of this command`);
    const { key, checkpoint, conflict } = seen;
    if (Array.isArray(conflict)) throw new CommandError(`${url} contradicted itself before; see ${path}`);
    state.set(url, { key, ...(typeof checkpoint === 'string' ? { checkpoint } : {}) });
  }
  return state;
}

/** In one step: a crash leaves the old file or the new one. */
async function writeState(path: string, state: ReadonlyMap<string, Seen>): Promise<void> {
  const draft = `${path}.new`;
  await writeFile(draft, `${JSON.stringify(Object.fromEntries(state), undefined, 2)}\n`, { mode: 0o600, flush: true });
  await rename(draft, path);
}

function readAddress(text: string): string {
  const isWeb = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isWeb) throw new InvalidArgumentError('not an http or https address');
  return text;
}

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 86_400) throw new InvalidArgumentError('1 to 86400');
  return seconds;
}

function collect(value: string, others: readonly string[]): string[] {
  return [...others, value];
}
