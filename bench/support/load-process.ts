/** A process that generates load on request. */
import { serveParent } from './children.ts';
import { type Load, runLoad } from './raw-client.ts';

await serveParent(
  (message) => runLoad(asLoad(message)),
  async () => undefined,
);

function asLoad(message: unknown): Load {
  if (!isLoad(message)) throw new TypeError('not a load description');
  return message;
}

function isLoad(message: unknown): message is Load {
  return typeof message === 'object' && message !== null && 'connections' in message && 'url' in message;
}
