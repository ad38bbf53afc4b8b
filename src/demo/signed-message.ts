// Signs requests and checks answers as a requester does, with the library jose, so that the service's own code does not check itself. @see RFC 7515
// appendix F, RFC 7797, ETSI TS 119 182-1 clause 5.2.8.2, RFC 3230
import { createPrivateKey, hash, X509Certificate } from 'node:crypto';
import { FlattenedSign, flattenedVerify } from 'jose';
import { isRecord } from '../lib/json/json-value.ts';

export type SignatureForm = 'body' | 'digest';

interface Identity {
  readonly key: string;
  /** Leaf first. */
  readonly chain: string;
}

const CRITICAL = { crit: { sigD: true } };

export async function signMessage(
  body: Buffer,
  { key, chain }: Identity,
  form: SignatureForm,
): Promise<Record<string, string>> {
  const digest = digestOf(body);
  const x5c = (chain.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map((pem) =>
    new X509Certificate(pem).raw.toString('base64'),
  );
  const kid = hash('sha256', Buffer.from(x5c[0] ?? '', 'base64'), 'base64url');
  const sigD = { mId: 'http://uri.etsi.org/19182/HttpHeaders', pars: ['digest'] };
  const signed = await new FlattenedSign(payloadOf(form, body, digest))
    .setProtectedHeader({
      alg: 'PS256',
      typ: 'JOSE',
      kid,
      x5c,
      ...(form === 'body' ? {} : { b64: false, crit: ['sigD', 'b64'], sigD }),
    })
    .sign(createPrivateKey(key), CRITICAL);
  return { digest, 'nlgov-adr-payload-sig': `${signed.protected}..${signed.signature}` };
}

interface CheckedAnswer {
  readonly digestMatches: boolean;
  readonly signatureHolds: boolean;
  readonly form: SignatureForm;
  /** Whether each certificate was issued by the next, the last one by the root. */
  readonly leadsToRoot: boolean;
  readonly subject: string;
}

/** @throws {Error} when there is no signature that can be read */
export async function checkMessage(body: Buffer, headers: Headers, root: string): Promise<CheckedAnswer> {
  const [header = '', middle, signature] = (headers.get('nlgov-adr-payload-sig') ?? '').split('.');
  const decoded: unknown = JSON.parse(Buffer.from(header, 'base64url').toString());
  const x5c = isRecord(decoded) && Array.isArray(decoded.x5c) ? decoded.x5c : [];
  const chain = x5c.map((der) => new X509Certificate(Buffer.from(String(der), 'base64')));
  const [leaf] = chain;
  if (middle !== '' || signature === undefined || !isRecord(decoded) || leaf === undefined) {
    throw new Error('the answer has no detached signature with a certificate');
  }
  const form = decoded.sigD === undefined ? 'body' : 'digest';
  const digest = headers.get('digest') ?? '';
  const bytes = payloadOf(form, body, digest);
  const payload = decoded.b64 === false ? bytes : bytes.toString('base64url');
  const verified = flattenedVerify({ protected: header, payload, signature }, leaf.publicKey, {
    ...CRITICAL,
    algorithms: ['PS256'],
  });
  const path = [...chain, new X509Certificate(root)];
  return {
    digestMatches: digest === digestOf(body),
    signatureHolds: await verified.then(
      () => true,
      () => false,
    ),
    form,
    leadsToRoot: chain.every((certificate, i) => certificate.verify((path[i + 1] ?? leaf).publicKey)),
    subject: leaf.subject.replaceAll('\n', ', '),
  };
}

function payloadOf(form: SignatureForm, body: Buffer, digest: string): Buffer {
  return form === 'body' ? body : Buffer.from(`digest: ${digest}`);
}

function digestOf(body: Buffer): string {
  return `SHA-256=${hash('sha256', body, 'base64')}`;
}
