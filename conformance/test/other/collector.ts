/** An OTLP intake that answers as an OpenTelemetry Collector does: it accepts every span, from anybody. JSON only. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

export async function startCollectorLike(): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const reply = (status: number, type: string, text: string) =>
      response.writeHead(status, { 'content-type': type }).end(text);
    if (request.url !== '/v1/traces') return reply(404, 'text/plain', 'page not found');
    if (request.method !== 'POST') return reply(405, 'text/plain', '405 method not allowed, supported: [POST]');
    if (request.headers['content-type'] !== 'application/json')
      return reply(415, 'text/plain', '415 unsupported media type');
    try {
      const plain = request.headers['content-encoding'] === undefined ? body : gunzipSync(body);
      const { resourceSpans = [] } = JSON.parse(plain.toString());
      if (!Array.isArray(resourceSpans) || plain.toString().startsWith('[')) throw new TypeError('no list');
      return reply(200, 'application/json', '{"partialSuccess":{}}');
    } catch (error) {
      return reply(400, 'application/json', JSON.stringify({ code: 3, message: String(error) }));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/v1`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
