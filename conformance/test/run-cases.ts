import type { Suite, SuiteSubject } from '../case.ts';
import { type ClientNeeds, createClient } from '../client.ts';
import type { Client } from '../exchange.ts';
import { type CaseResult, runSuite } from '../run-suite.ts';

interface CasesRun<Subject extends SuiteSubject> extends Pick<ClientNeeds, 'tokens'> {
  readonly suite: Suite<Subject>;
  /** The subject's address or name. */
  readonly tested: string;
  readonly open: (client: Client, signal: AbortSignal) => Subject | Promise<Subject>;
  readonly isWanted?: ((id: string) => boolean) | undefined;
}

/** Runs cases in this process, as fast as the subject answers, and undoes their writes. */
export async function runCases<Subject extends SuiteSubject>(run: CasesRun<Subject>): Promise<readonly CaseResult[]> {
  const { suite, tested, open, isWanted = () => true, tokens = {} } = run;
  const { signal } = new AbortController();
  const client = createClient({ subject: tested, rate: 100_000, signal, tokens });
  try {
    const subject = await open(client, signal);
    try {
      return await runSuite({ chapters: suite.chapters, subject, isWanted, signal });
    } finally {
      await subject.undo?.({ client, signal });
    }
  } finally {
    await client.close();
  }
}
