// A throw-away government PKI on loopback, modelled on PKIoverheid with unmistakable names: root, intermediate, certificates for the parties of the
// demo, an OCSP responder and revocation lists. Never trust it. The keys in its directory are kept.
import { createHash, createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as asn1 from 'asn1js';
import * as pkijs from 'pkijs';
import { listenOnLoopback } from '../loopback-server.ts';
import { readIfThere } from '../text-file.ts';
import {
  authorityExtensions,
  encodeName,
  type Issuer,
  keyBits,
  mintCertificate,
  type Name,
  partyExtensions,
  signatureAlgorithm,
  signatureOf,
  signRevocationList,
  statusExtensions,
} from './certificates.ts';

const ORGANISATION: Name = [
  ['country', 'NL'],
  ['organization', 'Koppelvlak demonstratie'],
];
const ROOT: Name = [...ORGANISATION, ['commonName', 'Koppelvlak demo Root CA']];
const INTERMEDIATE: Name = [...ORGANISATION, ['commonName', 'Koppelvlak demo Services CA']];
/** PKIoverheid's policy for services certificates in the private domain. */
const SERVICES_POLICY = '2.16.528.1.1003.1.2.8.6';

export interface AuthorityOptions {
  readonly dir: string;
  readonly port: number;
  readonly now?: () => Date;
  /** Seconds that an answer or list is valid; default 2. */
  readonly lifeSeconds?: number;
  /** Answers for the status of certificates; by default correct ones. */
  readonly respond?: (needs: ResponderNeeds) => RequestListener;
}

export interface Party {
  readonly key: string;
  readonly chain: string;
  readonly certificate: string;
  readonly oin: string;
}

export type Authority = Awaited<ReturnType<typeof createAuthority>>;

interface PartyName {
  readonly organization: string;
  readonly oin: string;
}

/** Starts the authority. @throws {Error} when the port is taken */
export async function createAuthority(options: AuthorityOptions) {
  const { dir, now = () => new Date(), lifeSeconds = 2, respond = createResponder } = options;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const file = (name: string): string => join(dir, name);
  const revoked = file('revoked.txt');
  await writeFile(revoked, '', { flag: 'a' });
  const [rootKey, key] = await Promise.all([keepKey(file('root-key.pem')), keepKey(file('intermediate-key.pem'))]);
  const root: Issuer = { name: ROOT, key: rootKey };
  const intermediate: Issuer = { name: INTERMEDIATE, key };
  const { server, port, address, close } = await listenOnLoopback(options.port, { requestTimeout: 10_000 });
  const ocspUrl = `${address}/ocsp`;
  const [crlUrl, rootCrlUrl] = [`${address}/intermediate.crl`, `${address}/root.crl`] as const;

  const rootCertificate = mintCertificate({
    subject: ROOT,
    key: rootKey,
    issuer: root,
    from: now(),
    days: 3650,
    extensions: authorityExtensions(),
  });
  const certificate = mintCertificate({
    subject: INTERMEDIATE,
    key,
    issuer: root,
    from: now(),
    days: 1825,
    extensions: [...authorityExtensions(0), ...statusExtensions(SERVICES_POLICY, ocspUrl, rootCrlUrl)],
  });
  await writeFile(file('root.pem'), rootCertificate.toString());
  await writeFile(file('intermediate.pem'), certificate.toString());
  const party = async (directory: string, name: string, { organization, oin }: PartyName): Promise<Party> => {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const at = (end: string): string => join(directory, name + end);
    const files = { key: at('-key.pem'), chain: at('-chain.pem'), certificate: at('.pem'), oin };
    const subject: Name = [
      ['country', 'NL'],
      ['organization', organization],
      ['commonName', `${organization} gegevenslevering`],
      ['serialNumber', oin],
    ];
    const leaf = mintCertificate({
      subject,
      key: await keepKey(files.key),
      issuer: intermediate,
      from: now(),
      days: 730,
      extensions: [...partyExtensions(), ...statusExtensions(SERVICES_POLICY, ocspUrl, crlUrl)],
    });
    await writeFile(files.certificate, leaf.toString());
    await writeFile(files.chain, `${leaf}${certificate}`);
    return files;
  };
  const requester = { organization: 'Voorbeeld Statistiek', oin: '00000099000000001000' };
  const supplier = { organization: 'Voorbeeld Leverancier', oin: '00000099000000002000' };
  const parties = {
    requester: await party(dir, 'requester', requester),
    supplier: await party(dir, 'supplier', supplier),
  };
  server.on('request', respond({ root, intermediate, now, lifeSeconds, revoked: () => readRevoked(revoked) }));
  return {
    dir,
    root: file('root.pem'),
    intermediate: file('intermediate.pem'),
    intermediateKey: file('intermediate-key.pem'),
    ...parties,
    ocspUrl,
    crlUrl,
    rootCrlUrl,
    /** A text file of hexadecimal serial numbers, one a line, read at every request; lines that begin with # are remarks. */
    revoked,
    port,
    issuers: { root, intermediate },
    party,
    close,
  };
}

/** The RSA key in the file; a new one, readable by its owner only, when the file does not exist. */
async function keepKey(path: string): Promise<KeyObject> {
  const kept = await readIfThere(path);
  if (kept !== undefined) return createPrivateKey(kept);
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  await writeFile(path, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  return privateKey;
}

function readRevoked(path: string): string[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map(normaliseSerial);
}

// The answers over HTTP: an OCSP responder (POST and GET) and the lists of both issuers. @see RFC 6960 appendix A

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

function createResponder(needs: ResponderNeeds): RequestListener {
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

function normaliseSerial(hex: string): string {
  return hex
    .toLowerCase()
    .replace(/[^0-9a-f]/g, '')
    .replace(/^0+(?=.)/, '');
}
