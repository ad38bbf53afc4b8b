import { PROCESSING_LOG_SCOPES } from '../../src/lib/processing-log-scopes.ts';
import type { TestTokens } from '../../test/support/tokens.ts';
import { OTHER } from '../commands/token-file.ts';
import type { Client } from '../exchange.ts';
import type { CaseResult } from '../run-suite.ts';
import { readLogSubject } from '../verwerkingenlog/subject.ts';
import { VERWERKINGENLOG } from '../verwerkingenlog/suite.ts';
import { runCases } from './run-cases.ts';

/** Cases for a busy service only, and for TLS, which is not required on this machine. */
export const NOT_OFFERED = ['B-HTTP-12', 'B-HTTP-17'];

/** A token for each scope, and one for another service. */
export async function tokensOf(issuer: TestTokens): Promise<Record<string, string>> {
  const own = await Promise.all(
    PROCESSING_LOG_SCOPES.map(async (scope) => [scope, await issuer.token([scope])] as const),
  );
  const other = await issuer.token([...PROCESSING_LOG_SCOPES], { claims: { aud: 'https://elders.example/api' } });
  return Object.fromEntries([...own, [OTHER, other]]);
}

/** Runs the cases against an address, as fast as it answers. */
export function runVerwerkingenlog(
  url: string,
  given: Readonly<Record<string, string>>,
  isWanted?: (id: string) => boolean,
): Promise<readonly CaseResult[]> {
  const tokens = Object.fromEntries(Object.entries(given).map(([name, token]) => [name, async () => token]));
  const open = (client: Client) => readLogSubject(url, client, tokens);
  return runCases({ suite: VERWERKINGENLOG, tested: url, tokens, isWanted, open });
}
