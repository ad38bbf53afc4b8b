/** The authority's answers over HTTP: an OCSP responder (POST and GET) and the lists of both issuers. @see RFC 6960 appendix A */
import { createHash, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import * as asn1 from 'asn1js';
import * as pkijs from 'pkijs';
import {
  encodeName,
  extendedKeyUsage,
  type Issuer,
  keyBits,
  keyUsage,
  mintCertificate,
  ocspNoCheck,
  signatureAlgorithm,
  signatureOf,
  signRevocationList,
} from './certificates.ts';

/** What answers are made of. */
export interface ResponderNeeds {
  readonly root: Issuer;
  readonly intermediate: Issuer;
  /** The key of those who sign OCSP answers for both. */
  readonly responderKey: KeyObject;
  readonly now: () => Date;
  /** Seconds from an answer to its `nextUpdate`. */
  readonly lifeSeconds: number;
  /** The serial numbers that are revoked now, hexadecimal. */
  readonly revoked: () => readonly string[];
}

const MAX_REQUEST_BYTES = 10_000;

export function createResponder(needs: ResponderNeeds): RequestListener {
  return (request, response) => {
    answer(request, response, needs).catch(() => response.destroy());
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, needs: ResponderNeeds): Promise<void> {
  const [path = '/'] = (request.url ?? '/').split('?');
  const send = (type: string, body: Buffer): void => {
    response.writeHead(200, { 'content-type': type, 'content-length': body.length }).end(body);
  };
  const issuers = new Map([
    ['/root.crl', needs.root],
    ['/intermediate.crl', needs.intermediate],
  ]);
  const issuer = issuers.get(path);
  if (issuer !== undefined) {
    send('application/pkix-crl', signRevocationList(issuer, needs.revoked(), datesOf(needs)));
  } else if (path === '/ocsp' || path.startsWith('/ocsp/')) {
    send('application/ocsp-response', ocspAnswer(await readRequest(request, path), needs));
  } else response.writeHead(404).end();
}

export async function readRequest(request: IncomingMessage, path: string): Promise<Buffer> {
  if (request.method === 'GET') return Buffer.from(decodeURIComponent(path.slice('/ocsp/'.length)), 'base64');
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request) {
    size += piece.length;
    if (size > MAX_REQUEST_BYTES) throw new Error('the request is too large');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** In whole seconds. */
function datesOf({ now, lifeSeconds }: ResponderNeeds): { readonly thisUpdate: Date; readonly nextUpdate: Date } {
  const start = Math.floor(now().getTime() / 1000) * 1000;
  return { thisUpdate: new Date(start), nextUpdate: new Date(start + lifeSeconds * 1000) };
}

/** An answer without contents (RFC 6960 section 4.2.1). */
const emptyAnswer = (status: 1 | 6): Buffer => Buffer.of(0x30, 3, 0x0a, 1, status);
const MALFORMED = 1;
const UNAUTHORISED = 6;
const NONCE = '1.3.6.1.5.5.7.48.1.2';
const OCSP_SIGNING = '1.3.6.1.5.5.7.3.9';
const DELEGATE_DAYS = 30;

function ocspAnswer(der: Buffer, needs: ResponderNeeds): Buffer {
  let question: pkijs.TBSRequest;
  try {
    question = pkijs.OCSPRequest.fromBER(der).tbsRequest;
  } catch {
    return emptyAnswer(MALFORMED);
  }
  const certID = question.requestList[0]?.reqCert;
  if (certID === undefined) return emptyAnswer(MALFORMED);
  const issuer = [needs.intermediate, needs.root].find((candidate) => isAbout(certID, candidate));
  if (issuer === undefined) return emptyAnswer(UNAUTHORISED);

  const { thisUpdate, nextUpdate } = datesOf(needs);
  const serial = normaliseSerial(Buffer.from(certID.serialNumber.valueBlock.valueHexView).toString('hex'));
  const one = new pkijs.SingleResponse({ certID, thisUpdate, nextUpdate });
  one.certStatus = needs.revoked().includes(serial)
    ? new asn1.Constructed({
        idBlock: { tagClass: 3, tagNumber: 1 },
        value: [new asn1.GeneralizedTime({ valueDate: thisUpdate })],
      })
    : new asn1.Primitive({ idBlock: { tagClass: 3, tagNumber: 0 } });
  const delegate = issuer.name.map(([type, text]) => [type, type === 'commonName' ? `${text} OCSP` : text] as const);
  const certificate = mintCertificate({
    subject: delegate,
    key: needs.responderKey,
    issuer,
    from: needs.now(),
    days: DELEGATE_DAYS,
    extensions: [keyUsage('responder'), extendedKeyUsage(OCSP_SIGNING), ocspNoCheck()],
  });
  const basic = new pkijs.BasicOCSPResponse({ certs: [pkijs.Certificate.fromBER(certificate.raw)] });
  const nonce = question.requestExtensions?.find(({ extnID }) => extnID === NONCE);
  basic.tbsResponseData.responderID = encodeName(delegate);
  basic.tbsResponseData.producedAt = thisUpdate;
  basic.tbsResponseData.responses = [one];
  if (nonce !== undefined) basic.tbsResponseData.responseExtensions = [nonce];
  basic.tbsResponseData.tbsView = new Uint8Array(basic.tbsResponseData.toSchema(true).toBER());
  basic.signatureAlgorithm = signatureAlgorithm();
  basic.signature = signatureOf(basic.toSchema(), needs.responderKey);
  const response = new pkijs.OCSPResponse({
    responseStatus: new asn1.Enumerated({ value: 0 }),
    responseBytes: new pkijs.ResponseBytes({
      responseType: '1.3.6.1.5.5.7.48.1.1',
      response: new asn1.OctetString({ valueHex: basic.toSchema().toBER() }),
    }),
  });
  return Buffer.from(response.toSchema().toBER());
}

const HASHES = new Map([
  ['1.3.14.3.2.26', 'sha1'],
  ['2.16.840.1.101.3.4.2.1', 'sha256'],
]);

/** Whether the question names this issuer, by the hashes of its name and key. */
function isAbout({ hashAlgorithm, issuerNameHash, issuerKeyHash }: pkijs.CertID, { name, key }: Issuer): boolean {
  const hash = HASHES.get(hashAlgorithm.algorithmId);
  if (hash === undefined) return false;
  const isHashOf = (bytes: Uint8Array, { valueBlock }: asn1.OctetString): boolean =>
    createHash(hash).update(bytes).digest().equals(valueBlock.valueHexView);
  const nameDer = new Uint8Array(encodeName(name).toSchema().toBER());
  return isHashOf(nameDer, issuerNameHash) && isHashOf(keyBits(key), issuerKeyHash);
}

/** Hexadecimal in lower case without leading zeros. */
export function normaliseSerial(hex: string): string {
  return hex
    .toLowerCase()
    .replace(/[^0-9a-f]/g, '')
    .replace(/^0+(?=.)/, '');
}

/** A server on loopback, of which the answers are set once its port is known. @param port 0 for a free one */
export async function listen(port: number): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the authority has no port');
  return { server, port: address.port };
}
