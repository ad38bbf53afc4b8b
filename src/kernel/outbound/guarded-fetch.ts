import { type Dispatcher, request as undiciRequest } from 'undici';
import {
  type AddressRules,
  assertCallableName,
  checkUrl,
  guardedLookup,
  redirected,
  redirection,
} from './address-guard.ts';
import { createOutboundAgent, type ProxySettings } from './outbound-agent.ts';
import { headerValue, readBody } from './read-body.ts';

const MAX_REDIRECTS = 2;
const CONNECT_TIMEOUT_MS = 2_000;

export interface GuardedFetchOptions extends AddressRules {
  /** By way of which the calls go; absent: direct. */
  readonly proxy?: ProxySettings;
}

/** One request for bytes of any kind. */
export interface GuardedRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly body?: Uint8Array;
  readonly contentType?: string;
  /** Milliseconds until the whole answer must be there. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** A fetch with its connections, which `close` ends. */
export interface GuardedFetch {
  /** Gives the body of a 200 answer; anything else rejects. */
  readonly fetch: (request: GuardedRequest) => Promise<Uint8Array>;
  close(): Promise<void>;
}

/**
 * Fetches from an address that somebody else's document named, such as a certificate: http and https only, with limits on time and size, at
 * most two redirects, all on the same host. The address is judged when the connection is made, so a name that resolves differently the
 * second time does not help. Where a proxy makes the connection the target is judged before it is asked.
 */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { proxy = { outboundProxy: undefined, outboundNoProxy: [] } } = options;
  const agent = createOutboundAgent(proxy, {
    connect: { lookup: guardedLookup(options), timeout: CONNECT_TIMEOUT_MS },
    connections: 4,
    keepAliveTimeout: 4_000,
  });
  return {
    async fetch(request) {
      const signal = AbortSignal.any([request.signal, AbortSignal.timeout(request.timeoutMs)]);
      let url = checkUrl(request.url, options);
      for (let redirects = 0; ; redirects += 1) {
        if (proxy.outboundProxy !== undefined) await assertCallableName(url, options);
        const answer = await send(agent, url, request, signal);
        const location = redirection(answer);
        if (location === undefined) return await readAnswer(answer, request.maxBytes, signal);
        await answer.body.dump({ limit: 1024, signal });
        if (redirects === MAX_REDIRECTS) throw new Error('too many redirects');
        url = redirected(url, location, 'same-host', options);
      }
    },
    close: () => agent.destroy(),
  };
}

function send(
  agent: Dispatcher,
  url: URL,
  request: GuardedRequest,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const contentType = request.contentType === undefined ? {} : { 'content-type': request.contentType };
  return undiciRequest(url, {
    dispatcher: agent,
    method: request.method,
    headers: { accept: '*/*', ...contentType },
    body: request.body ?? null,
    signal,
  });
}

async function readAnswer(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  if (statusCode !== 200) {
    // Destroying a body that was not read to its end makes it emit an error, after its reader has gone.
    body.on('error', () => undefined).destroy();
    throw new Error(`status ${statusCode}`);
  }
  try {
    return await readBody(body, headerValue(headers['content-encoding']), maxBytes);
  } catch (error) {
    // A body that was aborted breaks off: why says the signal.
    signal.throwIfAborted();
    throw error;
  }
}
