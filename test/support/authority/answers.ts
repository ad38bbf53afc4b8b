// The test's own HTTP answers: an OCSP responder (POST and GET) and the lists of both issuers. @see RFC 6960 appendix A
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type ResponderNeeds, readRequest } from '../../../src/lib/authority/authority.ts';
import type { Issuer } from './certificates.ts';
import { emptyAnswer, isAbout, type Question, readQuestion } from './revocation.ts';

/** The answers to give. */
export interface Answers {
  /**
   * Gets every call for a status or a list first.
   * @returns true when it has handled the answer
   */
  readonly intercept: (kind: 'ocsp' | 'crl', request: IncomingMessage, response: ServerResponse) => Promise<boolean>;
  readonly ocsp: (question: Question, issuer: Issuer, needs: ResponderNeeds) => Buffer;
  readonly list: (issuer: Issuer, needs: ResponderNeeds) => Buffer;
}

export function createAnswerer(answers: Answers): (needs: ResponderNeeds) => RequestListener {
  return (needs) => (request, response) => {
    answer(request, response, answers, needs).catch(() => response.destroy());
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  answers: Answers,
  needs: ResponderNeeds,
): Promise<void> {
  const [path = '/'] = (request.url ?? '/').split('?');
  const issuer = listIssuer(path, needs);
  if (issuer !== undefined) {
    if (await answers.intercept('crl', request, response)) return;
    send(response, 'application/pkix-crl', answers.list(issuer, needs));
    return;
  }
  if (path !== '/ocsp' && !path.startsWith('/ocsp/')) return void response.writeHead(404).end();
  const der = await readRequest(request, path);
  if (await answers.intercept('ocsp', request, response)) return;
  send(response, 'application/ocsp-response', statusAnswer(der, answers, needs));
}

function listIssuer(path: string, { root, intermediate }: ResponderNeeds): Issuer | undefined {
  if (path === '/root.crl') return root;
  return path === '/intermediate.crl' ? intermediate : undefined;
}

function statusAnswer(der: Uint8Array, answers: Answers, needs: ResponderNeeds): Buffer {
  let question: Question;
  try {
    question = readQuestion(der);
  } catch {
    return emptyAnswer(1);
  }
  const issuer = [needs.intermediate, needs.root].find((candidate) => isAbout(question, candidate));
  return issuer === undefined ? emptyAnswer(6) : answers.ocsp(question, issuer, needs);
}

function send(response: ServerResponse, type: string, body: Buffer): void {
  response.writeHead(200, { 'content-type': type, 'content-length': body.length }).end(body);
}
