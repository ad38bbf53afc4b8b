/** Stopping with connections open, each in another state: no request is lost, and nothing is waited for in vain. */
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { trackConnections } from '../../src/plugins/connections.ts';

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

let server: Server;
let connections: ReturnType<typeof trackConnections>;
/** Answers that the server holds back until the test releases them. */
let held: ServerResponse[];
let clients: Socket[];

beforeEach(async () => {
  held = [];
  clients = [];
  server = createServer((_request, response) => void held.push(response));
  connections = trackConnections(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  for (const client of clients) client.destroy();
  server.closeAllConnections();
  server.close();
});

/** A connection, and everything received on it until it closed. */
async function open(): Promise<{ client: Socket; received: Promise<string> }> {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('no port');
  const client = connect(address.port, '127.0.0.1');
  clients.push(client);
  const received = text(client);
  await once(client, 'connect');
  return { client, received };
}

/** The next request that the server receives. */
async function nextHeld(count: number): Promise<ServerResponse> {
  while (held.length < count) await new Promise((resolve) => setImmediate(resolve));
  const response = held[count - 1];
  if (response === undefined) throw new TypeError('no request');
  return response;
}

const stopServer = (): Promise<void> => connections.close();

it('closes a connection without requests', async () => {
  const accepted = once(server, 'connection');
  const { received } = await open();
  await accepted;
  await stopServer();
  expect(await received).toBe('');
});

it('closes a connection that is kept alive after its answer', async () => {
  const { client, received } = await open();
  client.write(GET);
  (await nextHeld(1)).end('one');
  await once(client, 'readable');
  await stopServer();
  expect(await received).toMatch(/^HTTP\/1.1 200 OK.*one$/s);
});

it('answers the running request, announces the end of the connection, and closes it', async () => {
  const { client, received } = await open();
  client.write(GET);
  const response = await nextHeld(1);
  const stopped = stopServer();
  response.end('late');
  await stopped;
  expect(await received).toMatch(/^HTTP\/1.1 200 OK.*Connection: close.*late$/is);
});

it('answers a request pipelined behind a running one', async () => {
  const { client, received } = await open();
  client.write(GET + GET);
  const second = await nextHeld(2);
  const stopped = stopServer();
  second.end('second');
  held[0]?.end('first');
  await stopped;
  expect(await received).toMatch(/^HTTP\/1.1 200 OK.*first.*HTTP\/1.1 200 OK.*second$/s);
});

it('answers requests on a busy connection while stopping, and then closes it', async () => {
  const { client, received } = await open();
  client.write(GET);
  const first = await nextHeld(1);
  first.writeHead(200, { 'content-length': '5' });
  first.write('fir');
  const stopped = stopServer();
  client.write(GET);
  const second = await nextHeld(2);
  first.end('st');
  second.end('second');
  await stopped;
  expect(await received).toMatch(/first.*Connection: close.*second$/is);
});

it('accepts no new connections while stopping, but answers one that it has just accepted', async () => {
  const busy = await open();
  busy.client.write(GET);
  const response = await nextHeld(1);
  const accepted = once(server, 'connection');
  const taken = await open();
  await accepted;
  const stopped = stopServer();
  taken.client.write(GET);
  (await nextHeld(2)).end('taken');
  expect(await taken.received).toMatch(/^HTTP\/1.1 200 OK.*Connection: close.*taken$/is);
  // After a quiet turn of the event loop, which other work on the machine can delay.
  await expect.poll(() => server.listening).toBe(false);
  response.end('busy');
  await stopped;
  expect(await busy.received).toContain('busy');
});

it('answers once more on existing connections when it stops accepting, even on an idle one', async () => {
  const kept = await open();
  kept.client.write(GET);
  (await nextHeld(1)).end('one');
  await once(kept.client, 'readable');
  const accepted = once(server, 'connection');
  const fresh = await open();
  await accepted;
  await connections.stopAccepting();
  expect(server.listening).toBe(false);
  kept.client.write(GET);
  (await nextHeld(2)).end('two');
  expect(await kept.received).toMatch(/Connection: keep-alive.*one.*Connection: close.*two$/is);
  fresh.client.write(GET);
  (await nextHeld(3)).end('three');
  expect(await fresh.received).toMatch(/^HTTP\/1.1 200 OK.*Connection: close.*three$/is);
});

it('marks an immediate answer as the last one', async () => {
  server.removeAllListeners('request');
  server.on('request', (_request, response: ServerResponse) => void response.end('at once'));
  connections = trackConnections(server);
  const accepted = once(server, 'connection');
  const { client, received } = await open();
  await accepted;
  await connections.stopAccepting();
  client.write(GET);
  expect(await received).toMatch(/Connection: close.*at once$/is);
});

it('closes the listener without resetting a connection whose first request was not read yet', async () => {
  const accepted = once(server, 'connection');
  const { client, received } = await open();
  await accepted;
  client.write(GET);
  // Blocks the event loop until the request has arrived unread.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  const stopped = stopServer();
  (await nextHeld(1)).end('unread');
  await stopped;
  expect(await received).toMatch(/unread$/);
});

it.each([
  ['a timer', () => new Promise((resolve) => setTimeout(resolve))],
  ['an event', () => stat(import.meta.filename)],
])(
  'closes the listener, after %s, without resetting connections that the kernel has accepted and Node has not',
  async (_, begin) => {
    await begin();
    const opening = Array.from({ length: 20 }, open);
    // The connections are opened, and no turn of the event loop accepts them.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    const stopped = stopServer();
    const opened = await Promise.all(opening);
    for (const { client } of opened) client.write(GET);
    await nextHeld(opened.length);
    for (const response of held) response.end('taken');
    await stopped;
    for (const { received } of opened) expect(await received).toMatch(/taken$/);
  },
);
