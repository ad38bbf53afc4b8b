import type { FastifyInstance, FastifyReply } from 'fastify';
import { Line } from '../kernel/linked-list.ts';
import { Problem } from '../kernel/problem.ts';
import { platformProblems } from './problems.ts';

/** An answer comes at most this part of the deadline after it. */
const CHECKS_PER_DEADLINE = 20;

/**
 * Answers 503 for a handler that has not begun its answer within the given milliseconds. Fastify's `handlerTimeout` makes a timer, a
 * signal and an exception with its stack for every request, which more than doubles what a small request costs, and forgets its timer
 * once the body has been read; here one timer looks after all.
 */
export function limitAnswerTime(app: FastifyInstance, milliseconds: number): void {
  // In the order of their deadlines, for all have the same time.
  const line = new Line<{ readonly reply: FastifyReply; readonly due: number }>();
  const timer = setInterval(() => {
    const now = performance.now();
    for (let { first } = line; first !== undefined && first.item.due <= now; { first } = line) {
      first.leave();
      answerLate(first.item.reply);
    }
  }, milliseconds / CHECKS_PER_DEADLINE);
  timer.unref();
  app.addHook('onRequest', (_request, reply, done) => {
    const place = line.join({ reply, due: performance.now() + milliseconds });
    // Fires however the exchange ends, also when the client goes away.
    reply.raw.once('close', () => place.leave());
    done();
  });
  app.addHook('onClose', async () => clearInterval(timer));
}

function answerLate(reply: FastifyReply): void {
  // What is being sent may take as long as its reader keeps taking it; that is the connection's own limit.
  if (reply.sent || reply.raw.headersSent) return;
  const cause = new Error('the handler did not answer in time');
  reply.send(new Problem(platformProblems.unavailable, { headers: { 'retry-after': '5' }, cause }));
}
