/** A program that runs an embedded Postgres until its standard input ends: `node holder.ts DIR`. */
import { once } from 'node:events';
import { startEmbedded } from '../../src/embedded-postgres/start.ts';
import { createLogger } from '../../src/lib/log.ts';

const [dir = ''] = process.argv.slice(2);
try {
  const postgres = await startEmbedded({ dir, log: createLogger('silent'), settings: { fsync: 'off' } });
  process.stdout.write(`${JSON.stringify({ url: postgres.url })}\n`);
  process.stdin.resume();
  await once(process.stdin, 'end');
  await postgres.stop();
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`);
}
