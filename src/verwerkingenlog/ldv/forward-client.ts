/** Sends lines to another logbook by OTLP over HTTP. */
import { clientCredentialsToken, TokenFetchError } from '../../lib/outbound/client-credentials.ts';
import {
  ACCEPT_ENCODING,
  createGuardedConnections,
  createOutboundAgent,
  headerValue,
  readBody,
} from '../../lib/outbound/guarded-fetch.ts';
import { type Clock, retryAfterMs } from '../../lib/time.ts';
import type { Config } from '../../settings/read-config.ts';
import { decodeResponse, decodeStatus, type ExportResponse, encodeRequest, MEDIA_TYPES } from './otlp.ts';
import type { Span } from './span.ts';

const MAX_ANSWER_BYTES = 1024 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
const MAX_REASON = 500;

export class ForwardError extends Error {
  override readonly name = 'ForwardError';
  /** The lines themselves are at fault: a request with fewer of them may be accepted. */
  readonly isFinal: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: ErrorOptions & { isFinal?: boolean; retryAfterMs?: number | undefined } = {}) {
    super(message, options);
    this.isFinal = options.isFinal ?? false;
    this.retryAfterMs = options.retryAfterMs;
  }
}

export function createForwardClient({ ldvOut, server }: Config, clock: Clock, address: string) {
  const { forwardTimeoutMs: timeoutMs, forwardTokenUrl: tokenUrl, forwardScope } = ldvOut;
  const connections = createGuardedConnections({
    // The operator chose the address.
    rules: { allowPrivate: true },
    proxy: server,
    maxRedirects: 0,
    connectTimeoutMs: Math.min(CONNECT_TIMEOUT_MS, timeoutMs),
    agent: { connections: 1, headersTimeout: timeoutMs, bodyTimeout: timeoutMs, keepAliveTimeout: 15_000 },
  });
  const dispatcher = createOutboundAgent(server, {});
  const { forwardClientId: clientId = '', forwardClientSecret: clientSecret = '' } = ldvOut;
  const credentials = { clientId, clientSecret, scopes: [forwardScope] };
  const token = tokenUrl === undefined ? undefined : clientCredentialsToken({ ...credentials, tokenUrl }, dispatcher);
  let refused: string | undefined;

  return {
    /** Resolves when the other logbook has the lines, except for those that it refused. @param headers of the trace @throws {ForwardError} */
    async send(
      spans: readonly Span[],
      headers: Readonly<Record<string, string>>,
      stopped: AbortSignal,
    ): Promise<ExportResponse> {
      const signal = AbortSignal.any([stopped, AbortSignal.timeout(timeoutMs)]);
      try {
        const bearer = await token?.({ refused });
        const { answer } = await connections.request(
          `${address}/v1/traces`,
          {
            method: 'POST',
            headers: {
              'content-type': MEDIA_TYPES.protobuf,
              'accept-encoding': ACCEPT_ENCODING,
              'user-agent': 'koppelvlak',
              ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
              ...headers,
            },
            body: encodeRequest(spans),
            signal,
          },
          'none',
        );
        const { statusCode, headers: answered } = answer;
        const bytes = await readBody(answer.body, headerValue(answered['content-encoding']), MAX_ANSWER_BYTES);
        if (statusCode === 200) return decodeResponse(bytes);
        // The token may have been withdrawn.
        refused = statusCode === 401 ? bearer : undefined;
        const said = reasonIn(bytes);
        throw new ForwardError(`the other logbook answered ${statusCode}${said === undefined ? '' : `: ${said}`}`, {
          // A 400 from something else, such as a proxy, has no status of the protocol in it.
          isFinal: statusCode === 413 || (statusCode === 400 && said !== undefined),
          retryAfterMs: retryAfterMs(headerValue(answered['retry-after']), clock.now()),
        });
      } catch (cause) {
        if (cause instanceof ForwardError) throw cause;
        stopped.throwIfAborted();
        if (cause instanceof TokenFetchError) throw new ForwardError(cause.message, { cause });
        const message = signal.aborted ? `no answer within ${timeoutMs} ms` : 'the other logbook cannot be reached';
        throw new ForwardError(message, { cause });
      }
    },
    async close(): Promise<void> {
      await connections.close();
      await dispatcher.destroy();
    },
  };
}

/** Undefined for other bytes than a `google.rpc.Status`. */
function reasonIn(bytes: Uint8Array): string | undefined {
  try {
    const { code, message } = decodeStatus(bytes);
    return code === 0 && message === '' ? undefined : plainReason(message);
  } catch {
    // An error page of a proxy in between.
    return undefined;
  }
}

/** A reason as stored: shortened, without numbers that may identify a person, and without NUL, which the database refuses. */
export function plainReason(text: string): string {
  return text
    .replaceAll('\0', '')
    .replaceAll(/(?<![0-9a-fA-F])\d{8,9}(?![0-9a-fA-F])/g, '*********')
    .slice(0, MAX_REASON)
    .toWellFormed();
}
