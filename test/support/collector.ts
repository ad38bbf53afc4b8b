/** An OpenTelemetry collector that keeps what it receives. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Span } from '../../src/verwerkingenlog/ldv/span.ts';
import { decodeRequest } from '../verwerkingenlog/ldv/otlp-forms.ts';

export interface Collector {
  readonly url: string;
  readonly spans: Span[];
  /** Everything received: heads and bodies. */
  readonly received: () => string;
  /** How the next requests are answered. */
  status: number | 'never';
  close(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const spans: Span[] = [];
  const bytes: Buffer[] = [];
  const collector = { status: 200 as number | 'never' };
  const take = async (request: IncomingMessage): Promise<void> => {
    const body = await buffer(request);
    bytes.push(Buffer.from(`${request.url} ${request.rawHeaders.join(' ')} `), body);
    if (request.url === '/v1/traces') spans.push(...(await decodeRequest(body, 'protobuf')));
  };
  const server = createServer(async (request, response) => {
    await take(request);
    if (collector.status === 'never') return;
    response.writeHead(collector.status, { 'content-type': 'application/x-protobuf' });
    response.end(collector.status === 200 ? '' : 'the collector says why');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return Object.assign(collector, {
    url: `http://127.0.0.1:${port}`,
    spans,
    received: () => Buffer.concat(bytes).toString('latin1'),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}
