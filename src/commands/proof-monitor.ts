/** Follows the checkpoints of logs by their public addresses, and reports one that does not continue the last. */
import { setTimeout as wait } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { CommandError } from '../lib/command-error.ts';
import { isRecord } from '../lib/json/json-value.ts';
import { parseIfJson } from '../lib/json/parse-untrusted.ts';
import { reasonOf } from '../lib/log.ts';
import type { Terminal } from '../lib/terminal.ts';
import { readIfThere } from '../lib/text-file.ts';
import { writeDurably } from '../proof/state.ts';
import { HASH_BYTES, proveConsistency, rootHash, verifyConsistency } from '../proof/tlog/merkle.ts';
import { checkpointIn, FormatError, LOG_KEY, parseVerifierKey, type VerifierKey } from '../proof/tlog/note.ts';
import { openCheckpoint } from '../proof/tlog/proof-file.ts';
import { type ReadTiles, readHashesFromTiles, TILE_WIDTH, tilePath } from '../proof/tlog/tiles.ts';
import { runTool, type ToolContext } from './run-command.ts';

interface MonitorOptions {
  readonly state: string;
  readonly key: readonly VerifierKey[];
  readonly once?: boolean;
  readonly json?: boolean;
}

const TIMEOUT_MS = 30_000;
const INTERVAL_MS = 60_000;
const MAX_BYTES = 256 * 1024;

interface Seen {
  readonly key: string;
  readonly checkpoint?: string;
  readonly conflict?: readonly string[];
}

/** @param path below the log's prefix: `checkpoint`, `tile/0/000` */
type FetchBelow = (path: string) => Promise<Uint8Array>;

export function proofMonitorCommand(terminal: Terminal): Command {
  return new Command('monitor')
    .description("follow anybody's logs: each checkpoint must continue the last one; what was seen is kept in a file")
    .argument('<url...>', 'address of a log, such as https://host/proof/v1/raadsfeed', readAddress)
    .option('--key <vkey>', 'verifier key of a log; may be repeated (default: the key seen first)', addKey, [])
    .option('--state <file>', 'where the last checkpoints are kept', 'proof-monitor.json')
    .option('--once', 'read once, instead of every minute')
    .option('--json', 'one machine-readable result (with --once)')
    .addHelpText('after', '\nExample:\n  $ koppelvlak proof monitor https://raad.example/proof/v1/raadsfeed --once')
    .action(async (_first: string, options: MonitorOptions, { args }: Command) => {
      const urls = args.map((url) => url.replace(/\/$/, ''));
      await runTool(terminal, options, (context) => monitor(urls, options, context));
    });
}

async function monitor(urls: readonly string[], options: MonitorOptions, context: ToolContext): Promise<void> {
  const { config, interrupted: signal, output } = context;
  // Loading it takes time that other commands do not need.
  const { createGuardedFetch } = await import('../lib/outbound/guarded-fetch.ts');
  // The operator chose the addresses.
  const { fetch, close } = createGuardedFetch({ allowPrivate: true, proxy: config.server });
  const state = await readState(options.state);

  /** @throws {Error} when the log cannot be followed */
  const read = async (url: string) => {
    const below: FetchBelow = (path) =>
      fetch({ url: `${url}/${path}`, method: 'GET', timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, signal });
    const seen = state.get(url);
    const served = readLogKey(seen?.key ?? Buffer.from(await below('key')).toString('utf8'));
    // A given key is trusted; otherwise the first one, for ever.
    const key = options.key.length === 0 ? served : options.key.find(({ text }) => text === served.text);
    if (key === undefined) throw new Error('its key is not one of those given');
    const observation = await observe(below, key, seen?.checkpoint);
    const { kind, note } = observation;
    if (kind === 'continued') state.set(url, { key: key.text, checkpoint: note });
    if (kind === 'conflict') state.set(url, { ...seen, key: key.text, conflict: [seen?.checkpoint ?? '', note] });
    return observation;
  };

  try {
    for (;;) {
      const observations = await Promise.allSettled(urls.map(read));
      signal.throwIfAborted();
      await writeDurably(options.state, state);
      const logs = observations.map((one, i) => {
        if (one.status === 'fulfilled') return { url: urls[i], ...one.value };
        return { url: urls[i], kind: 'failed', text: `cannot be followed: ${reasonOf(one.reason)}` };
      });
      for (const { url, text } of logs) output.line(`${url}: ${text}`);
      if (options.once) output.result({ logs }, () => undefined);
      if (logs.some(({ kind }) => kind === 'conflict'))
        throw new CommandError(`a log contradicts itself; both checkpoints are in ${options.state}`);
      const failed = observations.filter(({ status }) => status === 'rejected').length;
      if (options.once && failed > 0) throw new CommandError(`${failed} of ${urls.length} logs failed`);
      if (options.once) return;
      await wait(INTERVAL_MS, undefined, { signal });
    }
  } finally {
    await close();
  }
}

/**
 * An `older` checkpoint is an ancestor of the one seen in the last run, from a cache or an instance that is behind.
 * @throws {Error} when the log cannot be read, or its checkpoint is not signed by the key
 */
async function observe(fetchBelow: FetchBelow, key: VerifierKey, seen: string | undefined) {
  const note = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await fetchBelow('checkpoint'));
  const { checkpoint } = openCheckpoint(note, [key]);
  const last = seen === undefined ? undefined : checkpointIn(seen);
  const isOlder = last !== undefined && last.size > checkpoint.size;
  const [smaller, larger] = isOlder ? [checkpoint, last] : [last, checkpoint];
  const read = readHashesFromTiles(larger.size, readTilesBelow(fetchBelow));
  const found = (kind: 'continued' | 'older' | 'conflict', text: string) => ({ kind, note, text });
  // The tiles must be those that were signed.
  if (Buffer.compare(await rootHash(larger.size, read), larger.root) !== 0)
    return found('conflict', `its tiles are not those of the signed tree of ${larger.size} leaves`);
  if (smaller === undefined) return found('continued', `${larger.size} leaves, seen for the first time`);
  if (!verifyConsistency(smaller, larger, await proveConsistency(smaller.size, larger.size, read)))
    return found('conflict', `its tree of ${larger.size} leaves does not continue the one of ${smaller.size}`);
  if (isOlder) return found('older', `${smaller.size} leaves, older than the ${larger.size} seen before`);
  const same = smaller.size === larger.size;
  const how = same ? 'leaves, as before' : `leaves, which continue the ${smaller.size} seen before`;
  return found('continued', `${larger.size} ${how}`);
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

async function readState(path: string): Promise<Map<string, Seen>> {
  const text = (await readIfThere(path)) ?? '{}';
  const state = new Map<string, Seen>();
  const json = parseIfJson(text, { bytes: Buffer.byteLength(text) });
  for (const [url, seen] of Object.entries(isRecord(json) ? json : { json })) {
    if (!isRecord(seen) || typeof seen.key !== 'string')
      throw new CommandError(`${path} is not a file of this command`);
    const { key, checkpoint, conflict } = seen;
    if (Array.isArray(conflict)) throw new CommandError(`${url} contradicted itself before; see ${path}`);
    state.set(url, { key, ...(typeof checkpoint === 'string' ? { checkpoint } : {}) });
  }
  return state;
}

/** @throws {FormatError} */
function readLogKey(text: string): VerifierKey {
  const key = parseVerifierKey(text.trim());
  if (key.type !== LOG_KEY) throw new FormatError('this is the key of a witness, not of a log');
  return key;
}

function readAddress(text: string): string {
  const isWeb = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isWeb) throw new InvalidArgumentError('not an http or https address');
  return text;
}

export function addKey(text: string, others: readonly VerifierKey[]): readonly VerifierKey[] {
  try {
    return [...others, parseVerifierKey(text.trim())];
  } catch (error) {
    if (error instanceof FormatError) throw new InvalidArgumentError(error.message);
    throw error;
  }
}
