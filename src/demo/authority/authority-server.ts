// The authority's answers over HTTP: an OCSP responder (POST and GET) and the lists of both issuers.
// @see RFC 6960 appendix A
import type { KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Issuer } from './certificates.ts';
import {
  appointDelegate,
  datesFrom,
  emptyAnswer,
  encodeEntry,
  encodeOcspAnswer,
  encodeRevocationList,
  encodeStatus,
  isAbout,
  nonceExtensions,
  type Question,
  readQuestion,
} from './revocation.ts';

export interface AuthorityServer {
  readonly port: number;
  /** Sets what answers; until then nothing does. */
  serve(contents: ServerContents): void;
  close(): Promise<void>;
}

export interface ServerContents {
  readonly root: Issuer;
  readonly intermediate: Issuer;
  /** The key of those who sign OCSP answers for both. */
  readonly responderKey: KeyObject;
  readonly now: () => Date;
  /** Seconds from an answer to its `nextUpdate`. */
  readonly lifeSeconds: number;
  /** The serial numbers that are revoked at this moment, hexadecimal. */
  readonly revoked: () => readonly string[];
}

/** What is answered. */
export interface Answers {
  /** Sees every call for a status or a list first. @returns true when it has taken the answer over */
  readonly intercept?: (kind: 'ocsp' | 'crl', request: IncomingMessage, response: ServerResponse) => Promise<boolean>;
  readonly ocsp: (question: Question, issuer: Issuer, contents: ServerContents) => Buffer;
  readonly list: (issuer: Issuer, contents: ServerContents) => Buffer;
}

/** As an authority should answer. */
export const honestAnswers: Answers = {
  ocsp(question, issuer, { responderKey, now, lifeSeconds, revoked }) {
    const at = now();
    const status = revoked().includes(question.serial) ? 'revoked' : 'good';
    return encodeOcspAnswer({
      responder: appointDelegate(issuer, { key: responderKey, now: at }),
      now: at,
      statuses: [encodeStatus({ certId: question.certId, status, dates: datesFrom(at, lifeSeconds) })],
      extensions: nonceExtensions(question),
    });
  },
  list(issuer, { now, lifeSeconds, revoked }) {
    const dates = datesFrom(now(), lifeSeconds);
    return encodeRevocationList({
      issuer,
      entries: revoked().map((serial) => encodeEntry(serial, dates.thisUpdate)),
      dates,
    });
  },
};

const maxRequestBytes = 10_000;

/** Listens on loopback. @param port 0 for a free one */
export async function listen(port: number, answers: Answers): Promise<AuthorityServer> {
  let contents: ServerContents | undefined;
  const server = createServer((request, response) => {
    answer(request, response, answers, contents).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the authority has no port');
  return {
    port: address.port,
    serve: (given) => {
      contents = given;
    },
    close: () => stop(server),
  };
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  answers: Answers,
  contents: ServerContents | undefined,
): Promise<void> {
  const [path = '/'] = (request.url ?? '/').split('?');
  if (contents === undefined) return void response.writeHead(503).end();
  const issuer = listIssuer(path, contents);
  if (issuer !== undefined) {
    if (await answers.intercept?.('crl', request, response)) return;
    send(response, 'application/pkix-crl', answers.list(issuer, contents));
    return;
  }
  if (path !== '/ocsp' && !path.startsWith('/ocsp/')) return void response.writeHead(404).end();
  const der = await readRequest(request, path);
  if (await answers.intercept?.('ocsp', request, response)) return;
  send(response, 'application/ocsp-response', statusAnswer(der, answers, contents));
}

function listIssuer(path: string, { root, intermediate }: ServerContents): Issuer | undefined {
  if (path === '/root.crl') return root;
  return path === '/intermediate.crl' ? intermediate : undefined;
}

function statusAnswer(der: Uint8Array, answers: Answers, contents: ServerContents): Buffer {
  let question: Question;
  try {
    question = readQuestion(der);
  } catch {
    return emptyAnswer(1);
  }
  const issuer = [contents.intermediate, contents.root].find((candidate) => isAbout(question, candidate));
  return issuer === undefined ? emptyAnswer(6) : answers.ocsp(question, issuer, contents);
}

async function readRequest(request: IncomingMessage, path: string): Promise<Buffer> {
  if (request.method === 'GET') return Buffer.from(decodeURIComponent(path.slice('/ocsp/'.length)), 'base64');
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request) {
    size += piece.length;
    if (size > maxRequestBytes) throw new Error('the request is too large');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function send(response: ServerResponse, type: string, body: Buffer): void {
  response.writeHead(200, { 'content-type': type, 'content-length': body.length }).end(body);
}
