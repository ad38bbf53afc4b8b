// Faulty ways of answering below the level of the format, for tests.
import type { IncomingMessage, ServerResponse } from 'node:http';

const piece = Buffer.alloc(64 * 1024, 0x30);

/** @returns true when it has handled the answer */
export function misbehave(behaviour: string, request: IncomingMessage, response: ServerResponse): boolean {
  const path = request.url ?? '/';
  const host = request.headers.host ?? '127.0.0.1';
  const redirect = (location: string): true => {
    response.writeHead(307, { location }).end();
    return true;
  };
  switch (behaviour) {
    case 'hang':
      return true;
    case 'drip':
      drip(response);
      return true;
    case 'not-found':
      response.writeHead(404).end('not here');
      return true;
    case 'garbage':
      response.writeHead(200).end(Buffer.from('this is not DER'));
      return true;
    case 'empty':
      response.writeHead(200).end();
      return true;
    case 'gigabyte':
      flood(response);
      return true;
    case 'redirect-elsewhere':
      return redirect(`http://localhost:${host.split(':')[1]}${path}`);
    case 'redirect-forever':
      return redirect(`http://${host}${path}`);
    case 'redirect-own-host':
      return path.includes('?again') ? false : redirect(`http://${host}${path}?again`);
    default:
      return false;
  }
}

/** A byte now and then, for ever. */
function drip(response: ServerResponse): void {
  response.writeHead(200);
  const timer = setInterval(() => response.write('0'), 50);
  response.on('close', () => clearInterval(timer));
}

/** A gigabyte, as fast as it is read. */
function flood(response: ServerResponse): void {
  response.writeHead(200);
  let left = 16_384;
  const more = (): void => {
    while (left > 0) {
      left -= 1;
      if (!response.write(piece)) return;
    }
    response.end();
  };
  response.on('drain', more);
  more();
}
