import { createClient } from '../../../src/extensions/conformance/client.ts';
import type { Consumer } from '../../../src/extensions/conformance/raadsfeed-consumer/consumer.ts';
import {
  type ConsumerNeeds,
  openConsumerSubject,
  RAADSFEED_CONSUMER,
} from '../../../src/extensions/conformance/raadsfeed-consumer/suite.ts';
import { type CaseResult, runSuite } from '../../../src/extensions/conformance/run-suite.ts';

interface ConsumerRun {
  /** Address of an aggregator. */
  readonly url?: string;
  readonly consumer: (client: ConsumerNeeds['client'], signal: AbortSignal) => Consumer | Promise<Consumer>;
  readonly patienceMs: number;
  /** Gives the consumer the feeds that are played. */
  readonly opened?: ConsumerNeeds['opened'];
  readonly isWanted?: (id: string) => boolean;
}

/** Those of an aggregator. */
export const OF_AGGREGATORS = RAADSFEED_CONSUMER.chapters.flatMap(({ cases }) =>
  cases.map(({ id }) => id).filter((id) => id.startsWith('K-AGG')),
);

/** Runs the cases with a consumer. */
export async function runConsumer(run: ConsumerRun): Promise<readonly CaseResult[]> {
  const { url = 'a consumer', consumer, patienceMs, opened = async () => undefined, isWanted = () => true } = run;
  const { signal } = new AbortController();
  const client = createClient({ subject: url, rate: 100_000, signal });
  const needs = { client, consumer: await consumer(client, signal), isWanted, port: 0, patienceMs, signal, opened };
  const subject = await openConsumerSubject(needs);
  try {
    return await runSuite({ chapters: RAADSFEED_CONSUMER.chapters, subject, isWanted, signal });
  } finally {
    await subject.undo?.({ client, signal });
    await client.close();
  }
}
