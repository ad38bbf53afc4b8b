/** A process that holds many streams open, and says when every one of them has had an event. */
import { connect, type Socket } from 'node:net';
import { serveParent } from './children.ts';

const sockets: Socket[] = [];
let seen = 0;
let wanted = 0;
let found: (at: number) => void = () => undefined;

function open(url: URL): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(url.port), url.hostname);
    sockets.push(socket);
    let text = '';
    let ready = false;
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (!ready && text.includes('retry: 3000\n\n')) {
        ready = true;
        text = '';
        resolve();
      }
      // The end of an event: its text has no empty line in it.
      if (ready && text.includes('id: ') && text.includes('}\n\n')) {
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
      for (let from = 0; from < count; from += 100) {
        await Promise.all(Array.from({ length: Math.min(100, count - from) }, () => open(new URL(url))));
      }
      return { open: sockets.length };
    }
    // Asked before the event is published, answered when all have it.
    seen = 0;
    wanted = sockets.length;
    const at = await new Promise<number>((resolve) => {
      found = resolve;
    });
    return { at };
  },
  async () => undefined,
);
