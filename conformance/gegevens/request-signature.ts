import { createPublicKey, hash } from 'node:crypto';
import { digestOf } from '../../src/lib/jades/signature.ts';
import { type Asking, type Finding, Skipped } from '../case.ts';
import { rfc } from '../clause.ts';
import { bytesOf, jsonIn } from '../client.ts';
import type { Ask } from '../exchange.ts';
import { SIGNATURE, signedMessage } from '../signature/message.ts';
import { PLANTED } from '../signature/planted.ts';
import {
  changedSignature,
  hs256,
  type Identity,
  noSignature,
  rs256,
  type SignatureForm,
  type SignedHeaders,
  SMALL,
  type Wishes,
} from './signed-request.ts';
import { signing, signingModule, signingPage } from './sources.ts';
import { type GegevensSubject, gegevensChapter, good } from './subject.ts';

/** The source says that such a message is invalid but not which status it gets; none of them may get data. */
const REFUSED = [400, 401, 403, 422];
const OTHER_BYTES = Buffer.from('{"page":1, "pageSize":1}');

const refuses = (wishes: Wishes | ((subject: GegevensSubject) => Wishes)): Asking<GegevensSubject> => ({
  ask: [(subject) => subject.signed(typeof wishes === 'function' ? wishes(subject) : wishes)],
  expect: { status: REFUSED },
});

/** Makes another signature from the two parts of the finished one. */
const parts =
  (change: (header: string, signature: string) => string) =>
  (headers: SignedHeaders): Ask['headers'] => {
    const [header = '', signature = ''] = headers[SIGNATURE].split('..');
    return { ...headers, [SIGNATURE]: change(header, signature) };
  };

function withOtherKid(header: string): string {
  const members = Object(jsonIn(Buffer.from(header, 'base64url')));
  return bytesOf({ ...members, kid: 'x' }).toString('base64url');
}

function given(identity: Identity | undefined, option: string): Identity {
  if (identity === undefined) throw new Skipped(`${option} was not given`);
  return identity;
}

export const SIGNING = gegevensChapter('A-SIG', ['De handtekening van het verzoek', 'The signature of the request'], {
  'A-SIG-01': {
    open: signing('detached payload, only the digest is signed'),
    nl: 'Welke vormen van handtekening worden aanvaard: over de body (tekst van juni 2026) of over de digest (module Signing)',
    en: 'Which forms of signature are accepted: over the body (text of June 2026) or over the digest (module Signing)',
    check: async (subject, { ask }) => {
      const accepted: SignatureForm[] = [];
      for (const form of ['body', 'digest'] as const)
        if ((await ask(subject.signed({ form }))).status === 200) accepted.push(form);
      return { seen: `accepted: ${accepted.join(' and ') || 'none'}` };
    },
  },
  'A-SIG-02': {
    must: signing('`nlgov-adr-payload-sig`, required on the request'),
    nl: 'Een verzoek zonder handtekening wordt geweigerd',
    en: 'A request without a signature is refused',
    ...refuses({ after: ({ digest }) => ({ digest }) }),
  },
  'A-SIG-03': {
    must: signing('It is required on messages with a body'),
    nl: 'Een verzoek zonder `Digest` wordt geweigerd',
    en: 'A request without `Digest` is refused',
    ...refuses({ after: (headers) => ({ [SIGNATURE]: headers[SIGNATURE] }) }),
  },
  'A-SIG-04': { ...PLANTED.otherDigest, ...refuses({ sent: OTHER_BYTES }) },
  'A-SIG-05': {
    must: signing('format `SHA-256=<base64>`'),
    nl: 'Een `Digest` met alleen SHA-512 wordt geweigerd',
    en: 'A `Digest` with SHA-512 only is refused',
    ...refuses({ digest: `SHA-512=${hash('sha512', bytesOf(SMALL), 'base64')}` }),
  },
  'A-SIG-06': {
    must: signing('The request is signed with the private key of the requester'),
    nl: 'Een body die na het ondertekenen is veranderd, wordt geweigerd, ook met een nieuwe `Digest`',
    en: 'A body that was changed after signing is refused, even with a new `Digest`',
    ...refuses({ sent: OTHER_BYTES, after: (headers) => ({ ...headers, digest: digestOf(OTHER_BYTES) }) }),
  },
  'A-SIG-07': { ...PLANTED.changedSignature, ...refuses({ sign: changedSignature }) },
  'A-SIG-08': {
    must: rfc(7515, '5.2', 'Validate the JWS Signature against the JWS Signing Input'),
    nl: 'Een handtekening met een later gewijzigde header wordt geweigerd',
    en: 'A signature whose header was changed afterwards is refused',
    ...refuses({ after: parts((header, signature) => `${withOtherKid(header)}..${signature}`) }),
  },
  'A-SIG-09': { ...PLANTED.algorithmNone, ...refuses({ header: { alg: 'none' }, sign: noSignature }) },
  'A-SIG-10': { ...PLANTED.publicKeyAsSecret, ...refuses({ header: { alg: 'HS256' }, sign: hs256 }) },
  'A-SIG-11': { ...PLANTED.rs256, ...refuses({ header: { alg: 'RS256' }, sign: rs256 }) },
  'A-SIG-12': {
    must: signing('`x5c` = full X.509 certificate chain'),
    nl: 'Een verzoek zonder `x5c` wordt geweigerd',
    en: 'A request without `x5c` is refused',
    ...refuses({ header: { x5c: undefined } }),
  },
  'A-SIG-13': {
    must: signing('Taken from the first certificate in `x5c`'),
    nl: 'Een handtekening met de certificaten van een ander wordt geweigerd',
    en: "A signature with somebody else's certificates is refused",
    ...refuses((subject) => {
      const { headers, body } = good(subject.small);
      const { x5c } = signedMessage('an answer', Object.entries(headers), body).header;
      if (!Array.isArray(x5c) || x5c.length === 0) throw new Skipped('the answer has no chain that can be read');
      return { header: { x5c, kid: undefined, 'x5t#S256': undefined } };
    }),
  },
  'A-SIG-14': {
    must: signing('Taken from the first certificate in `x5c`'),
    nl: 'Een sleutel in `jwk` wordt niet vertrouwd',
    en: 'A key in `jwk` is not trusted',
    ...refuses(({ strangers, identity: { x5c } }) => {
      const { key } = strangers.ownRoot;
      return { identity: { key, x5c }, header: { jwk: createPublicKey(key).export({ format: 'jwk' }) } };
    }),
  },
  'A-SIG-15': {
    must: signing('Chain validated up to the government PKI root'),
    nl: 'Een keten naar een zelfgemaakt stamcertificaat wordt geweigerd',
    en: 'A chain to a self-made root certificate is refused',
    ...refuses(({ strangers }) => ({ identity: strangers.ownRoot })),
  },
  'A-SIG-16': {
    must: rfc(5280, '6.1.3', 'The signature on the certificate can be verified'),
    nl: 'Een certificaat dat niet door de genoemde uitgever is ondertekend, wordt geweigerd',
    en: 'A certificate that was not signed by its named issuer is refused',
    ...refuses(({ strangers }) => ({ identity: strangers.forged })),
  },
  'A-SIG-17': {
    must: rfc(5280, '6.1.4', 'verify that the basicConstraints extension is present and that cA is set to TRUE'),
    nl: 'Een certificaat van een uitgever die geen certificaten mag uitgeven, wordt geweigerd',
    en: 'A certificate from an issuer that may not issue certificates is refused',
    ...refuses(({ strangers }) => ({ identity: strangers.belowLeaf })),
  },
  'A-SIG-18': { ...PLANTED.revoked, ...refuses(({ revoked }) => ({ identity: given(revoked, '--revoked') })) },
  'A-SIG-19': { ...PLANTED.expired, ...refuses(({ expired }) => ({ identity: given(expired, '--expired') })) },
  'A-SIG-20': {
    ...PLANTED.unknownCritical,
    ...refuses(({ form }) => ({
      header: {
        crit: [...(form === 'digest' ? ['sigD', 'b64'] : []), 'urn:conformance:onbekend'],
        'urn:conformance:onbekend': true,
      },
    })),
  },
  'A-SIG-21': {
    must: rfc(7797, '6', 'The "crit" Header Parameter MUST be included with "b64" in its set of values'),
    nl: '`b64: false` zonder vermelding in `crit` wordt geweigerd',
    en: '`b64: false` that is not listed in `crit` is refused',
    ...refuses(({ form }) => ({ header: { b64: false, crit: form === 'digest' ? ['sigD'] : undefined } })),
  },
  'A-SIG-22': {
    should: signing('JWS compact serialization, detached payload'),
    nl: 'Een handtekening met de body erin wordt geweigerd',
    en: 'A signature that contains the body is refused',
    ...refuses({
      after: parts((header, signature) => `${header}.${bytesOf(SMALL).toString('base64url')}.${signature}`),
    }),
  },
  'A-SIG-23': {
    open: signingPage('zonder trusted timestamp of ingebedde validatie-informatie'),
    nl: 'Wat er gebeurt bij een handtekening uit de toekomst, van vorige week of met een verstreken `exp`',
    en: 'What happens for a signature from the future, from last week, or whose `exp` has passed',
    check: async (subject, { ask }): Promise<Finding> => {
      const now = Math.floor(Date.now() / 1000);
      const [hour, week] = [3600, 7 * 24 * 3600];
      const statuses = [];
      for (const header of [{ iat: now + hour }, { iat: now - week }, { exp: now - hour }])
        statuses.push((await ask(subject.signed({ header }))).status);
      const [ahead, old, past] = statuses;
      return { seen: `an hour ahead: status ${ahead}; a week ago: ${old}; \`exp\` an hour ago: ${past}` };
    },
  },
  'A-SIG-24': {
    open: signing('The request is signed with the private key of the requester'),
    nl: 'Wat er gebeurt als hetzelfde ondertekende verzoek tweemaal komt',
    en: 'What happens when the same signed request comes twice',
    check: async (subject, { ask }) => {
      const request = subject.signed();
      await ask(request);
      const { status } = await ask({ ...request, headers: { ...request.headers, ...subject.freshHeaders?.() } });
      return { seen: `the second time the answer has status ${status}` };
    },
  },
  'A-SIG-25': {
    must: signingModule(
      'if a message contains multiple nlgov-adr-payload-sig header fields, the receiver MUST consider the signature invalid',
    ),
    nl: 'Een verzoek met twee handtekeningen wordt geweigerd',
    en: 'A request with two signatures is refused',
    ...refuses({ after: (headers) => ({ ...headers, [SIGNATURE]: [headers[SIGNATURE], headers[SIGNATURE]] }) }),
  },
});
