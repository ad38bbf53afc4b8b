// How a requester signs, and checks what it gets: written from the standard with Node's own cryptography, so that the demo
// does not check the service with the service's code.
// @see RFC 7515 appendix F, RFC 7797, ETSI TS 119 182-1 clause 5.2.8.2, RFC 3230
import { constants, createHash, sign, verify, X509Certificate } from 'node:crypto';
import { isRecord } from '../lib/json/json-value.ts';

export type SignatureForm = 'body' | 'digest';

/** PEM texts. */
export interface Identity {
  readonly key: string;
  /** Leaf first. */
  readonly chain: string;
}

const PS256 = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 } as const;

/** The two headers of a signed message. */
export function signMessage(body: Buffer, { key, chain }: Identity, form: SignatureForm): Record<string, string> {
  const digest = digestOf(body);
  const certificates = certificatesOf(chain);
  const header = base64url(
    JSON.stringify({
      alg: 'PS256',
      typ: 'JOSE',
      kid: createHash('sha256')
        .update(certificates[0]?.raw ?? '')
        .digest('base64url'),
      x5c: certificates.map(({ raw }) => raw.toString('base64')),
      ...(form === 'body'
        ? {}
        : {
            b64: false,
            crit: ['sigD', 'b64'],
            sigD: { mId: 'http://uri.etsi.org/19182/HttpHeaders', pars: ['digest'] },
          }),
    }),
  );
  const signature = sign('sha256', signingInput(header, form, body, digest), { key, ...PS256 });
  return { digest, 'nlgov-adr-payload-sig': `${header}..${signature.toString('base64url')}` };
}

/** What a signed answer turned out to be. */
interface CheckedAnswer {
  readonly digestMatches: boolean;
  readonly signatureHolds: boolean;
  readonly form: SignatureForm;
  /** Whether each certificate was issued by the next, the last one by the root. */
  readonly leadsToRoot: boolean;
  /** Subject of the signing certificate. */
  readonly subject: string;
}

/** @throws {Error} when there is no signature that can be read */
export function checkMessage(body: Buffer, headers: Headers, root: string): CheckedAnswer {
  const [header = '', middle, signature] = (headers.get('nlgov-adr-payload-sig') ?? '').split('.');
  const decoded: unknown = JSON.parse(Buffer.from(header, 'base64url').toString());
  if (middle !== '' || signature === undefined || !isRecord(decoded) || !Array.isArray(decoded.x5c)) {
    throw new Error('the answer has no detached signature');
  }
  const form = decoded.sigD === undefined ? 'body' : 'digest';
  const chain = decoded.x5c.map((der) => new X509Certificate(Buffer.from(String(der), 'base64')));
  const leaf = chain[0];
  if (leaf === undefined || decoded.alg !== 'PS256') throw new Error('the answer has no certificate, or is not PS256');
  const digest = headers.get('digest') ?? '';
  const path = [...chain, new X509Certificate(root)];
  return {
    digestMatches: digest === digestOf(body),
    signatureHolds: verify(
      'sha256',
      signingInput(header, form, body, digest, decoded.b64 !== false),
      { key: leaf.publicKey, ...PS256 },
      Buffer.from(signature, 'base64url'),
    ),
    form,
    leadsToRoot: chain.every((certificate, index) => {
      const issuer = path[index + 1];
      return issuer !== undefined && certificate.verify(issuer.publicKey);
    }),
    subject: leaf.subject.replaceAll('\n', ', '),
  };
}

function signingInput(
  header: string,
  form: SignatureForm,
  body: Buffer,
  digest: string,
  encoded = form === 'body',
): Buffer {
  const payload = form === 'body' ? body : Buffer.from(`digest: ${digest}`);
  return Buffer.concat([Buffer.from(`${header}.`), encoded ? Buffer.from(payload.toString('base64url')) : payload]);
}

function digestOf(body: Buffer): string {
  return `SHA-256=${createHash('sha256').update(body).digest('base64')}`;
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

function certificatesOf(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}
