/** Follows the checkpoints of logs by their public addresses, and says when one does not continue what was seen before. */
import { setTimeout as wait } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { CommandError, runTool, type ToolContext } from '../../../cli/run-command.ts';
import { isRecord } from '../../../lib/json/json-value.ts';
import { reasonOf } from '../../../lib/log.ts';
import { HASH_BYTES, proveConsistency, rootHash, verifyConsistency } from '../../../lib/tlog/merkle.ts';
import { checkpointIn, type VerifierKey } from '../../../lib/tlog/note.ts';
import { openCheckpoint, policyForLog } from '../../../lib/tlog/policy.ts';
import { type ReadTiles, readHashesFromTiles, TILE_WIDTH, tilePath } from '../../../lib/tlog/tiles.ts';
import type { Terminal } from '../../../seams/terminal.ts';
import { readIfThere, writeDurably } from '../state.ts';
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

/** Gets the bytes at an address below the log's prefix: `checkpoint`, `tile/0/000`. */
type FetchBelow = (path: string) => Promise<Uint8Array>;

/**
 * - `older`: the log answers with an older checkpoint, which the newer one continues: a cache, or an instance that is behind
 * - `conflict`: two checkpoints that no log may both sign
 */
type Observation =
  | {
      readonly kind: 'first' | 'grown' | 'same' | 'older';
      readonly note: string;
      readonly size: number;
      readonly seen: number;
    }
  | { readonly kind: 'conflict'; readonly note: string; readonly reason: string };

export function proofMonitorCommand(terminal: Terminal): Command {
  return new Command('monitor')
    .description("follow anybody's logs: each checkpoint must continue the last one; what was seen is kept in a file")
    .argument('<url...>', 'address of a log, such as https://host/proof/v1/raadsfeed', readAddress)
    .option('--key <vkey>', 'verifier key of a log; repeat it. Without: the key of the first time is kept', collect, [])
    .option('--state <file>', 'where the last checkpoints are kept', 'proof-monitor.json')
    .option('--interval <seconds>', 'time between two readings of each log', readSeconds, 60)
    .option('--once', 'read once')
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
  const { config, interrupted: signal, output } = context;
  // Loading it takes time that other commands do not need.
  const { createGuardedFetch } = await import('../../../lib/outbound/guarded-fetch.ts');
  // The operator chose the addresses.
  const { fetch, close } = createGuardedFetch({ allowPrivate: true, proxy: config.server });
  const keys = options.key.map(parseLogKey);
  const state = await readState(options.state);

  /** Reads one log. @returns what is wrong with it */
  const read = async (url: string): Promise<{ fault?: string; observation?: Observation }> => {
    const below: FetchBelow = (path) =>
      fetch({ url: `${url}/${path}`, method: 'GET', timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, signal });
    try {
      const seen = state.get(url);
      const served = parseLogKey(seen?.key ?? Buffer.from(await below('key')).toString('utf8'));
      // A key that was given is believed; otherwise the one of the first time, for ever.
      const key = keys.length === 0 ? served : keys.find(({ text }) => text === served.text);
      if (key === undefined) return { fault: 'its key is not one of those given' };
      const observation = await observe(below, key, seen?.checkpoint);
      const { kind, note } = observation;
      if (kind === 'conflict') {
        state.set(url, { ...seen, key: key.text, conflict: [seen?.checkpoint ?? '', note] });
        return { fault: observation.reason, observation };
      }
      if (kind !== 'older') state.set(url, { key: key.text, checkpoint: note });
      return { observation };
    } catch (error) {
      signal.throwIfAborted();
      return { fault: `cannot be followed: ${reasonOf(error)}` };
    }
  };

  try {
    for (;;) {
      const logs = await Promise.all(urls.map(async (url) => ({ url, ...(await read(url)) })));
      await writeDurably(options.state, state);
      for (const { url, fault, observation } of logs) output.line(`${url}: ${fault ?? describe(observation)}`);
      if (options.once)
        output.result({ logs: logs.map(({ url, fault, observation }) => ({ url, fault, ...observation })) }, () => {});
      if (logs.some(({ observation }) => observation?.kind === 'conflict'))
        throw new CommandError(`a log contradicts itself; both checkpoints are in ${options.state}`);
      const failed = logs.filter(({ fault }) => fault !== undefined).length;
      if (options.once && failed > 0) throw new CommandError(`${failed} of ${urls.length} logs failed`);
      if (options.once) return;
      await wait(options.interval * 1000, undefined, { signal });
    }
  } finally {
    await close();
  }
}

/**
 * Reads the checkpoint of a log and compares it with the last one seen.
 * @param seen the signed checkpoint of the last time
 * @throws {Error} when the log cannot be read, or its checkpoint is not signed by the key
 */
async function observe(fetchBelow: FetchBelow, key: VerifierKey, seen: string | undefined): Promise<Observation> {
  const note = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await fetchBelow('checkpoint'));
  const opened = openCheckpoint(note, policyForLog(key));
  if ('reason' in opened) throw new Error(opened.reason);
  const { checkpoint } = opened;
  const last = seen === undefined ? undefined : checkpointIn(seen);
  const [smaller, larger] = last !== undefined && last.size > checkpoint.size ? [checkpoint, last] : [last, checkpoint];
  const read = readHashesFromTiles(larger.size, readTilesBelow(fetchBelow));
  // The tiles must be those that were signed.
  if (Buffer.compare(await rootHash(larger.size, read), larger.root) !== 0)
    return { kind: 'conflict', note, reason: `its tiles are not those of the signed tree of ${larger.size} leaves` };
  const result = { note, size: checkpoint.size, seen: last?.size ?? 0 };
  if (last === undefined || smaller === undefined) return { kind: 'first', ...result };
  if (!verifyConsistency(smaller, larger, await proveConsistency(smaller.size, larger.size, read))) {
    const reason = `its tree of ${larger.size} leaves does not continue the one of ${smaller.size}`;
    return { kind: 'conflict', note, reason };
  }
  if (last.size === checkpoint.size) return { kind: 'same', ...result };
  return { kind: larger === last ? 'older' : 'grown', ...result };
}

/** Tiles by their addresses. A partial tile may be gone once the full one is there (tlog-tiles, Partial Tiles). */
function readTilesBelow(fetchBelow: FetchBelow): ReadTiles {
  return (tiles) =>
    Promise.all(
      tiles.map(async (tile) => {
        try {
          return await fetchBelow(tilePath(tile));
        } catch (error) {
          if (tile.width === TILE_WIDTH) throw error;
          return (await fetchBelow(tilePath({ ...tile, width: TILE_WIDTH }))).subarray(0, tile.width * HASH_BYTES);
        }
      }),
    );
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
  const text = await readIfThere(path);
  const state = new Map<string, Seen>();
  if (text === undefined) return state;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new CommandError(`${path} is not a file of this command`, { cause });
  }
  for (const [url, seen] of Object.entries(isRecord(json) ? json : {})) {
    if (!isRecord(seen) || typeof seen.key !== 'string')
      throw new CommandError(`${path} is not a file of this command`);
    const { key, checkpoint, conflict } = seen;
    if (Array.isArray(conflict)) throw new CommandError(`${url} contradicted itself before; see ${path}`);
    state.set(url, { key, ...(typeof checkpoint === 'string' ? { checkpoint } : {}) });
  }
  return state;
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
