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
const OCSP_SIGNING = '1.3.6.1.5.5.7.3.9';
const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set([NONCE_EXTENSION]);
const MAX_CERTIFICATES = 5;

/** A request for one certificate, in DER, with a nonce of its own. */
export async function createOcspRequest(subject: Subject) {
  const nonce = Uint8Array.from(randomBytes(32));
  const request = new OCSPRequest();
  await request.createForCertificate(subject.certificate.pki, certIdOptions(subject));
  const value = new OctetString({ valueHex: nonce }).toBER();
  request.tbsRequest.requestExtensions = [new Extension({ extnID: NONCE_EXTENSION, extnValue: value })];
  return { der: new Uint8Array(request.toSchema(true).toBER()), nonce };
}

/** SHA-1 only names the issuer here, and is the one hash that every responder knows (RFC 5019 section 2.1.1). */
function certIdOptions({ issuer }: Subject) {
  return { hashAlgorithm: 'SHA-1', issuerCertificate: issuer.pki };
}

/** Reads the answer about this certificate, signed by the issuer or its delegate, with our nonce; the caller checks its dates. @throws Error for any other answer */
export async function readOcspAnswer(der: Uint8Array, subject: Subject, nonce: Uint8Array, now: Date) {
  const response = OCSPResponse.fromBER(Uint8Array.from(der));
  const status = response.responseStatus.valueBlock.valueDec;
  if (status !== 0) throw new Error(`the responder gives status ${status}`);
  const bytes = response.responseBytes;
  if (bytes?.responseType !== BASIC_RESPONSE) throw new Error('the answer is not a basic response');
  const basic = BasicOCSPResponse.fromBER(Uint8Array.from(bytes.response.valueBlock.valueHexView));
  await checkSigner(basic, subject, now);
  const { responses, responseExtensions = [] } = basic.tbsResponseData;
  const { thisUpdate, nextUpdate, singleExtensions = [], certStatus } = await findAnswer(responses, subject);
  for (const extensions of [responseExtensions, singleExtensions]) {
    // One that is unknown and critical, or there twice (RFC 6960 section 4.4).
    const fault = extensionFault(extensions, KNOWN_EXTENSIONS);
    if (fault !== undefined) throw new Error('an extension of the answer is not understood');
  }
  checkNonce(responseExtensions, nonce, nextUpdate !== undefined);
  return { revoked: isRevoked(certStatus), thisUpdate, nextUpdate };
}

async function checkSigner(basic: BasicOCSPResponse, { issuer }: Subject, now: Date): Promise<void> {
  const { certs: enclosed = [], signatureAlgorithm, signature, tbsResponseData } = basic;
  if (enclosed.length > MAX_CERTIFICATES) throw new Error('the answer holds too many certificates');
  if (!isStrongSignature(signatureAlgorithm)) throw new Error('the answer is signed with a weak algorithm');
  let fault: unknown = new Error('the answer names no signer that is known');
  for (const candidate of [issuer.pki, ...enclosed]) {
    if (!(await isNamed(basic, candidate))) continue;
    try {
      if (candidate !== issuer.pki) checkResponder(candidate, issuer, now);
      const key = candidate.subjectPublicKeyInfo;
      if (await getCrypto(true).verifyWithPublicKey(tbsResponseData.tbs, signature, key, signatureAlgorithm)) return;
      throw new Error('the signature of the answer is not valid');
    } catch (error) {
      fault = error;
    }
  }
  throw fault;
}

async function isNamed({ tbsResponseData }: BasicOCSPResponse, candidate: PkiCertificate): Promise<boolean> {
  const id: unknown = tbsResponseData.responderID;
  if (!(id instanceof OctetString)) return candidate.subject.isEqual(tbsResponseData.responderID);
  return Buffer.from(await candidate.getKeyHash('SHA-1')).equals(id.valueBlock.valueHexView);
}

/** The one answer about this certificate, which is named as in the request; answers about others do not count. */
async function findAnswer(answers: readonly SingleResponse[], subject: Subject): Promise<SingleResponse> {
  const id = await CertID.create(subject.certificate.pki, certIdOptions(subject));
  const [answer, ...more] = answers.filter(({ certID }) => certID.isEqual(id));
  if (answer === undefined) throw new Error('the answer is about another certificate');
  if (more.length > 0) throw new Error('the answer has the certificate more than once');
  return answer;
}

/** A responder that does not repeat the nonce sends prepared answers, which must have an end. */
function checkNonce(extensions: readonly Extension[], nonce: Uint8Array, hasEnd: boolean): void {
  const echoed = extensions.find(({ extnID }) => extnID === NONCE_EXTENSION);
  if (echoed === undefined) {
    if (!hasEnd) throw new Error('the answer has neither our nonce nor an end');
    return;
  }
  const expected = Buffer.from(new OctetString({ valueHex: nonce }).toBER());
  if (!expected.equals(echoed.extnValue.valueBlock.valueHexView)) throw new Error('the answer has another nonce');
}

function isRevoked(status: unknown): boolean {
  const number = status instanceof BaseBlock ? status.idBlock.tagNumber : undefined;
  if (number === 0) return false;
  if (number === 1) return true;
  throw new Error('the responder does not know the certificate');
}

/** Whether a delegate may answer for an issuer. @see RFC 6960 section 4.2.2.2 @throws Error */
function checkResponder(candidate: PkiCertificate, issuer: Certificate, now: Date): void {
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
