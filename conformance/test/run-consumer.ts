import type { Consumer } from '../raadsfeed-consumer/consumer.ts';
import { type ConsumerNeeds, openConsumerSubject, RAADSFEED_CONSUMER } from '../raadsfeed-consumer/suite.ts';
import type { CaseResult } from '../run-suite.ts';
import { runCases } from './run-cases.ts';

interface ConsumerRun {
  /** Address of an aggregator. */
  readonly url?: string;
  readonly consumer: (client: ConsumerNeeds['client'], signal: AbortSignal) => Consumer | Promise<Consumer>;
  readonly patienceMs: number;
  /** Gives the consumer the addresses of the played feeds. */
  readonly opened?: ConsumerNeeds['opened'];
  readonly isWanted?: (id: string) => boolean;
}

/** Cases for an aggregator only. */
export const OF_AGGREGATORS = RAADSFEED_CONSUMER.chapters.flatMap(({ cases }) =>
  cases.map(({ id }) => id).filter((id) => id.startsWith('K-AGG')),
);

/** Runs the cases with a consumer. */
export function runConsumer(run: ConsumerRun): Promise<readonly CaseResult[]> {
  const { url = 'a consumer', consumer, patienceMs, opened = async () => undefined, isWanted = () => true } = run;
  return runCases({
    suite: RAADSFEED_CONSUMER,
    tested: url,
    isWanted,
    open: async (client, signal) =>
      openConsumerSubject({
        client,
        isWanted,
        port: 0,
        patienceMs,
        signal,
        opened,
        consumer: await consumer(client, signal),
      }),
  });
}
