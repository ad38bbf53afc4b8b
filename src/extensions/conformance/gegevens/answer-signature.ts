import { hash, X509Certificate } from 'node:crypto';
import type { JadesErrorCode } from '../../../lib/jades/certificate.ts';
import { digestOf } from '../../../lib/jades/signature.ts';
import { isRecord, type JsonObject } from '../../../lib/json/json-value.ts';
import type { Chapter, Clause, ConformanceCase, Finding } from '../case.ts';
import { rfc } from '../clause.ts';
import type { Exchange } from '../client.ts';
import { signing, signingPage } from './sources.ts';
import { type GegevensSubject, good, signed } from './subject.ts';

const SIGNATURE = 'nlgov-adr-payload-sig';
/** The clock of a signer may be this much off. */
const LEEWAY_SECONDS = 300;

/** The protected header of an answer; empty where it cannot be read. */
function headerOf({ headers }: Exchange): JsonObject {
  try {
    const [encoded = ''] = (headers[SIGNATURE] ?? '').split('.');
    const header: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString());
    return isRecord(header) ? header : {};
  } catch {
    return {};
  }
}

/** A rule of the header of the answer's signature. */
const header = (
  id: string,
  [nl, en]: readonly [string, string],
  source: Clause,
  check: (header: JsonObject) => string | undefined,
): ConformanceCase<GegevensSubject> => ({
  ...{ id, title: { nl, en }, level: 'must', source, dependsOn: ['A-JWS-03'], ask: [signed()] },
  check: (_, { answers: [only] }): Finding => {
    const failed = only && check(headerOf(only));
    return failed === undefined ? undefined : { failed };
  },
});

/** What the library that checks signatures says of the answer. */
const holds = (
  id: string,
  [nl, en]: readonly [string, string],
  source: Clause,
  dependsOn: readonly string[],
  codes: readonly JadesErrorCode[],
): ConformanceCase<GegevensSubject> => ({
  ...{ id, title: { nl, en }, level: 'must', source, dependsOn },
  check: async ({ small, signatureFault }): Promise<Finding> => {
    const at = good(small);
    const fault = await signatureFault(at);
    return fault !== undefined && codes.includes(fault.code)
      ? { failed: `${fault.code}: ${fault.detail}`, at }
      : undefined;
  },
});

/** Why the certificates are not a path from the leaf; undefined: they are. */
function pathFault(x5c: unknown): string | undefined {
  if (!Array.isArray(x5c) || x5c.length === 0) return 'there is no `x5c` with certificates';
  const chain: X509Certificate[] = [];
  for (const text of x5c) {
    if (typeof text !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return '`x5c` is not base64';
    try {
      chain.push(new X509Certificate(Buffer.from(text, 'base64')));
    } catch {
      return '`x5c` holds something that is not a certificate in DER';
    }
  }
  const wrong = chain.findIndex((one, i) => {
    const issuer = chain[i + 1];
    return issuer !== undefined && !one.checkIssued(issuer);
  });
  return wrong === -1 ? undefined : `certificate ${wrong + 1} of \`x5c\` was not issued by the next one`;
}

export const ANSWER_SIGNATURE: Chapter<GegevensSubject> = {
  id: 'A-JWS',
  title: { nl: 'De handtekening van het antwoord', en: 'The signature of the answer' },
  cases: [
    {
      id: 'A-JWS-01',
      title: { nl: 'Een antwoord heeft een `Digest`', en: 'An answer has a `Digest`' },
      level: 'must',
      source: signing('pattern `^SHA-256=[A-Za-z0-9+/=]{43,44}$`'),
      dependsOn: ['A-REQ-01'],
      ask: [signed()],
      expect: { headers: { digest: /^SHA-256=[A-Za-z0-9+/=]{43,44}$/ } },
    },
    {
      id: 'A-JWS-02',
      title: { nl: 'De `Digest` is die van de ontvangen bytes', en: 'The `Digest` is that of the bytes received' },
      level: 'must',
      source: signing('SHA-256 digest of the payload per RFC 3230'),
      dependsOn: ['A-JWS-01'],
      check: ({ small, pages }): Finding => {
        const wrong = [small, ...pages].find((one) => {
          const digest = one?.headers.digest ?? '';
          return one !== undefined && digestOf(one.body) !== digest && digestOf(one.body) !== `${digest}=`;
        });
        return wrong === undefined ? undefined : { failed: 'the digest is of other bytes', at: wrong };
      },
    },
    {
      id: 'A-JWS-03',
      title: { nl: 'Een antwoord heeft een losse handtekening', en: 'An answer has a detached signature' },
      level: 'must',
      source: signing('required on the request and on the 200 response'),
      dependsOn: ['A-REQ-01'],
      ask: [signed()],
      expect: { headers: { [SIGNATURE]: /^[A-Za-z0-9_-]+\.\.[A-Za-z0-9_-]+$/ } },
    },
    header('A-JWS-04', ['Het algoritme is PS256', 'The algorithm is PS256'], signing('`alg` = `PS256`'), ({ alg }) =>
      alg === 'PS256' ? undefined : `\`alg\` is ${JSON.stringify(alg)}`,
    ),
    header(
      'A-JWS-05',
      ['De handtekening noemt de sleutel in `kid`', 'The signature names the key in `kid`'],
      signing('`kid` = key identifier'),
      ({ kid }) => (typeof kid === 'string' && kid !== '' ? undefined : 'there is no `kid`'),
    ),
    header('A-JWS-06', ['`typ` is `JOSE`', '`typ` is `JOSE`'], signing('`typ` = `JOSE`'), ({ typ }) =>
      // Media types have no case, and may leave out `application/` (RFC 7515 section 4.1.9).
      typeof typ === 'string' && /^(?:application\/)?jose$/i.test(typ)
        ? undefined
        : `\`typ\` is ${JSON.stringify(typ)}`,
    ),
    header(
      'A-JWS-07',
      [
        '`x5c` heeft de keten, te beginnen met het certificaat van de ondertekenaar',
        '`x5c` has the chain, beginning with the certificate of the signer',
      ],
      rfc(7515, '4.1.6', 'with each subsequent certificate being the one used to certify the previous one'),
      ({ x5c }) => pathFault(x5c),
    ),
    header(
      'A-JWS-08',
      ['`crit` noemt alleen wat er staat, en `b64: false`', '`crit` names only what is there, and `b64: false`'],
      rfc(7797, '6', 'the "crit" Header Parameter MUST be included'),
      (members) => {
        const { crit = [], b64 = true } = members;
        if (!Array.isArray(crit)) return '`crit` is not a list';
        const absent: unknown = crit.find((name) => typeof name !== 'string' || !Object.hasOwn(members, name));
        if (absent !== undefined) return `\`crit\` names ${JSON.stringify(absent)}, which is not there`;
        return b64 === false && !crit.includes('b64') ? '`b64` is false, and `crit` does not name it' : undefined;
      },
    ),
    holds(
      'A-JWS-09',
      ['De handtekening klopt', 'The signature holds'],
      signing('The response [is signed] with the private key of the supplier'),
      ['A-JWS-02', 'A-JWS-04', 'A-JWS-07', 'A-JWS-08'],
      ['signature-invalid', 'signature-malformed', 'signature-algorithm', 'digest-mismatch', 'digest-missing'],
    ),
    holds(
      'A-JWS-10',
      ['De keten leidt naar een vertrouwd stamcertificaat', 'The chain leads to a trusted root certificate'],
      signing('Chain validated up to the government PKI root'),
      ['A-JWS-09'],
      ['certificate-untrusted', 'certificate-usage'],
    ),
    holds(
      'A-JWS-11',
      ['Alle certificaten zijn nu geldig', 'All certificates are valid now'],
      signing('validity period checked'),
      ['A-JWS-10'],
      ['certificate-expired'],
    ),
    holds(
      'A-JWS-12',
      ['Geen certificaat is ingetrokken', 'No certificate was revoked'],
      signing('revocation check by OCSP or CRL'),
      ['A-JWS-11'],
      ['certificate-revoked', 'revocation-unknown'],
    ),
    {
      id: 'A-JWS-13',
      title: { nl: 'De laatste pagina is ook ondertekend', en: 'The last page is signed as well' },
      level: 'must',
      source: signing('required on the request and on the 200 response'),
      dependsOn: ['A-JWS-12', 'A-ANS-07'],
      check: async ({ pages, signatureFault }) => {
        const at = good(pages.at(-1));
        const fault = await signatureFault(at);
        return fault === undefined ? undefined : { failed: `${fault.code}: ${fault.detail}`, at };
      },
    },
    {
      id: 'A-JWS-14',
      title: { nl: 'De handtekening zegt wanneer zij is gezet', en: 'The signature says when it was made' },
      level: 'should',
      source: signingPage('JAdES', 'JAdES-B'),
      dependsOn: ['A-JWS-03'],
      ask: [signed()],
      check: (_, { answers: [only] }) => {
        const { iat, sigT } = only === undefined ? {} : headerOf(only);
        const signedAt =
          typeof iat === 'number' ? iat : typeof sigT === 'string' ? Date.parse(sigT) / 1000 : Number.NaN;
        const off = Math.abs(signedAt - Date.now() / 1000);
        if (Number.isNaN(off)) return { failed: 'it has neither `iat` nor `sigT`' };
        return off > LEEWAY_SECONDS ? { failed: `its time is ${Math.round(off)} seconds off` } : undefined;
      },
    },
    {
      id: 'A-JWS-15',
      title: {
        nl: 'Welke vorm het antwoord heeft: over de body (tekst van juni 2026) of over de digest met `b64: false` (module Signing)',
        en: 'Which form the answer has: over the body (text of June 2026) or over the digest with `b64: false` (module Signing)',
      },
      level: 'open',
      source: signing('detached payload, only the digest is signed'),
      dependsOn: ['A-JWS-03'],
      ask: [signed()],
      check: ({ form }, { answers: [only] }) => {
        const { sigD, b64 = true } = only === undefined ? {} : headerOf(only);
        const answered = sigD === undefined ? 'over the body' : 'over the digest';
        return { seen: `asked with ${form}, signed ${answered}, \`b64\` ${String(b64)}` };
      },
    },
    {
      id: 'A-JWS-16',
      title: { nl: '`x5t#S256` is dat van het certificaat', en: '`x5t#S256` is that of the certificate' },
      level: 'should',
      source: signingPage('Header', '`x5t#S256`'),
      dependsOn: ['A-JWS-07'],
      ask: [signed()],
      check: (_, { answers: [only] }) => {
        const { 'x5t#S256': thumbprint, x5c } = only === undefined ? {} : headerOf(only);
        const leaf = Array.isArray(x5c) ? Buffer.from(String(x5c[0]), 'base64') : Buffer.alloc(0);
        if (thumbprint === undefined) return { failed: 'there is no `x5t#S256`' };
        return thumbprint === hash('sha256', leaf, 'base64url') ? undefined : { failed: 'it is of something else' };
      },
    },
  ],
};
