// OCSP: makes a request and checks the answer.
// @see RFC 6960 sections 3.2 and 4.2, RFC 9654 (nonce); docs/decisions/0003-path-validation.md
import { randomBytes } from 'node:crypto';
import { BaseBlock, OctetString } from 'asn1js';
import {
  BasicOCSPResponse,
  CertID,
  Extension,
  getCrypto,
  OCSPRequest,
  OCSPResponse,
  type Certificate as PkiCertificate,
  type SingleResponse,
} from 'pkijs';
import {
  type Certificate,
  extensionFault,
  keyUsage,
  parseCertificate,
  purposes,
  type Subject,
  USAGE,
} from './certificate.ts';
import { checkForm, checkSignatureAlgorithm, isStrongSignature, keyFault } from './chain.ts';

const NONCE_EXTENSION = '1.3.6.1.5.5.7.48.1.2';
const BASIC_RESPONSE = '1.3.6.1.5.5.7.48.1.1';
const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set([NONCE_EXTENSION]);
const MAX_CERTIFICATES = 5;

/** A request for one certificate, with a nonce of its own. */
interface OcspRequest {
  readonly der: Uint8Array;
  readonly nonce: Uint8Array;
}

export async function createOcspRequest(subject: Subject): Promise<OcspRequest> {
  const nonce = Uint8Array.from(randomBytes(32));
  const request = new OCSPRequest();
  await request.createForCertificate(subject.certificate.pki, certIdOptions(subject));
  const value = new OctetString({ valueHex: nonce }).toBER();
  request.tbsRequest.requestExtensions = [new Extension({ extnID: NONCE_EXTENSION, extnValue: value })];
  return { der: new Uint8Array(request.toSchema(true).toBER()), nonce };
}

/** The status that an answer gives for a certificate, and its validity. */
interface OcspAnswer {
  readonly revoked: boolean;
  readonly thisUpdate: Date;
  readonly nextUpdate: Date | undefined;
}

/**
 * Checks an answer: signed by the issuer or its delegate, about this certificate, and with our nonce. The caller judges its dates.
 * @throws Error when it is not an answer
 */
export async function readOcspAnswer(
  der: Uint8Array,
  subject: Subject,
  nonce: Uint8Array,
  now: Date,
): Promise<OcspAnswer> {
  const basic = parse(der);
  await checkSigner(basic, subject, now);
  const single = await findAnswer(basic.tbsResponseData.responses, subject);
  checkExtensions(basic.tbsResponseData.responseExtensions);
  checkExtensions(single.singleExtensions);
  checkNonce(basic, nonce, single.nextUpdate !== undefined);
  return { revoked: isRevoked(single), thisUpdate: single.thisUpdate, nextUpdate: single.nextUpdate };
}

function parse(der: Uint8Array): BasicOCSPResponse {
  const response = OCSPResponse.fromBER(Uint8Array.from(der));
  const status = response.responseStatus.valueBlock.valueDec;
  if (status !== 0) throw new Error(`the responder gives status ${status}`);
  const bytes = response.responseBytes;
  if (bytes?.responseType !== BASIC_RESPONSE) throw new Error('the answer is not a basic response');
  return BasicOCSPResponse.fromBER(Uint8Array.from(bytes.response.valueBlock.valueHexView));
}

async function checkSigner(basic: BasicOCSPResponse, subject: Subject, now: Date): Promise<void> {
  const enclosed = basic.certs ?? [];
  if (enclosed.length > MAX_CERTIFICATES) throw new Error('the answer holds too many certificates');
  if (!isStrongSignature(basic.signatureAlgorithm)) throw new Error('the answer is signed with a weak algorithm');
  let fault: unknown = new Error('the answer names no signer that is known');
  for (const candidate of [subject.issuer.pki, ...enclosed]) {
    if (!(await isNamed(basic, candidate))) continue;
    try {
      if (candidate !== subject.issuer.pki) await checkResponder(candidate, subject.issuer, now);
      await checkSignature(basic, candidate);
      return;
    } catch (error) {
      fault = error;
    }
  }
  throw fault;
}

/** The responder is named by its name or by the hash of its key. */
async function isNamed(basic: BasicOCSPResponse, candidate: PkiCertificate): Promise<boolean> {
  const id: unknown = basic.tbsResponseData.responderID;
  if (!(id instanceof OctetString)) return candidate.subject.isEqual(basic.tbsResponseData.responderID);
  const hash = await candidate.getKeyHash('SHA-1');
  return Buffer.from(hash).equals(id.valueBlock.valueHexView);
}

async function checkSignature(basic: BasicOCSPResponse, signer: PkiCertificate): Promise<void> {
  const { tbsResponseData, signature, signatureAlgorithm } = basic;
  const key = signer.subjectPublicKeyInfo;
  const valid = await getCrypto(true).verifyWithPublicKey(tbsResponseData.tbs, signature, key, signatureAlgorithm);
  if (!valid) throw new Error('the signature of the answer is not valid');
}

/** The one answer about this certificate, which is named as in the request; answers about others do not count. */
async function findAnswer(answers: readonly SingleResponse[], subject: Subject): Promise<SingleResponse> {
  const id = await CertID.create(subject.certificate.pki, certIdOptions(subject));
  const [answer, ...more] = answers.filter(({ certID }) => certID.isEqual(id));
  if (answer === undefined) throw new Error('the answer is about another certificate');
  if (more.length > 0) throw new Error('the answer has the certificate more than once');
  return answer;
}

/** SHA-1 only names the issuer here, and is the one hash that every responder knows (RFC 5019 section 2.1.1). */
function certIdOptions({ issuer }: Subject) {
  return { hashAlgorithm: 'SHA-1', issuerCertificate: issuer.pki };
}

/** An answer with an unknown critical extension, or with an extension twice, is not used (RFC 6960 section 4.4). */
function checkExtensions(extensions: readonly Extension[] = []): void {
  if (extensionFault(extensions, KNOWN_EXTENSIONS) !== undefined)
    throw new Error('an extension of the answer is not understood');
}

/** A responder that does not repeat the nonce sends prepared answers, which must have an end. */
function checkNonce(basic: BasicOCSPResponse, nonce: Uint8Array, hasEnd: boolean): void {
  const echoed = basic.tbsResponseData.responseExtensions?.find(({ extnID }) => extnID === NONCE_EXTENSION);
  if (echoed === undefined) {
    if (!hasEnd) throw new Error('the answer has neither our nonce nor an end');
    return;
  }
  const expected = Buffer.from(new OctetString({ valueHex: nonce }).toBER());
  if (!expected.equals(echoed.extnValue.valueBlock.valueHexView)) throw new Error('the answer has another nonce');
}

function isRevoked({ certStatus }: SingleResponse): boolean {
  const status: unknown = certStatus;
  const number = status instanceof BaseBlock ? status.idBlock.tagNumber : undefined;
  if (number === 0) return false;
  if (number === 1) return true;
  throw new Error('the responder does not know the certificate');
}

// Whether a delegate may answer for an issuer.
// @see RFC 6960 section 4.2.2.2

const OCSP_SIGNING = '1.3.6.1.5.5.7.3.9';

/** A delegate has the OCSP-signing purpose, was issued directly by the issuer it answers for, and is valid now. @throws Error */
async function checkResponder(candidate: PkiCertificate, issuer: Certificate, now: Date): Promise<void> {
  const delegate = parseCertificate(new Uint8Array(candidate.toSchema().toBER()));
  if (purposes(delegate)?.includes(OCSP_SIGNING) !== true) throw new Error('the responder may not sign answers');
  if (((keyUsage(delegate) ?? USAGE.digitalSignature) & USAGE.digitalSignature) === 0) {
    throw new Error('the key usage of the responder leaves out signatures');
  }
  checkForm(delegate);
  checkSignatureAlgorithm(delegate);
  if (keyFault(delegate.x509.publicKey) !== undefined) throw new Error('the responder has a weak key');
  if (!delegate.x509.checkIssued(issuer.x509) || !delegate.x509.verify(issuer.x509.publicKey)) {
    throw new Error('the responder was not appointed by the issuer');
  }
  if (now < delegate.notBefore || now > delegate.notAfter) throw new Error('the responder is not valid now');
}
