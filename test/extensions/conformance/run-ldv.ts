import { createClient } from '../../../src/extensions/conformance/client.ts';
import { LOGS, READS, readLdvSubject } from '../../../src/extensions/conformance/ldv/subject.ts';
import { LDV } from '../../../src/extensions/conformance/ldv/suite.ts';
import { type CaseResult, runSuite } from '../../../src/extensions/conformance/run-suite.ts';

/** What only a busy service answers, and TLS, of which nothing is asked on this machine. */
export const NOT_OFFERED = ['L-ANS-14', 'L-ANS-17'];

/** Runs the cases against an address, as fast as it answers. @param token of each scope */
export async function runLdv(
  url: string,
  token: (scope: string) => Promise<string>,
  isWanted: (id: string) => boolean = () => true,
): Promise<readonly CaseResult[]> {
  const { signal } = new AbortController();
  const tokens = { [LOGS]: () => token(LOGS), [READS]: () => token(READS) };
  const client = createClient({ subject: url, rate: 100_000, signal, tokens });
  try {
    const subject = readLdvSubject(url, client, tokens);
    return await runSuite({ chapters: LDV.chapters, subject, isWanted, signal });
  } finally {
    await client.close();
  }
}
