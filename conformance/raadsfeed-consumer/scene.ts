/** A scene: the events of a feed, and the state that a consumer of it must hold afterwards. */
import { setTimeout as wait } from 'node:timers/promises';
import {
  type ConformanceCase,
  chaptersOf,
  described,
  Failed,
  type Finding,
  type SuiteSubject,
  type Written,
} from '../case.ts';
import { isSameContent } from '../raadsfeed/same-content.ts';
import { keyOf } from '../raadsfeed/subject.ts';
import type { Consumer, HeldResource } from './consumer.ts';
import type { PlayedFeed } from './played-feed.ts';

export interface ConsumerSubject extends SuiteSubject {
  readonly consumer: Consumer;
  readonly play: (id: string) => Promise<Finding>;
  /** Milliseconds for a consumer to reach the state of a feed. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

export interface SceneRun extends Pick<ConsumerSubject, 'consumer' | 'signal'> {
  readonly feed: PlayedFeed;
  /**
   * Lets the consumer catch up until it holds the state of the feed.
   * @param absent only check that it does not hold these documents
   * @throws {Failed} when it does not get there
   */
  look(absent?: readonly string[]): Promise<undefined>;
  /** The same for a single read, which ends when the consumer has caught up; an aggregator reads whenever it wants. */
  lookOnce(): Promise<undefined>;
  /** Lets the consumer catch up once, and returns the names that it then holds. */
  read(): Promise<readonly string[]>;
}

/** The usual prerequisite is that the consumer reads the snapshot and then the feed. */
export type ConsumerCase = Written & {
  /** The feed before the consumer reads it for the first time. */
  readonly prepare?: (feed: PlayedFeed) => void;
  /** Set when the play starts the first read; otherwise the consumer must reach the state of the feed before it. */
  readonly unread?: true;
  /** The feed's events after that; after each, the consumer must reach the state of the feed again. */
  readonly changes?: readonly ((feed: PlayedFeed) => void)[];
  /** Actions after those. */
  readonly play?: (run: SceneRun) => Promise<Finding>;
};

/** Enough documents for a consumer to notice that one of them is gone. */
export const MANY = Array.from({ length: 12 }, (_, place) => `a-${place}`);

export function publish(feed: PlayedFeed, ...ids: readonly string[]): void {
  for (const id of ids) feed.upsert(id);
}

interface SceneCase extends ConformanceCase<ConsumerSubject> {
  readonly prepare: ConsumerCase['prepare'];
  readonly scene: (subject: ConsumerSubject, feed: PlayedFeed) => Promise<Finding>;
}

export const sceneChapter = chaptersOf(asCase);

function asCase(id: string, { prepare, unread, changes = [], play, ...written }: ConsumerCase): SceneCase {
  const scene: SceneCase['scene'] = async (subject, feed) => {
    const { consumer, signal } = subject;
    const run: SceneRun = {
      consumer,
      feed,
      signal,
      look: (absent) => look(subject, feed, absent),
      lookOnce: () => look(consumer.ownFeed === undefined ? { ...subject, patienceMs: 0 } : subject, feed),
      read: async () => (await consumer.read(feed)).map(({ resource }) => resource.bronidentificatie),
    };
    try {
      if (!unread) await run.look();
      for (const change of changes) {
        change(feed);
        await run.look();
      }
      return await play?.(run);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      return { failed: error.message, at: feed.calls.at(-1)?.shown() };
    } finally {
      feed.rule = undefined;
    }
  };
  return {
    ...described(id, written, 'K-BEG-02'),
    prepare,
    scene,
    check: (subject) => subject.play(id),
  };
}

const LEAST_READINGS = 3;

async function look(
  { consumer, patienceMs, signal }: ConsumerSubject,
  feed: PlayedFeed,
  absent?: readonly string[],
): Promise<undefined> {
  const end = performance.now() + patienceMs;
  // On a slow machine one read may take all the time available.
  for (let left = patienceMs === 0 ? 1 : LEAST_READINGS; ; left -= 1) {
    signal.throwIfAborted();
    const fault = await consumer.read(feed).then(
      (held) => (absent === undefined ? differenceFrom(feed, held) : presenceOf(absent, held)),
      (error: unknown) => {
        if (error instanceof Failed) return error.message;
        throw error;
      },
    );
    if (fault === undefined) return undefined;
    if (left <= 1 && performance.now() >= end) throw new Failed(fault);
    await wait(consumer.pauseMs, undefined, { signal });
  }
}

function presenceOf(absent: readonly string[], held: readonly HeldResource[]): string | undefined {
  const found = held.find(({ resource }) => absent.includes(resource.bronidentificatie));
  return found && `it still holds ${keyOf(found)}`;
}

/** The first difference between the state of a feed and a consumer's copy. */
function differenceFrom(feed: PlayedFeed, held: readonly HeldResource[]): string | undefined {
  const state = feed.state();
  const seen = new Set<string>();
  for (const one of held) {
    const key = keyOf(one);
    if (seen.has(key)) return `it holds ${key} twice`;
    seen.add(key);
    const record = state.get(key);
    if (record === undefined) return `it holds ${key}, which the feed does not have`;
    if (!isSameContent(one.data, record.data)) return `it holds ${key} with another content`;
  }
  const missing = [...state.keys()].find((key) => !seen.has(key));
  return missing && `it does not hold ${missing}`;
}
