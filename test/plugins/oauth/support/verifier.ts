import { expect } from 'vitest';
import type { Clock } from '../../../../src/lib/time.ts';
import { TokenError } from '../../../../src/plugins/oauth/token.ts';
import { createTokenVerifier, type TokenVerifierOptions } from '../../../../src/plugins/tokens.ts';

/** A clock that the test moves. */
export function movableClock(): Clock & { forward(seconds: number): void } {
  let ahead = 0;
  return {
    now: () => new Date(Date.now() + ahead * 1000),
    forward(seconds) {
      ahead += seconds;
    },
  };
}

/** Everything that was logged, as one text. */
export function recordingLog() {
  const lines: string[] = [];
  return {
    warn(fields: object, message: string) {
      const error = 'err' in fields && fields.err instanceof Error ? fields.err.message : '';
      lines.push(`${message}: ${error}`);
    },
    text: () => lines.join('\n'),
    lines,
  };
}

/** A verifier that is closed when the scope of the test ends. */
export function openVerifier(options: Omit<TokenVerifierOptions, 'log'> & Partial<Pick<TokenVerifierOptions, 'log'>>) {
  const verifier = createTokenVerifier({ log: recordingLog(), ...options });
  return Object.assign(verifier, { [Symbol.dispose]: () => verifier.close() });
}

/** The code and reason of the refusal, neither of which may contain a part of the token. */
export async function refusal(attempt: Promise<unknown>, token = ''): Promise<string> {
  const error: unknown = await attempt.then(
    () => new Error('the token was accepted'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof TokenError)) throw error;
  for (const part of token.split('.').filter((text) => text.length > 8)) {
    expect(`${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`).not.toContain(part);
  }
  return `${error.code} ${error.reason}`;
}

export const bearer = (token: string) => ({ authorization: [`Bearer ${token}`] });
