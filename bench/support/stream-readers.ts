/** A process that holds many streams open and reports when every one of them has received an event. */
import { connect, type Socket } from 'node:net';
import { serveParent } from './children.ts';

const OPEN_TIMEOUT_MS = 30_000;
const EVENT_TIMEOUT_MS = 30_000;

const sockets: Socket[] = [];
let seen = 0;
let wanted = 0;
let found: (at: number) => void = () => undefined;
/** A refused or broken stream gets no events, so waiting for all of them would never end. */
let broken: Error | undefined;
let fail: (reason: Error) => void = () => undefined;

function open(url: URL): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(url.port), url.hostname);
    sockets.push(socket);
    let text = '';
    let ready = false;
    const end = (reason: string): void => {
      if (!sockets.includes(socket)) return;
      broken ??= new Error(reason);
      reject(broken);
      fail(broken);
    };
    socket.setTimeout(OPEN_TIMEOUT_MS, () => end(`a stream was not answered within ${OPEN_TIMEOUT_MS} ms`));
    socket.on('error', (error) => end(`a stream failed: ${error.message}`));
    socket.on('close', () => end('a stream was closed by the server'));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (!ready) {
        const [head, body] = text.split('\r\n\r\n', 2);
        if (body === undefined) return;
        const status = head?.split(' ', 2)[1];
        if (status !== '200') return end(`a stream was refused with status ${status}: ${body}`);
        if (!body.includes('retry: 3000\n\n')) return;
        ready = true;
        text = '';
        socket.setTimeout(0);
        resolve();
      }
      // An empty line ends an event; its text contains none.
      if (text.includes('id: ') && text.includes('}\n\n')) {
        text = '';
        seen += 1;
        if (seen === wanted) found(performance.timeOrigin + performance.now());
      }
    });
    socket.write(`GET ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\n\r\n`);
  });
}

await serveParent(
  async (message) => {
    const { url, count } = Object(message);
    if (typeof url === 'string') {
      for (const socket of sockets.splice(0)) socket.destroy();
      broken = undefined;
      for (let from = 0; from < count; from += 100) {
        await Promise.all(Array.from({ length: Math.min(100, count - from) }, () => open(new URL(url))));
      }
      return { open: sockets.length };
    }
    // Requested before the event is published, answered when all streams have it.
    if (broken !== undefined) throw broken;
    seen = 0;
    wanted = sockets.length;
    let timer: NodeJS.Timeout | undefined;
    const at = await new Promise<number>((resolve, reject) => {
      found = resolve;
      fail = reject;
      const late = (): void =>
        reject(new Error(`${seen} of ${wanted} streams had the event in ${EVENT_TIMEOUT_MS} ms`));
      timer = setTimeout(late, EVENT_TIMEOUT_MS);
    }).finally(() => clearTimeout(timer));
    return { at };
  },
  async () => undefined,
);
