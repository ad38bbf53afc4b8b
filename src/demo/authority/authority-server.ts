// The authority's answers over HTTP: an OCSP responder (POST and GET) and the lists of both issuers.
// @see RFC 6960 appendix A
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Behaviour } from './behaviour.ts';
import type { Issuer } from './certificates.ts';
import { revocationList } from './crl-answer.ts';
import { answerDates } from './dates.ts';
import { misbehave } from './misbehave.ts';
import { emptyAnswer, isAbout, ocspAnswer, type Responder, readQuestion } from './ocsp.ts';
import { type Signers, signerFor } from './signers.ts';

export interface AuthorityServer {
  readonly port: number;
  /** Paths that were called, in order: `POST /ocsp`. */
  readonly calls: string[];
  /** Who answers; nobody until this is set. */
  serve(contents: ServerContents): void;
  close(): Promise<void>;
}

interface ServerContents {
  readonly root: Issuer;
  readonly intermediate: Issuer;
  readonly signers: Signers;
  readonly behaviour: Behaviour;
  readonly now: () => Date;
  /** The serial numbers that are revoked at this moment, hexadecimal. */
  readonly revoked: () => readonly string[];
}

const maxRequestBytes = 10_000;

/** Listens on loopback. @param port 0 for a free one */
export async function listen(port: number): Promise<AuthorityServer> {
  const calls: string[] = [];
  let contents: ServerContents | undefined;
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url?.startsWith('/ocsp/') ? '/ocsp' : request.url}`);
    answer(request, response, contents).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the authority has no port');
  return {
    port: address.port,
    calls,
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
  contents: ServerContents | undefined,
): Promise<void> {
  const [path = '/'] = (request.url ?? '/').split('?');
  if (contents === undefined) return void response.writeHead(503).end();
  const issuer = listIssuer(path, contents);
  if (issuer !== undefined) {
    if (misbehave(contents.behaviour.crl, request, response)) return;
    send(response, 'application/pkix-crl', list(issuer, contents));
    return;
  }
  if (path !== '/ocsp' && !path.startsWith('/ocsp/')) return void response.writeHead(404).end();
  const der = await readRequest(request, path);
  if (contents.behaviour.ocspDelayMs > 0) await delay(contents.behaviour.ocspDelayMs);
  if (misbehave(contents.behaviour.ocsp, request, response)) return;
  send(response, 'application/ocsp-response', statusAnswer(der, contents));
}

function listIssuer(path: string, { root, intermediate }: ServerContents): Issuer | undefined {
  if (path === '/root.crl') return root;
  return path === '/intermediate.crl' ? intermediate : undefined;
}

function list(issuer: Issuer, { behaviour, now, revoked, signers }: ServerContents): Buffer {
  const dates = answerDates(behaviour.crl, now(), behaviour.lifeSeconds);
  const key = ['forged', 'foreign'].includes(behaviour.crl) ? signers.stranger().key : issuer.key;
  const name = behaviour.crl === 'foreign' ? signers.stranger().name : issuer.name;
  return revocationList({ issuer: { name, key }, serials: revoked(), dates, behaviour: behaviour.crl });
}

function statusAnswer(der: Uint8Array, contents: ServerContents): Buffer {
  const { behaviour, now, root, intermediate, signers } = contents;
  let question: ReturnType<typeof readQuestion>;
  try {
    question = readQuestion(der);
  } catch {
    return emptyAnswer(1);
  }
  if (behaviour.ocsp === 'try-later') return emptyAnswer(3);
  const issuer = [intermediate, root].find((candidate) => isAbout(question, candidate));
  if (issuer === undefined) return emptyAnswer(6);
  const responder: Responder = signerFor(behaviour.ocsp, issuer, signers);
  const revoked = contents.revoked().includes(question.serial);
  const dates = answerDates(behaviour.ocsp, now(), behaviour.lifeSeconds);
  return ocspAnswer({ question, responder, revoked, dates, now: now(), behaviour: behaviour.ocsp });
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
