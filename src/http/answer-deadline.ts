import type { FastifyInstance, FastifyReply } from 'fastify';
import { Problem } from '../kernel/problem.ts';
import { platformProblems } from './problems.ts';

/**
 * Answers 503 for a handler that has not begun its answer within the given milliseconds. Fastify's `handlerTimeout` makes a signal and an
 * exception with its stack for every request, which more than doubles what a small request costs, and forgets its timer once the body has
 * been read. Timers of one duration are a list to Node: one more costs no more than a microsecond.
 */
export function limitAnswerTime(app: FastifyInstance, milliseconds: number): void {
  app.addHook('onRequest', (_request, reply, done) => {
    const timer = setTimeout(() => answerLate(reply), milliseconds).unref();
    // Fires however the exchange ends, also when the client goes away.
    reply.raw.once('close', () => clearTimeout(timer));
    done();
  });
}

function answerLate(reply: FastifyReply): void {
  // What is being sent may take as long as its reader keeps taking it; that is the connection's own limit.
  if (reply.sent || reply.raw.headersSent) return;
  const cause = new Error('the handler did not answer in time');
  reply.send(new Problem(platformProblems.unavailable, { headers: { 'retry-after': '5' }, cause }));
}
