/** Calls to witnesses and to the other instances of this service: an operator chose their addresses. */
import {
  createGuardedConnections,
  headerValue,
  type ProxySettings,
  readBody,
} from '../../lib/outbound/guarded-fetch.ts';

const CONNECTIONS = 4;
const CONNECT_TIMEOUT_MS = 2_000;

interface ProofAnswer {
  readonly status: number;
  /** Media type; empty when the answer names none. */
  readonly type: string;
  readonly text: string;
}

interface ProofHttp {
  /** @param body sent by `POST`; absent: `GET` */
  call(address: string, signal: AbortSignal, body?: string): Promise<ProofAnswer>;
  close(): Promise<void>;
}

/** @param timeoutMs milliseconds for a whole answer */
export function createProofHttp(timeoutMs: number, maxBytes: number, proxy?: ProxySettings): ProofHttp {
  const connections = createGuardedConnections({
    rules: { allowPrivate: true },
    proxy,
    maxRedirects: 0,
    connectTimeoutMs: Math.min(CONNECT_TIMEOUT_MS, timeoutMs),
    agent: { connections: CONNECTIONS, keepAliveTimeout: 4_000 },
  });
  return {
    async call(address, outer, body) {
      const { answer } = await connections.request(
        address,
        {
          method: body === undefined ? 'GET' : 'POST',
          headers: {
            'user-agent': 'koppelvlak',
            ...(body === undefined ? {} : { 'content-type': 'text/plain; charset=utf-8' }),
          },
          body: body ?? null,
          signal: AbortSignal.any([outer, AbortSignal.timeout(timeoutMs)]),
        },
        'none',
      );
      const { statusCode, headers } = answer;
      const bytes = await readBody(answer.body, headerValue(headers['content-encoding']), maxBytes);
      return { status: statusCode, type: headerValue(headers['content-type']) ?? '', text: bytes.toString('utf8') };
    },
    close: connections.close,
  };
}
