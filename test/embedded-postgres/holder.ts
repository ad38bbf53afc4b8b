/** A program that has an embedded Postgres until its standard input ends: `node holder.ts service|command DIR`. */
import { once } from 'node:events';
import { connectEmbedded } from '../../src/embedded-postgres/connect.ts';
import { startEmbedded } from '../../src/embedded-postgres/start.ts';
import { createLogger } from '../../src/kernel/log.ts';

const [purpose, dir = ''] = process.argv.slice(2);
const options = { dir, log: createLogger('silent'), settings: { fsync: 'off' } };
try {
  const postgres = purpose === 'command' ? await connectEmbedded(options) : await startEmbedded(options);
  process.stdout.write(`${JSON.stringify({ url: postgres.url })}\n`);
  process.stdin.resume();
  await once(process.stdin, 'end');
  await postgres.stop();
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`);
}
