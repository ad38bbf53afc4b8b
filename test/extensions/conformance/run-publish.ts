import { createClient } from '../../../src/extensions/conformance/client.ts';
import type { Publish } from '../../../src/extensions/conformance/raadsfeed-publish/story.ts';
import { openPublishSubject, RAADSFEED_PUBLISH } from '../../../src/extensions/conformance/raadsfeed-publish/suite.ts';
import { type CaseResult, runSuite } from '../../../src/extensions/conformance/run-suite.ts';

interface PublishRun {
  readonly url: string;
  readonly publish: Publish;
  readonly patienceMs?: number;
}

/** Runs the cases about publishing, as fast as the feed answers, and undoes what was published. */
export async function runPublish({ url, publish, patienceMs = 10_000 }: PublishRun): Promise<readonly CaseResult[]> {
  const { signal } = new AbortController();
  const client = createClient({ subject: url, rate: 100_000, signal });
  const subject = await openPublishSubject({ url, client, publish, patienceMs, say: () => undefined });
  try {
    return await runSuite({ chapters: RAADSFEED_PUBLISH.chapters, subject, isWanted: () => true, signal });
  } finally {
    await subject.undo?.({ client, signal });
    await client.close();
  }
}
