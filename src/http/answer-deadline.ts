import type { FastifyInstance, FastifyReply } from 'fastify';
import { Problem } from '../kernel/problem.ts';
import { platformProblems } from './problems.ts';

/** An answer comes at most this part of the deadline after it. */
const CHECKS_PER_DEADLINE = 20;

/**
 * Answers 503 for a handler that has not answered within the given milliseconds, and breaks off an answer that is still being sent then;
 * a reply that was taken over (`hijack`) keeps its own time. Fastify's `handlerTimeout` does the same with a timer, a signal and an
 * exception with its stack for every request, which more than doubles what a small request costs; here one timer looks after all.
 */
export function limitAnswerTime(app: FastifyInstance, milliseconds: number): void {
  // In the order of their deadlines, for all have the same time.
  const dueTimes = new Map<FastifyReply, number>();
  const timer = setInterval(() => {
    const now = performance.now();
    for (const [reply, due] of dueTimes) {
      if (due > now) break;
      dueTimes.delete(reply);
      answerLate(reply);
    }
  }, milliseconds / CHECKS_PER_DEADLINE);
  timer.unref();
  app.addHook('onRequest', (_request, reply, done) => {
    dueTimes.set(reply, performance.now() + milliseconds);
    // Fires however the exchange ends, also when the client goes away.
    reply.raw.once('close', () => dueTimes.delete(reply));
    done();
  });
  app.addHook('onClose', async () => clearInterval(timer));
}

function answerLate(reply: FastifyReply): void {
  if (reply.sent) return;
  const cause = new Error('the handler did not answer in time');
  if (reply.raw.headersSent) reply.raw.destroy(cause);
  else reply.send(new Problem(platformProblems.unavailable, { headers: { 'retry-after': '5' }, cause }));
}
