/**
 * The consumer under test: a command that prints its resources, a program driven by JSON lines, or an aggregator with
 * its own feed.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { Failed, Inconclusive } from '../case.ts';
import { type ProgramOptions, runCommand } from '../child-program.ts';
import { jsonIn } from '../client.ts';
import type { Client } from '../exchange.ts';
import { textAt } from '../json-members.ts';
import { ProtocolError, restartedProgram } from '../protocol.ts';
import { type FeedSubject, readSubject, walk } from '../raadsfeed/subject.ts';
import type { PlayedFeed, PlayedRecord } from './played-feed.ts';

export type HeldResource = Pick<PlayedRecord, 'resource' | 'resourceType' | 'data'>;

export interface Consumer {
  /** True when it follows many feeds at the same time. */
  readonly atOnce: boolean;
  /** The aggregator's own feed. */
  readonly ownFeed?: FeedSubject;
  /** Milliseconds between two polls of its state. */
  readonly pauseMs: number;
  /**
   * Lets it catch up, and returns its resources of a feed.
   * @throws {Failed} when it does not report them {Inconclusive} when it does not read the feed, or never worked
   */
  read(feed: PlayedFeed): Promise<readonly HeldResource[]>;
  close(): Promise<void>;
}

/** A command that catches up with `{feed}`, prints its resources and exits; it gets a separate directory per feed. */
export async function commandConsumer({ command, ...options }: ProgramOptions): Promise<Consumer> {
  const directory = await mkdtemp(join(tmpdir(), 'koppelvlak-consumer-'));
  const use = programUse();
  return {
    atOnce: false,
    pauseMs: 500,
    async read({ url, organisatiecode }) {
      const cwd = join(directory, organisatiecode);
      await mkdir(cwd, { recursive: true });
      const words = command.map((word) => word.replaceAll('{feed}', url));
      const { status, stdout, failure } = await runCommand({ ...options, command: words, cwd });
      if (failure !== undefined && (status === null || stdout.trim() === '')) throw use.fault(failure);
      use.worked();
      return stdout
        .split('\n')
        .filter((line) => line.trim() !== '')
        .map((line) => heldResource(parsed(line)));
    },
    close: () => rm(directory, { recursive: true, force: true }),
  };
}

/** A long-running program that is told to catch up by a line of JSON, and restarted if it exited. */
export function programConsumer(options: ProgramOptions): Consumer {
  const program = restartedProgram(options);
  const use = programUse();
  return {
    atOnce: false,
    pauseMs: 200,
    async read({ url }) {
      try {
        const { state } = await program.ask({ do: 'follow', feed: url });
        if (!Array.isArray(state)) throw use.fault('its answer has no list `state`');
        use.worked();
        return state.map(heldResource);
      } catch (error) {
        throw error instanceof ProtocolError ? use.fault(error.message) : error;
      }
    },
    close: program.close,
  };
}

/** How to judge a failing program: one that never worked was not tested. */
function programUse() {
  let hasWorked = false;
  return {
    worked: (): void => {
      hasWorked = true;
    },
    fault: (reason: string): Failed | Inconclusive => (hasWorked ? new Failed(reason) : new Inconclusive(reason)),
  };
}

/**
 * An aggregator that reads on its own and publishes its copy.
 * @param patienceMs for it to read a feed
 */
export async function publishingConsumer(
  url: string,
  client: Client,
  patienceMs: number,
  signal: AbortSignal,
): Promise<Consumer> {
  const ownFeed = await readSubject(url, client);
  const readAll = async (): Promise<readonly HeldResource[]> => {
    const { records } = await walk(client, ownFeed.values.snapshot, 1000, MOST_PAGES);
    return records.map(({ record }) => heldResource(record));
  };
  let reading: Promise<unknown> = Promise.resolve();
  let next: Promise<readonly HeldResource[]> | undefined;
  /** Requests during a poll share the next one, which begins after the events they wait for. */
  const readSoon = (): Promise<readonly HeldResource[]> => {
    next ??= reading
      .catch(() => undefined)
      .then(() => {
        const all = readAll();
        [reading, next] = [all, undefined];
        return all;
      });
    return next;
  };
  return {
    atOnce: true,
    ownFeed,
    pauseMs: 200,
    async read(feed) {
      await hasRead(feed, patienceMs, signal);
      const all = await readSoon();
      return all.filter(({ resource }) => feed.isOf(resource.organisatiecode));
    },
    close: async () => undefined,
  };
}

/** Maximum number of thousand-record pages read from an aggregator. */
const MOST_PAGES = 50;

/** Waits for a second request: by then the first answer has been processed. */
async function hasRead({ calls, url }: PlayedFeed, patienceMs: number, signal: AbortSignal): Promise<void> {
  const before = calls.length;
  const end = performance.now() + patienceMs;
  while (calls.length < before + 2) {
    if (performance.now() > end) {
      if (calls.length === 0) throw new Inconclusive(`${url} was never requested`);
      return;
    }
    await wait(20, undefined, { signal });
  }
}

/** @throws {Failed} when it is not a resource in the form of a snapshot */
export function heldResource(value: unknown): HeldResource {
  const { resource, resourceType, data } = isRecord(value) ? value : {};
  const organisatiecode = textAt(resource, 'organisatiecode');
  const bronidentificatie = textAt(resource, 'bronidentificatie');
  if (organisatiecode === undefined || bronidentificatie === undefined || typeof resourceType !== 'string')
    throw new Failed(
      `it reports an item without \`resource\` or \`resourceType\`: ${JSON.stringify(value).slice(0, 200)}`,
    );
  return { resource: { organisatiecode, bronidentificatie }, resourceType, data };
}

function parsed(line: string): unknown {
  const value = jsonIn(Buffer.from(line));
  if (value === undefined)
    throw new Failed(`it prints a line that is not JSON, or is nested too deeply: ${line.slice(0, 200)}`);
  return value;
}
