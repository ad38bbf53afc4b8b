import { createClient } from '../../../src/extensions/conformance/client.ts';
import { readSubject } from '../../../src/extensions/conformance/raadsfeed/subject.ts';
import { RAADSFEED } from '../../../src/extensions/conformance/raadsfeed/suite.ts';
import { type CaseResult, runSuite } from '../../../src/extensions/conformance/run-suite.ts';

/** They wait to see what a stream sends. */
export const WAITING = ['C-STR-09', 'C-STR-12'];
/** Those of an aggregator or register only, and of what only a busy service answers. */
export const NOT_OFFERED = ['C-SVC-10', 'C-SVC-16', 'C-REC-20', 'C-ERR-08'];

/** Runs the cases against an address, as fast as it answers. */
export async function runRaadsfeed(url: string, isWanted: (id: string) => boolean): Promise<readonly CaseResult[]> {
  const { signal } = new AbortController();
  const client = createClient({ subject: url, rate: 100_000, signal });
  try {
    const subject = await readSubject(url, client);
    return await runSuite({ chapters: RAADSFEED.chapters, subject, isWanted, signal });
  } finally {
    await client.close();
  }
}
