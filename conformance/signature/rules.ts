/** The rules for a signed message of a requester or supplier, each with its source and a check. */
import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Certificate, JadesErrorCode } from '../../src/lib/jades/certificate.ts';
import { keyFault, validatePath } from '../../src/lib/jades/chain.ts';
import { digestOf, HTTP_HEADERS, verifySignature } from '../../src/lib/jades/signature.ts';
import { parseProtectedHeader } from '../../src/lib/jades/verify.ts';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { parseStrictObject } from '../../src/lib/json/parse-untrusted.ts';
import { reasonOf } from '../../src/lib/log.ts';
import { Skipped } from '../case.ts';
import { rfc } from '../clause.ts';
import { identification, signing, signingModule, signingPage } from '../gegevens/sources.ts';
import { SIGNATURE, type SignedMessage, type Trust } from './message.ts';
import { certificatesOf, type RuleName, refusal, type SignatureRule } from './rule.ts';

const DIGEST = /^SHA-256=[A-Za-z0-9+/=]{43,44}$/;
/** A signer's clock may be this far ahead. */
const LEEWAY_MS = 5 * 60_000;

const one = (message: SignedMessage, name: string): string | undefined => {
  const { length } = message.values(name);
  return length === 1 ? undefined : `the header ${name} occurs ${length} times`;
};

function partsOf(message: SignedMessage): readonly string[] {
  return (message.values(SIGNATURE)[0] ?? '').split('.');
}

function timesOf({ header: { iat, sigT } }: SignedMessage): readonly number[] {
  return [
    iat === undefined ? [] : typeof iat === 'number' ? iat * 1000 : Number.NaN,
    sigT === undefined ? [] : Date.parse(String(sigT)),
  ].flat();
}

function critFault({ header }: SignedMessage): string | undefined {
  const { crit } = header;
  if (crit === undefined) throw new Skipped('there is no `crit`');
  if (!Array.isArray(crit) || crit.length === 0) return '`crit` is not a list of names';
  const names: readonly unknown[] = crit;
  if (new Set(names).size !== names.length) return '`crit` names something twice';
  const odd = names.find((name) => typeof name !== 'string' || !Object.hasOwn(header, name) || REGISTERED.test(name));
  return odd === undefined ? undefined : `\`crit\` names ${JSON.stringify(odd)}`;
}

/** Defined by RFC 7515 itself: every implementation understands them. */
const REGISTERED = /^(alg|jku|jwk|kid|x5u|x5c|x5t|x5t#S256|typ|cty|crit)$/;

function isIssuedBy({ x509 }: Certificate, issuer: Certificate): boolean {
  return x509.checkIssued(issuer.x509) && x509.verify(issuer.x509.publicKey);
}

function chainFault(message: SignedMessage): string | undefined {
  let chain: readonly Certificate[];
  try {
    chain = certificatesOf(message);
  } catch (error) {
    return reasonOf(error);
  }
  const wrong = chain.findIndex((certificate, i) => {
    const issuer = chain[i + 1];
    return issuer !== undefined && !isIssuedBy(certificate, issuer);
  });
  return wrong === -1 ? undefined : `certificate ${wrong + 1} of \`x5c\` was not issued by the next one`;
}

function contentDigestFault(message: SignedMessage): string | undefined {
  const [value] = message.values('content-digest');
  if (value === undefined) throw new Skipped('there is no `Content-Digest`');
  const digest = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/=]+):/.exec(value)?.[1];
  if (digest === undefined) throw new Skipped('there is no `Content-Digest` with sha-256');
  return digest === hash('sha256', message.body, 'base64') ? undefined : 'the `Content-Digest` does not match the body';
}

const pathOf = (message: SignedMessage, { anchors, at }: Trust): readonly Certificate[] =>
  validatePath(certificatesOf(message), { anchors, requiredPolicies: [], at });

function revocation(message: SignedMessage, trust: Trust, code: JadesErrorCode): Promise<string | undefined> {
  const { checkRevocation } = trust;
  if (checkRevocation === undefined)
    throw new Skipped('revocation is not looked up: neither --online nor --crl was given');
  return refusal(() => checkRevocation(pathOf(message, trust)), code);
}

/** In the order of the cases. */
export const RULES: Readonly<Record<RuleName, SignatureRule>> = {
  digest: {
    must: signing('It is required on messages with a body'),
    nl: 'Er is één header `Digest`',
    en: 'There is one header `Digest`',
    needs: [],
    judge: (message) => one(message, 'digest'),
  },
  'digest-form': {
    must: signing('pattern `^SHA-256=[A-Za-z0-9+/=]{43,44}$`'),
    nl: '`Digest` heeft de vorm `SHA-256=<base64>`',
    en: '`Digest` has the form `SHA-256=<base64>`',
    needs: ['digest'],
    judge: (message) =>
      DIGEST.test(message.values('digest')[0] ?? '') ? undefined : 'the header `Digest` has another form',
  },
  'digest-holds': {
    must: signing('SHA-256 digest of the payload per RFC 3230'),
    nl: '`Digest` klopt met de bytes van de body',
    en: '`Digest` matches the bytes of the body',
    needs: ['digest-form'],
    judge: (message) => {
      const [value = ''] = message.values('digest');
      const own = digestOf(message.body);
      return own === value || own === `${value}=` ? undefined : 'the digest does not match the body';
    },
  },
  'content-digest': {
    may: rfc(9530, '2', 'calculated using a hashing algorithm applied to the actual message content'),
    nl: 'Een `Content-Digest` ernaast klopt ook',
    en: 'A `Content-Digest` beside it is correct too',
    needs: [],
    judge: contentDigestFault,
  },
  signature: {
    must: signing('required on the request and on the 200 response'),
    nl: 'Er is één header met de handtekening',
    en: 'There is one header with the signature',
    needs: [],
    judge: (message) => one(message, SIGNATURE),
  },
  detached: {
    must: signing('JWS compact serialization, detached payload'),
    nl: 'De handtekening is JWS compact, los van de body',
    en: 'The signature is JWS compact, detached from the body',
    needs: ['signature'],
    judge: (message) =>
      /^[^.]+\.\.[^.]+$/.test(message.values(SIGNATURE)[0] ?? '') ? undefined : 'it is not `<header>..<signature>`',
  },
  base64url: {
    must: rfc(7515, '2', "with all trailing '=' characters omitted"),
    nl: 'Beide delen zijn base64url zonder opvulling',
    en: 'Both parts are base64url without padding',
    needs: ['detached'],
    judge: (message) => {
      const odd = partsOf(message).find((part) => Buffer.from(part, 'base64url').toString('base64url') !== part);
      return odd === undefined ? undefined : 'a part is not canonical base64url';
    },
  },
  json: {
    must: rfc(7515, '4', 'The Header Parameter names within the JOSE Header MUST be unique'),
    nl: 'De header van de handtekening is een JSON-object waarin elk veld eenmaal voorkomt',
    en: 'The header of the signature is a JSON object in which every field occurs once',
    needs: ['base64url'],
    judge: (message) => {
      try {
        parseStrictObject(
          new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(partsOf(message)[0] ?? '', 'base64url')),
        );
      } catch {
        return 'it is not a JSON object in UTF-8 with unique members';
      }
      return undefined;
    },
  },
  alg: {
    must: signing('`alg` = `PS256`'),
    nl: 'Het algoritme is PS256',
    en: 'The algorithm is PS256',
    judge: ({ header: { alg } }) => (alg === 'PS256' ? undefined : `\`alg\` is ${JSON.stringify(alg)}`),
  },
  kid: {
    must: signing('`kid` = key identifier'),
    nl: '`kid` noemt de sleutel',
    en: '`kid` names the key',
    judge: ({ header: { kid } }) => (typeof kid === 'string' && kid !== '' ? undefined : 'there is no `kid`'),
  },
  // Media types are case-insensitive and may omit `application/` (RFC 7515 section 4.1.9).
  typ: {
    must: signing('`typ` = `JOSE`'),
    nl: '`typ` is `JOSE`',
    en: '`typ` is `JOSE`',
    judge: ({ header: { typ } }) =>
      typeof typ === 'string' && /^(?:application\/)?jose$/i.test(typ)
        ? undefined
        : `\`typ\` is ${JSON.stringify(typ)}`,
  },
  crit: {
    must: rfc(7515, '4.1.11', 'Producers MUST NOT use the empty list "[]" as the "crit" value'),
    nl: '`crit` noemt elk veld eenmaal, alleen velden uit de header, en geen velden van RFC 7515 zelf',
    en: '`crit` names each field once, only fields in the header, and none that RFC 7515 defines',
    judge: critFault,
  },
  b64: {
    must: rfc(7797, '6', 'The "crit" Header Parameter MUST be included with "b64" in its set of values'),
    nl: 'Een header met `b64` noemt dat in `crit`',
    en: 'A header with `b64` lists it in `crit`',
    judge: ({ header: { b64, crit } }) => {
      if (b64 === undefined) throw new Skipped('there is no `b64`');
      return Array.isArray(crit) && crit.includes('b64') ? undefined : 'there is a `b64` that `crit` does not name';
    },
  },
  sigD: {
    may: signingModule('The `pars` array of the SigD MUST contain only the element `digest`'),
    nl: '`sigD` noemt alleen de header `Digest` als ondertekend',
    en: '`sigD` names only the header `Digest` as signed',
    judge: ({ header: { sigD } }) => {
      if (sigD === undefined) throw new Skipped('there is no `sigD`: the body is signed');
      const { mId, pars } = isRecord(sigD) ? sigD : {};
      if (mId !== HTTP_HEADERS) return `\`mId\` is ${JSON.stringify(mId)}`;
      return isDeepStrictEqual(pars, ['digest']) ? undefined : `\`pars\` is ${JSON.stringify(pars)}`;
    },
  },
  form: {
    open: signing('detached payload, only the digest is signed'),
    nl: 'De ondertekende inhoud: de body (tekst van juni 2026) of de digest (module Signing)',
    en: 'The signed content: the body (text of June 2026) or the digest (module Signing)',
    judge: ({ header: { sigD, b64 = true } }) =>
      `${sigD === undefined ? 'the body' : 'the digest'}, with \`b64\` ${String(b64)}`,
  },
  x5c: {
    must: rfc(7515, '4.1.6', 'with each subsequent certificate being the one used to certify the previous one'),
    nl: '`x5c` heeft de keten, te beginnen met het certificaat van de ondertekenaar',
    en: '`x5c` has the chain, beginning with the certificate of the signer',
    judge: chainFault,
  },
  x5t: {
    should: signingPage('Het veld x5t#S256 is niet verplicht, maar wordt wel aanbevolen'),
    nl: '`x5t#S256` hoort bij het eerste certificaat',
    en: '`x5t#S256` belongs to the first certificate',
    judge: ({ header: { x5c, 'x5t#S256': thumbprint } }) => {
      if (thumbprint === undefined) return 'there is no `x5t#S256`';
      const leaf = Buffer.from(Array.isArray(x5c) ? String(x5c[0]) : '', 'base64');
      if (thumbprint === hash('sha256', leaf, 'base64url')) return undefined;
      return 'it belongs to another certificate';
    },
  },
  holds: {
    must: signing('Taken from the first certificate in `x5c`'),
    nl: 'De handtekening klopt met de sleutel van het eerste certificaat',
    en: 'The signature verifies with the key of the first certificate',
    needs: ['digest', 'alg', 'x5c', 'x5t', 'crit', 'b64', 'sigD', 'typ'],
    judge: (message) => {
      const [encoded = '', , last = ''] = partsOf(message);
      const [digest = ''] = message.values('digest');
      const verify = () =>
        verifySignature(parseProtectedHeader(encoded), Buffer.from(last, 'base64url'), message.body, digest);
      return refusal(verify, 'signature-invalid', 'signature-malformed', 'signature-algorithm');
    },
  },
  time: {
    should: signingPage('Er is gekozen voor het JAdES-B profiel van ondertekenen'),
    nl: 'De handtekening vermeldt wanneer zij is gezet',
    en: 'The signature says when it was made',
    judge: (message) => (timesOf(message).length > 0 ? undefined : 'it has neither `iat` nor `sigT`'),
  },
  'time-holds': {
    may: rfc(7519, '4.1.6', 'Its value MUST be a number containing a NumericDate value'),
    nl: 'Die tijd is leesbaar en ligt niet in de toekomst',
    en: 'That time can be read, and is not in the future',
    judge: (message, { at }) => {
      const times = timesOf(message);
      if (times.length === 0) throw new Skipped('it has no time');
      if (times.some(Number.isNaN)) return 'the time cannot be read';
      return times.some((time) => time > at.getTime() + LEEWAY_MS) ? 'the time is in the future' : undefined;
    },
  },
  anchor: {
    must: signing('Chain validated up to the government PKI root'),
    nl: 'De keten leidt naar een vertrouwd stamcertificaat',
    en: 'The chain leads to a trusted root certificate',
    needs: ['holds'],
    judge: (message, trust) => refusal(() => pathOf(message, trust), 'certificate-untrusted'),
  },
  validity: {
    must: signing('validity period checked'),
    nl: 'Alle certificaten zijn geldig',
    en: 'All certificates are valid',
    needs: ['anchor'],
    judge: (message, trust) => refusal(() => pathOf(message, trust), 'certificate-expired'),
  },
  usage: {
    must: rfc(
      5280,
      '4.2.1.3',
      'The digitalSignature bit is asserted when the subject public key is used for verifying digital signatures',
    ),
    nl: 'Het eerste certificaat mag ondertekenen',
    en: 'The first certificate may sign',
    needs: ['anchor'],
    judge: (message, trust) => refusal(() => pathOf(message, trust), 'certificate-usage'),
  },
  strength: {
    must: rfc(7518, '3.5', 'A key of size 2048 bits or larger MUST be used with this algorithm'),
    nl: 'De sleutel is een RSA-sleutel van ten minste 2048 bits',
    en: 'The key is an RSA key of at least 2048 bits',
    needs: ['x5c'],
    judge: (message) => {
      const key = certificatesOf(message)[0]?.x509.publicKey;
      return key === undefined ? 'there is no key' : keyFault(key);
    },
  },
  oin: {
    should: identification(
      'Dit (sub)OIN wordt bij PKIo certificaten geplaatst in het SerialNumber veld van het Subject',
    ),
    nl: 'Het certificaat noemt het OIN of het handelsregisternummer van wie ondertekent',
    en: 'The certificate names the OIN or the trade register number of the signer',
    needs: ['x5c'],
    judge: (message) => {
      const subject = certificatesOf(message)[0]?.x509.subject ?? '';
      if (/^serialNumber=(\d{20}|\d{8})$/m.test(subject)) return undefined;
      return 'its subject has no serialNumber of 20 or 8 digits';
    },
  },
  revoked: {
    must: signing('revocation check by OCSP or CRL'),
    nl: 'Geen certificaat is ingetrokken',
    en: 'No certificate was revoked',
    needs: ['validity', 'usage'],
    judge: (message, trust) => revocation(message, trust, 'certificate-revoked'),
  },
  status: {
    should: signing('revocation check by OCSP or CRL'),
    nl: 'De intrekkingsstatus van elk certificaat is na te gaan',
    en: 'The revocation status of every certificate can be checked',
    needs: ['validity', 'usage'],
    judge: (message, trust) => revocation(message, trust, 'revocation-unknown'),
  },
};
