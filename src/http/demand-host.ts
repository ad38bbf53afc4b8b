import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../kernel/problem.ts';
import { headerValues } from './header-values.ts';
import { sendProblem } from './problem-reply.ts';
import { platformProblems } from './problems.ts';

const NO_HOST = 'Het verzoek moet eenmaal een kop `Host` hebben.';

/** Refuses a request that does not name the host it is for, known path or not; Node would do it with an empty body. */
export function demandHost(app: FastifyInstance, publicBaseUrl: () => string): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (namesHost(request.raw)) return done();
    const problem = new Problem(platformProblems.invalidRequest, { detail: NO_HOST });
    sendProblem(problem, request, reply, publicBaseUrl);
  });
}

/** Whether a request names its host once; before HTTP/1.1 it need not. @see RFC 9112 section 3.2 */
export function namesHost(request: IncomingMessage): boolean {
  const named = headerValues(request, 'host').length;
  return named === 1 || (named === 0 && request.httpVersion === '1.0');
}
