/**
 * Generates load over plain sockets, with as little work per request as possible because the client shares the machine
 * with what it measures.
 */
import { connect, type Socket } from 'node:net';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Load {
  readonly url: string;
  readonly method: string;
  readonly connections: number;
  /** Milliseconds of uncounted and of counted load. */
  readonly warmUpMs: number;
  readonly measureMs: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Sends a different `Idempotency-Key` with each request. */
  readonly idempotencyKeys: boolean;
  /** Bodies, sent in rotation; empty: no body. */
  readonly bodies: readonly string[];
  /** Paths with queries, requested in rotation instead of the address's own. */
  readonly paths?: readonly string[];
  readonly expectStatus: number;
}

export interface LoadResult {
  readonly perSecond: number;
  /** Answers in total, the uncounted ones included. */
  readonly answers: number;
  readonly medianMs: number;
  readonly p99Ms: number;
}

/** Generates a load in this process. */
export async function runLoad(load: Load): Promise<LoadResult> {
  const { hostname, port, pathname, search, host } = new URL(load.url);
  const fixed = Object.entries({ host, ...load.headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const paths = load.paths ?? [pathname + search];
  const bodies = load.bodies.map(
    (body) => `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  const run = `${process.pid}-${Date.now().toString(36)}`;
  let sent = 0;
  let counting = false;
  let stopped = false;
  const times: number[] = [];
  let answers = 0;
  const next = (): string => {
    sent += 1;
    const key = load.idempotencyKeys ? `idempotency-key: ${run}-${sent}\r\n` : '';
    const head = `${load.method} ${paths[sent % paths.length]} HTTP/1.1\r\n${fixed.join('')}${key}`;
    return head + (bodies.length === 0 ? '\r\n' : (bodies[sent % bodies.length] ?? ''));
  };

  const sockets: Socket[] = [];
  let failure: Error | undefined;
  for (let i = 0; i < load.connections; i += 1) {
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    let startedAt = 0;
    let left = -1;
    let head = '';
    const send = (): void => {
      startedAt = performance.now();
      left = -1;
      head = '';
      socket.write(next());
    };
    socket.setNoDelay(true).on('connect', send);
    socket.on('error', (error) => {
      failure ??= error;
    });
    socket.on('data', (chunk) => {
      if (left < 0) {
        head += chunk.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        if (end < 0) return;
        if (!head.startsWith(`HTTP/1.1 ${load.expectStatus}`)) failure ??= new Error(head.slice(0, 2000));
        const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
        left = length - (head.length - end - 4);
      } else left -= chunk.length;
      if (left > 0) return;
      answers += 1;
      if (counting) times.push(performance.now() - startedAt);
      if (!stopped) send();
    });
  }
  await sleep(load.warmUpMs);
  counting = true;
  const from = performance.now();
  await sleep(load.measureMs);
  counting = false;
  const seconds = (performance.now() - from) / 1000;
  stopped = true;
  await sleep(200);
  for (const socket of sockets) socket.destroy();
  if (failure !== undefined) throw failure;
  times.sort((a, b) => a - b);
  return {
    perSecond: times.length / seconds,
    answers,
    medianMs: times[Math.floor(times.length / 2)] ?? 0,
    p99Ms: times[Math.floor(times.length * 0.99)] ?? 0,
  };
}
