import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { ProblemKind } from '../kernel/problem.ts';
import { platformProblems } from './problems.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

const NO_REQUEST: ProblemKind = {
  ...platformProblems.invalidRequest,
  explanation: 'Wat er kwam, is geen volledig HTTP-verzoek.',
};
const REQUEST_TIMEOUT: ProblemKind = { ...NO_REQUEST, status: 408 };

/** Answers what is no HTTP request at all (there is no Fastify request yet, only a socket) as a problem document too. */
export function refuseUnreadable(publicBaseUrl: () => string) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const kind = kindOf(error.code);
    const body = JSON.stringify({
      type: `${publicBaseUrl()}/problems/${kind.slug}`,
      title: kind.title,
      status: kind.status,
      detail: kind.explanation,
      instance: `urn:uuid:${randomUUID()}`,
    });
    const headers = {
      ...SECURITY_HEADERS,
      'content-type': 'application/problem+json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    };
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${kind.status} \r\n${head.join('')}\r\n${body}`);
  };
}

function kindOf(code: string | undefined): ProblemKind {
  if (code === 'HPE_HEADER_OVERFLOW') return platformProblems.headersTooLarge;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return REQUEST_TIMEOUT;
  return NO_REQUEST;
}
