/** The suite for a consumer of council information, or an aggregator; it plays the feeds to read. */
import type { Finding, Suite } from '../case.ts';
import { readContract } from '../contract.ts';
import type { Client } from '../exchange.ts';
import { BEGINNING } from './beginning.ts';
import type { Consumer } from './consumer.ts';
import { FAILURES } from './failures.ts';
import { FOLLOWING } from './following.ts';
import { openStage } from './played-feed.ts';
import { REDACTIONS } from './removals.ts';
import type { ConsumerSubject } from './scene.ts';
import { AGGREGATORS, TRUST } from './trust.ts';

const CHAPTERS = [BEGINNING, FOLLOWING, REDACTIONS, FAILURES, TRUST, AGGREGATORS];

export const RAADSFEED_CONSUMER: Suite<ConsumerSubject> = {
  name: 'raadsfeed-consumer',
  title: { nl: 'Afnemer van raadsinformatie', en: 'Consumer of council information' },
  chapters: CHAPTERS,
};

export interface ConsumerNeeds {
  readonly client: Client;
  readonly consumer: Consumer;
  readonly isWanted: (id: string) => boolean;
  readonly port: number;
  readonly patienceMs: number;
  readonly signal: AbortSignal;
  /** Called with the addresses of the feeds before the first case. */
  readonly opened: (feeds: readonly string[]) => Promise<void>;
}

/**
 * Opens a feed for each selected or required case. If the consumer follows many feeds at once, all scenes run at once.
 * `undo` closes the consumer and everything opened here.
 */
export async function openConsumerSubject(needs: ConsumerNeeds): Promise<ConsumerSubject> {
  const { client, consumer, patienceMs, isWanted, port, opened } = needs;
  const over = new AbortController();
  const stage = await openStage(port);
  const cases = new Map(CHAPTERS.flatMap((chapter) => chapter.cases.map((one) => [one.id, one] as const)));
  const needsOf = (id: string): readonly string[] => [id, ...(cases.get(id)?.dependsOn ?? []).flatMap(needsOf)];
  const needed = new Set([...cases.keys()].filter(isWanted).flatMap(needsOf));
  const scenes = [...cases.values()]
    .filter(({ id }) => needed.has(id))
    .map((one) => {
      const feed = stage.open();
      one.prepare?.(feed);
      return { ...one, feed };
    });
  let running: ReadonlyMap<string, Promise<Finding>> | undefined;
  const end = async (): Promise<undefined> => {
    over.abort();
    await Promise.allSettled(running?.values() ?? []);
    await consumer.close();
    await stage.close();
  };
  const subject: ConsumerSubject = {
    client,
    consumer,
    patienceMs,
    values: {},
    fault: readContract('raadsfeed.yaml'),
    signal: AbortSignal.any([needs.signal, over.signal]),
    play(id) {
      const start = ({ scene, feed }: (typeof scenes)[number]) => {
        const finding = scene(subject, feed);
        // A failure belongs to the case that awaits it, if any.
        finding.catch(() => undefined);
        return finding;
      };
      if (consumer.atOnce) running ??= new Map(scenes.map((one) => [one.id, start(one)]));
      const found = scenes.find((one) => one.id === id);
      if (found === undefined) throw new TypeError(`there is no scene for ${id}`);
      return running?.get(id) ?? start(found);
    },
    answered: () => stage.feeds.reduce((sum, { calls }) => sum + calls.length, 0),
    undo: end,
  };
  try {
    await opened(scenes.map(({ feed }) => feed.url));
  } catch (error) {
    await end();
    throw error;
  }
  return subject;
}
