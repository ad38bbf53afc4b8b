import { createPublicKey, hash } from 'node:crypto';
import { digestOf } from '../../src/lib/jades/signature.ts';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { type AskingCase, type Chapter, type Clause, type Finding, Skipped } from '../case.ts';
import { rfc } from '../clause.ts';
import { bytesOf } from '../client.ts';
import type { Ask, Exchange } from '../exchange.ts';
import { SIGNATURE, signedMessage } from '../signature/message.ts';
import {
  hs256,
  type Identity,
  noSignature,
  ps256,
  rs256,
  type SignatureForm,
  type SignedHeaders,
  SMALL,
  type Wishes,
} from './signed-request.ts';
import { signing, signingModule, signingPage } from './sources.ts';
import { type GegevensSubject, gegevensCases, good, signed } from './subject.ts';

/** The source says that such a message does not hold, not with which status: none of these comes with data. */
const REFUSED = [400, 401, 403, 422];
const OTHER_BYTES = Buffer.from('{"page":1, "pageSize":1}');

const refuses = (
  [nl, en]: readonly [string, string],
  source: Clause,
  wishes: Wishes | ((subject: GegevensSubject) => Wishes),
): AskingCase<GegevensSubject> => ({
  ...{ must: source, nl, en },
  ask: [(subject) => subject.signed(typeof wishes === 'function' ? wishes(subject) : wishes)],
  expect: { status: REFUSED },
});

/** Changes the three parts of the signature after it was made. */
const parts =
  (change: (header: string, payload: string, signature: string) => string) =>
  (headers: SignedHeaders): Ask['headers'] => {
    const [header = '', payload = '', signature = ''] = headers[SIGNATURE].split('.');
    return { ...headers, [SIGNATURE]: change(header, payload, signature) };
  };

const reencoded = (header: string, change: (members: Record<string, unknown>) => object): string => {
  const members: unknown = JSON.parse(Buffer.from(header, 'base64url').toString());
  return Buffer.from(JSON.stringify(change(isRecord(members) ? { ...members } : {}))).toString('base64url');
};

/** The chain of the supplier itself, as its answer has it. */
function chainOf({ headers, body }: Exchange): readonly string[] {
  const { x5c } = signedMessage('an answer', Object.entries(headers), body).header;
  return (Array.isArray(x5c) ? x5c : []).filter((one) => typeof one === 'string');
}

function given(identity: Identity | undefined, option: string): Identity {
  if (identity === undefined) throw new Skipped(`${option} was not given`);
  return identity;
}

export const REQUEST_SIGNATURE: Chapter<GegevensSubject> = {
  id: 'A-SIG',
  title: { nl: 'De handtekening van het verzoek', en: 'The signature of the request' },
  cases: gegevensCases({
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
    'A-SIG-02': refuses(
      ['Een verzoek zonder handtekening wordt geweigerd', 'A request without a signature is refused'],
      signing('`nlgov-adr-payload-sig`, required on the request'),
      { after: ({ digest }) => ({ digest }) },
    ),
    'A-SIG-03': refuses(
      ['Een verzoek zonder `Digest` wordt geweigerd', 'A request without `Digest` is refused'],
      signing('It is required on messages with a body'),
      { after: (headers) => ({ [SIGNATURE]: headers[SIGNATURE] }) },
    ),
    'A-SIG-04': refuses(
      ['Een `Digest` van andere bytes wordt geweigerd', 'A `Digest` of other bytes is refused'],
      signing('SHA-256 digest of the payload'),
      { sent: OTHER_BYTES },
    ),
    'A-SIG-05': refuses(
      ['Een `Digest` met alleen SHA-512 wordt geweigerd', 'A `Digest` with SHA-512 only is refused'],
      signing('format `SHA-256=<base64>`'),
      { digest: `SHA-512=${hash('sha512', bytesOf(SMALL), 'base64')}` },
    ),
    'A-SIG-06': refuses(
      [
        'Een body die na het ondertekenen is veranderd, wordt geweigerd, ook met een nieuwe `Digest`',
        'A body that was changed after signing is refused, with a new `Digest` too',
      ],
      signing('The request is signed with the private key of the requester'),
      { sent: OTHER_BYTES, after: (headers) => ({ ...headers, digest: digestOf(OTHER_BYTES) }) },
    ),
    'A-SIG-07': refuses(
      ['Een handtekening die is veranderd, wordt geweigerd', 'A signature that was changed is refused'],
      rfc(7515, '5.2', 'If any of these steps fail, the signature or MAC cannot be validated'),
      { sign: (input, key) => Buffer.from(ps256(input, key).map((byte, i) => (i === 40 ? byte ^ 1 : byte))) },
    ),
    'A-SIG-08': refuses(
      [
        'Een header van de handtekening die daarna is veranderd, wordt geweigerd',
        'A header of the signature that was changed afterwards is refused',
      ],
      rfc(7515, '5.2', 'Validate the JWS Signature against the JWS Signing Input'),
      { after: parts((header, _, signature) => `${reencoded(header, (all) => ({ ...all, kid: 'x' }))}..${signature}`) },
    ),
    'A-SIG-09': refuses(
      ['`alg: none` wordt geweigerd', '`alg: none` is refused'],
      rfc(8725, '3.1', 'MUST NOT use any other algorithms when performing cryptographic operations'),
      { header: { alg: 'none' }, sign: noSignature },
    ),
    'A-SIG-10': refuses(
      [
        'HS256 met de openbare sleutel als geheim wordt geweigerd',
        'HS256 with the public key as its secret is refused',
      ],
      rfc(8725, '3.1', 'MUST NOT use any other algorithms when performing cryptographic operations'),
      { header: { alg: 'HS256' }, sign: hs256 },
    ),
    'A-SIG-11': refuses(['RS256 wordt geweigerd', 'RS256 is refused'], signing('`alg` = `PS256`'), {
      header: { alg: 'RS256' },
      sign: rs256,
    }),
    'A-SIG-12': refuses(
      ['Een verzoek zonder `x5c` wordt geweigerd', 'A request without `x5c` is refused'],
      signing('`x5c` = full X.509 certificate chain'),
      { header: { x5c: undefined } },
    ),
    'A-SIG-13': refuses(
      [
        'De certificaten van een ander bij de eigen handtekening worden geweigerd',
        'The certificates of somebody else with an own signature are refused',
      ],
      signing('Taken from the first certificate in `x5c`'),
      (subject) => {
        const x5c = chainOf(good(subject.small));
        if (x5c.length === 0) throw new Skipped('the answer has no chain that can be read');
        return { header: { x5c, kid: undefined, 'x5t#S256': undefined } };
      },
    ),
    'A-SIG-14': refuses(
      ['Een sleutel die in `jwk` wordt meegestuurd, telt niet', 'A key that is sent along in `jwk` does not count'],
      signing('Taken from the first certificate in `x5c`'),
      ({ strangers, identity: { x5c } }) => {
        const { key } = strangers.ownRoot;
        return { identity: { key, x5c }, header: { jwk: createPublicKey(key).export({ format: 'jwk' }) } };
      },
    ),
    'A-SIG-15': refuses(
      [
        'Een keten naar een eigen stamcertificaat wordt geweigerd',
        'A chain to a root certificate of its own is refused',
      ],
      signing('Chain validated up to the government PKI root'),
      ({ strangers }) => ({ identity: strangers.ownRoot }),
    ),
    'A-SIG-16': refuses(
      [
        'Een certificaat dat de genoemde uitgever niet heeft ondertekend, wordt geweigerd',
        'A certificate that the issuer it names did not sign is refused',
      ],
      rfc(5280, '6.1.3', 'The signature on the certificate can be verified'),
      ({ strangers }) => ({ identity: strangers.forged }),
    ),
    'A-SIG-17': refuses(
      [
        'Een certificaat van een uitgever die geen certificaten mag uitgeven, wordt geweigerd',
        'A certificate of an issuer that may not issue certificates is refused',
      ],
      rfc(5280, '6.1.4', 'verify that the basicConstraints extension is present and that cA is set to TRUE'),
      ({ strangers }) => ({ identity: strangers.belowLeaf }),
    ),
    'A-SIG-18': refuses(
      ['Een ingetrokken certificaat wordt geweigerd', 'A revoked certificate is refused'],
      signing('revocation check by OCSP or CRL'),
      ({ revoked }) => ({ identity: given(revoked, '--revoked') }),
    ),
    'A-SIG-19': refuses(
      ['Een verlopen certificaat wordt geweigerd', 'An expired certificate is refused'],
      signing('validity period checked'),
      ({ expired }) => ({ identity: given(expired, '--expired') }),
    ),
    'A-SIG-20': refuses(
      ['Een onbekende naam in `crit` wordt geweigerd', 'An unknown name in `crit` is refused'],
      rfc(7515, '4.1.11', 'not understood and supported by the recipient, then the JWS is invalid'),
      ({ form }) => ({
        header: {
          crit: [...(form === 'digest' ? ['sigD', 'b64'] : []), 'urn:conformance:onbekend'],
          'urn:conformance:onbekend': true,
        },
      }),
    ),
    'A-SIG-21': refuses(
      ['`b64: false` dat niet in `crit` staat, wordt geweigerd', '`b64: false` that is not in `crit` is refused'],
      rfc(7797, '6', 'The "crit" Header Parameter MUST be included with "b64" in its set of values'),
      ({ form }) => ({ header: { b64: false, crit: form === 'digest' ? ['sigD'] : undefined } }),
    ),
    'A-SIG-22': {
      should: signing('JWS compact serialization, detached payload'),
      nl: 'Een handtekening met de body erin wordt geweigerd',
      en: 'A signature with the body in it is refused',
      ask: [
        signed({
          after: parts((header, _, signature) => `${header}.${bytesOf(SMALL).toString('base64url')}.${signature}`),
        }),
      ],
      expect: { status: REFUSED },
    },
    'A-SIG-23': {
      open: signingPage('zonder trusted timestamp of ingebedde validatie-informatie'),
      nl: 'Een handtekening uit de toekomst, van vorige week, of waarvan `exp` voorbij is: wat er gebeurt',
      en: 'A signature from the future, from last week, or whose `exp` has passed: what happens',
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
      nl: 'Hetzelfde ondertekende verzoek tweemaal: wat er gebeurt',
      en: 'The same signed request twice: what happens',
      check: async (subject, { ask }) => {
        const request = subject.signed();
        await ask(request);
        const { status } = await ask({ ...request, headers: { ...request.headers, ...subject.freshHeaders?.() } });
        return { seen: `the second time the answer has status ${status}` };
      },
    },
    'A-SIG-25': refuses(
      ['Een verzoek met twee handtekeningen wordt geweigerd', 'A request with two signatures is refused'],
      signingModule(
        'if a message contains multiple nlgov-adr-payload-sig header fields, the receiver MUST consider the signature invalid',
      ),
      { after: (headers) => ({ ...headers, [SIGNATURE]: [headers[SIGNATURE], headers[SIGNATURE]] }) },
    ),
  }),
};
