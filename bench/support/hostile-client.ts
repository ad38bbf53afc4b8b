/** The attacking process, separate so that its event loop is not the measuring one. */
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveParent } from './children.ts';
import { ATTACKS, type Attack, type HostileRequest, PLAIN, type Target } from './hostile-attacks.ts';

const BODY_PART = 0.5;

/** Number of answers per status; `0` is a broken connection. */
type Statuses = Record<string, number>;

async function attack(one: Attack, target: Target): Promise<{ sent: number; statuses: Statuses }> {
  const statuses: Statuses = {};
  const note = (status: number): void => {
    statuses[status] = (statuses[status] ?? 0) + 1;
  };
  const ends = performance.now() + one.seconds * 1000;
  let sent = 0;
  const agent = new Agent({ keepAlive: true, maxSockets: one.connections });
  const worker = async (): Promise<void> => {
    while (sent < one.requests && performance.now() < ends) {
      sent += 1;
      const made = one.make(sent, target);
      note(
        one.manner === 'read'
          ? await read(target.url, made, agent, ends)
          : await hold(target.url, made, one, ends, sent),
      );
    }
  };
  await Promise.all(Array.from({ length: one.connections }, worker));
  // A burst is observed for as long as a flood.
  await sleep(Math.max(0, ends - performance.now()));
  agent.destroy();
  return { sent, statuses };
}

/** Sends a request and reads its answer; an unanswered one is aborted when the time is up. */
function read(
  url: string,
  { method = 'GET', path, headers, body }: HostileRequest,
  agent: Agent,
  ends: number,
): Promise<number> {
  return new Promise((resolve) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const signal = AbortSignal.timeout(Math.max(1, Math.ceil(ends - performance.now()) + 5000));
    const outgoing = request(url + path, { method, headers: { ...headers, ...length }, agent, signal }, (incoming) => {
      incoming.on('error', () => resolve(0));
      incoming.on('end', () => resolve(incoming.statusCode ?? 0));
      incoming.resume();
    });
    outgoing.on('error', () => resolve(0));
    outgoing.end(body);
  });
}

/** Writes, then waits for the end while reading only the first bytes. */
async function hold(
  url: string,
  { method = 'GET', path, headers, body = '' }: HostileRequest,
  { manner }: Attack,
  ends: number,
  i: number,
): Promise<number> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  let status = 0;
  socket.on('error', () => undefined);
  socket.once('data', (bytes) => {
    status = Number(bytes.subarray(9, 12).toString());
    if (manner === 'quarter' && i % 4 !== 0) socket.resume();
    else socket.pause();
  });
  const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ host, ...headers, ...length }).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
  const times = typeof manner === 'object' ? manner.pipeline : 1;
  socket.write((head + body.slice(0, body.length * BODY_PART)).repeat(times));
  await sleep(Math.max(0, ends - performance.now()));
  socket.destroy();
  return status;
}

await serveParent(
  async (message) => {
    const { name, target, part = 1 }: { name: string; target: Target; part?: number } = Object(message);
    const one = [PLAIN, ...ATTACKS].find((candidate) => candidate.name === name);
    if (one === undefined) throw new Error(`there is no attack ${name}`);
    return attack({ ...one, requests: one.requests * part, seconds: one.seconds * part }, target);
  },
  async () => undefined,
);
