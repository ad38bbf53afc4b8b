import { expect, vi } from 'vitest';
import type { SignedMessage } from '../../../src/lib/jades/verify.ts';
import { type Kit, kitOf } from '../../lib/jades/support/kit.ts';
import { sendRaw } from '../../plugins/support/ask.ts';
import { type RawAnswer, type RawHeaders, send } from './requester.ts';
import { openSupplier, type Supplier } from './supplier.ts';

/** Sent in place of a good request. */
export interface Attack {
  readonly message: SignedMessage;
  /** Headers added to or replacing the message's own. */
  readonly headers?: RawHeaders;
}

/** A supplier under attack that must answer within six seconds: a later refusal would have another cause. */
export interface Target {
  readonly supplier: Supplier;
  readonly kit: Kit;
  /** Attacks, expects the refusal, and checks that a good request is still answered. */
  refuses(attack: Attack, status: number, slug: string): Promise<RawAnswer>;
  /** The same with bytes that no client would send; only the first bytes of the answer are checked. */
  refusesBytes(head: readonly string[], body: string, status: number, slug: string): Promise<void>;
  close(): Promise<void>;
}

/** Longer than the check of one certificate may take. */
const DEADLINE_MS = 6000;

export async function openTarget(file: string): Promise<Target> {
  const supplier = await openSupplier({
    env: {
      GEGEVENS_REVOCATION: 'hard',
      GEGEVENS_RATE_LIMIT: '0',
      'gegevens.ocspTimeoutMs': '1500',
      // An endless list is read no further than this; the default of fifty would not change the outcome.
      'gegevens.crlMaxMb': '1',
      'server.requestTimeoutMs': String(DEADLINE_MS),
    },
  });
  await supplier.import('shv', file);
  const kit = kitOf(supplier.authority, async () => undefined);
  const url = `${supplier.server.url}/shv/v1/gegevens`;
  // On a busy machine the authority may answer the first request late; from then on its answer is cached.
  await vi.waitFor(() => supplier.get({}), { timeout: 60_000 });
  supplier.server.logged.length = 0;

  const expectRefusal = (answer: Pick<RawAnswer, 'status' | 'text'>, status: number, slug: string): void => {
    expect(answer.status, answer.text).toBe(status);
    expect(JSON.parse(answer.text)).toMatchObject({ status, type: `${supplier.server.url}/problems/${slug}` });
  };
  const isHealthy = async (): Promise<void> => {
    await supplier.get({});
    expect(supplier.server.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  };
  return {
    supplier,
    kit,
    async refuses({ message, headers = {} }, status, slug) {
      const { body, digestHeader, signatureHeader } = message;
      const answer = await send(
        url,
        'POST',
        {
          'content-type': 'application/json',
          ...(await supplier.tokens.bearer(['read'])),
          digest: digestHeader,
          'nlgov-adr-payload-sig': signatureHeader,
          ...headers,
        },
        Buffer.from(body),
      );
      expectRefusal(answer, status, slug);
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      // The cause is not an FSC error, so that header is absent.
      expect(answer.headers.has('fsc-error-code')).toBe(false);
      await isHealthy();
      return answer;
    },
    async refusesBytes(head, body, status, slug) {
      const { authorization } = await supplier.tokens.bearer(['read']);
      const first = ['POST /shv/v1/gegevens HTTP/1.1', `Host: ${new URL(url).host}`, `Authorization: ${authorization}`];
      const lines = [...first, 'Content-Type: application/json', 'Connection: close', ...head, '', body];
      const text = await sendRaw(url, lines.join('\r\n'));
      const [received = '', ...rest] = text.split('\r\n\r\n');
      expectRefusal({ status: Number(received.split(' ')[1]), text: rest.join('') }, status, slug);
      await isHealthy();
    },
    close: () => supplier.close(),
  };
}

/** The status for each cause: 400 for missing or malformed, 422 for untrusted. */
export function statusOf(slug: string): number {
  return /-(missing|malformed|mismatch)$|^invalid-request$/.test(slug) ? 400 : 422;
}
