/** The authority's answers over HTTP: an OCSP responder (POST and GET) and the lists of both issuers. @see RFC 6960 appendix A */
import { createHash } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import * as asn1 from 'asn1js';
import * as pkijs from 'pkijs';
import {
  encodeName,
  type Issuer,
  keyBits,
  signatureAlgorithm,
  signatureOf,
  signRevocationList,
} from './certificates.ts';

export interface ResponderNeeds {
  readonly root: Issuer;
  readonly intermediate: Issuer;
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
  const issuer = { '/root.crl': needs.root, '/intermediate.crl': needs.intermediate }[path];
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

/** Answers without contents (RFC 6960 section 4.2.1). */
const MALFORMED = Buffer.of(0x30, 3, 0x0a, 1, 1);
const UNAUTHORISED = Buffer.of(0x30, 3, 0x0a, 1, 6);
const NONCE = '1.3.6.1.5.5.7.48.1.2';

/** Signed by the issuer of the certificate itself. */
function ocspAnswer(der: Buffer, needs: ResponderNeeds): Buffer {
  let question: pkijs.TBSRequest;
  try {
    question = pkijs.OCSPRequest.fromBER(der).tbsRequest;
  } catch {
    return MALFORMED;
  }
  const certID = question.requestList[0]?.reqCert;
  if (certID === undefined) return MALFORMED;
  const issuer = [needs.intermediate, needs.root].find(({ key }) => isKeyOf(certID, keyBits(key)));
  if (issuer === undefined) return UNAUTHORISED;

  const { thisUpdate, nextUpdate } = datesOf(needs);
  const serial = normaliseSerial(Buffer.from(certID.serialNumber.valueBlock.valueHexView).toString('hex'));
  const one = new pkijs.SingleResponse({ certID, thisUpdate, nextUpdate });
  one.certStatus = needs.revoked().includes(serial)
    ? new asn1.Constructed({
        idBlock: { tagClass: 3, tagNumber: 1 },
        value: [new asn1.GeneralizedTime({ valueDate: thisUpdate })],
      })
    : new asn1.Primitive({ idBlock: { tagClass: 3, tagNumber: 0 } });
  const basic = new pkijs.BasicOCSPResponse();
  const nonce = question.requestExtensions?.find(({ extnID }) => extnID === NONCE);
  basic.tbsResponseData.responderID = encodeName(issuer.name);
  basic.tbsResponseData.producedAt = thisUpdate;
  basic.tbsResponseData.responses = [one];
  if (nonce !== undefined) basic.tbsResponseData.responseExtensions = [nonce];
  basic.tbsResponseData.tbsView = new Uint8Array(basic.tbsResponseData.toSchema(true).toBER());
  basic.signatureAlgorithm = signatureAlgorithm();
  basic.signature = signatureOf(basic.toSchema(), issuer.key);
  const response = new pkijs.OCSPResponse({
    responseStatus: new asn1.Enumerated({ value: 0 }),
    responseBytes: new pkijs.ResponseBytes({
      responseType: '1.3.6.1.5.5.7.48.1.1',
      response: new asn1.OctetString({ valueHex: basic.toSchema().toBER() }),
    }),
  });
  return Buffer.from(response.toSchema().toBER());
}

/** Whether the request names the issuer with this key, by a hash of SHA-1 or SHA-256. */
function isKeyOf({ issuerKeyHash }: pkijs.CertID, bits: Buffer): boolean {
  const named = issuerKeyHash.valueBlock.valueHexView;
  return ['sha1', 'sha256'].some((hash) => createHash(hash).update(bits).digest().equals(named));
}

export function normaliseSerial(hex: string): string {
  return hex
    .toLowerCase()
    .replace(/[^0-9a-f]/g, '')
    .replace(/^0+(?=.)/, '');
}
