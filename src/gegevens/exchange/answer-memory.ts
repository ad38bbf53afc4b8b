/** The memory for large answers, shared by the clients. */
import { Problem } from '../../lib/problem.ts';
import { createSemaphore, type Semaphore } from '../../lib/scheduling.ts';
import type { Config } from '../../settings/config.ts';
import type { GegevensMetrics } from '../metrics.ts';
import { gegevensProblems } from '../problems.ts';

type AnswerSettings = Pick<Config['gegevens'], 'answersMb' | 'answersWaitMs'>;

const MEGABYTE = 1024 * 1024;
/** Largest share of one client. */
const CLIENT_SHARE = 1 / 2;
/** Smaller answers are not counted: thousands of them take less memory than the connections that request them. */
export const SMALL_BYTES = 256 * 1024;

/** The memory of both mounts for large answers that are being made or sent. */
export function createAnswerMemory({ answersMb, answersWaitMs }: AnswerSettings, metrics: GegevensMetrics): Semaphore {
  return createSemaphore({
    maxWeight: answersMb * MEGABYTE,
    waitMs: answersWaitMs,
    smallWeight: SMALL_BYTES,
    clientShare: CLIENT_SHARE,
    full: () =>
      new Problem(gegevensProblems.dienstOnbereikbaar, {
        detail: 'Er zijn nu te veel grote leveringen tegelijk onderweg; er is niets geleverd.',
        headers: { 'retry-after': String(Math.max(1, Math.ceil(answersWaitMs / 1000))) },
        fsc: 'ERROR_CODE_SERVICE_UNREACHABLE',
      }),
    changed: ({ weight, waiting }) => {
      metrics.answersBytes.set(weight);
      metrics.answersWaiting.set(waiting);
    },
  });
}
