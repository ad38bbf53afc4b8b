import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { encodeResponse, encodeStatus } from '../../../src/verwerkingenlog/ldv/otlp.ts';
import type { Span } from '../../../src/verwerkingenlog/ldv/span.ts';
import { decodeRequest } from './otlp-forms.ts';

/** How a request is answered; `undefined` accepts the lines. */
export type Answer =
  | undefined
  /** @param count how many it says, when that is another number */
  | { readonly refuse: readonly string[]; readonly message?: string; readonly count?: number }
  | {
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly body?: string;
      readonly message?: string;
    }
  | 'never'
  | 'break off'
  /** Takes the lines, and the connection breaks before the answer. */
  | 'take and break off';

export interface Receiver {
  readonly url: string;
  /** Accepted spans, in order, including repeated ones. */
  readonly taken: Span[];
  readonly requests: { readonly headers: IncomingHttpHeaders; readonly spans: readonly Span[] }[];
  /** Decides how each request is answered. */
  answer: (spans: readonly Span[], headers: IncomingHttpHeaders) => Answer;
  close(): Promise<void>;
}

/** Another logbook, controlled by a test. */
export async function startReceiver(port = 0): Promise<Receiver> {
  const receiver: Omit<Receiver, 'url' | 'close'> = { taken: [], requests: [], answer: () => undefined };
  const server = createServer(async (request, response) => {
    const spans = await decodeRequest(await buffer(request), 'protobuf');
    receiver.requests.push({ headers: request.headers, spans });
    const answer = receiver.answer(spans, request.headers);
    if (answer === 'never') return;
    if (answer === 'break off') return request.socket.destroy();
    if (answer === 'take and break off') {
      receiver.taken.push(...spans);
      return request.socket.destroy();
    }
    if (answer !== undefined && 'status' in answer) {
      const { status, headers = {}, message, body } = answer;
      response.writeHead(status, { 'content-type': 'application/x-protobuf', ...headers });
      return response.end(body ?? encodeStatus({ code: 3, message: message ?? 'no' }, 'protobuf'));
    }
    const refused = answer?.refuse ?? [];
    receiver.taken.push(...spans.filter(({ spanId }) => !refused.includes(spanId)));
    const outcome = { rejectedSpans: answer?.count ?? refused.length, errorMessage: answer?.message ?? '' };
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end(encodeResponse(outcome, 'protobuf'));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : 0;
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${bound}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}
