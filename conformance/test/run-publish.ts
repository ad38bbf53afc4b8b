import { readSubject } from '../raadsfeed/subject.ts';
import type { Publish } from '../raadsfeed-publish/story.ts';
import { openPublishSubject, RAADSFEED_PUBLISH } from '../raadsfeed-publish/suite.ts';
import type { CaseResult } from '../run-suite.ts';
import { runCases } from './run-cases.ts';

interface PublishRun {
  readonly url: string;
  readonly publish: Publish;
  readonly patienceMs?: number;
}

/** Runs the cases about publishing, as fast as the feed answers, and undoes their publications. */
export function runPublish({ url, publish, patienceMs = 10_000 }: PublishRun): Promise<readonly CaseResult[]> {
  return runCases({
    suite: RAADSFEED_PUBLISH,
    tested: url,
    open: async (client) => openPublishSubject(await readSubject(url, client), publish, patienceMs, () => undefined),
  });
}
