import { defaultModels } from '../lib/exchange-model/built-in-models.ts';
import { OIN } from '../lib/patterns.ts';
import { choice, file, flag, integer, list, optional, pairs, secret, setting, text } from '../settings/kinds.ts';

const gegevens = {
  services: setting(
    'GEGEVENS_SERVICES',
    pairs(/^(shv|vs)=(\S+)$/, 'comma list of `shv=name`, `vs=name`'),
    new Map([
      ['shv', 'shv'],
      ['vs', 'vs'],
    ]),
    'Service names (`svc`) in FSC tokens.',
  ),
  shvModel: setting(
    'GEGEVENS_SHV_MODEL',
    text(undefined, '`1.0`, or path of a JSON Schema with its mapping'),
    defaultModels.shv,
    'Exchange model of SHV.',
  ),
  vsModel: setting(
    'GEGEVENS_VS_MODEL',
    text(undefined, '`1.0`, `1.1`, `1.1-draft`, `1.2`, or path of such a schema'),
    defaultModels.vs,
    'Exchange model of VS.',
  ),
  supplierCode: setting('GEGEVENS_SUPPLIER_CODE', text(), 'KOPPELVLAK', '`codeGegevensleverancier` in answers.'),
  answersMb: setting(
    'GEGEVENS_ANSWERS_MB',
    integer(1, 65_536),
    256,
    'Megabytes for large answers being made or sent; others wait.',
  ),
  rateLimit: setting(
    'GEGEVENS_RATE_LIMIT',
    integer(0, 10_000_000),
    600,
    'Requests a minute per client and mount; 0: no limit.',
  ),
  trustAnchors: optional(
    'GEGEVENS_TRUST_ANCHORS',
    text(undefined, 'path of a PEM bundle'),
    'Roots of requesters’ certificates.',
  ),
  requiredPolicies: setting(
    'GEGEVENS_REQUIRED_POLICIES',
    list(/^\d+(\.\d+)+$/, 'comma list of object identifiers'),
    [],
    'Certificate policies, of which a path must have one.',
  ),
  allowedSigners: setting(
    'GEGEVENS_ALLOWED_SIGNERS',
    list(OIN, 'comma list of OINs (20 digits)'),
    [],
    'Allowed requesters. Absent: all with a trusted certificate and a token.',
  ),
  revocation: setting(
    'GEGEVENS_REVOCATION',
    choice('hard', 'soft'),
    'hard',
    'Without a revocation answer, `hard` refuses and `soft` accepts.',
  ),
  revocationAllowPrivate: setting(
    'GEGEVENS_REVOCATION_ALLOW_PRIVATE',
    flag,
    false,
    'Call revocation services at private addresses too; refused in production.',
  ),
  signingKey: optional('GEGEVENS_SIGNING_KEY', file, 'Own private key (PEM), or key and chain in one PKCS#12 file.'),
  signingChain: optional(
    'GEGEVENS_SIGNING_CHAIN',
    file,
    'Own certificate and intermediates (PEM), leaf first. Absent with PKCS#12.',
  ),
  signingP12Passphrase: secret('GEGEVENS_SIGNING_P12_PASSPHRASE', text(), 'Passphrase of the PKCS#12 file.'),
  processingHeaders: setting(
    'PROCESSING_HEADERS',
    choice('optional', 'required'),
    'optional',
    '`required` refuses a missing `OIN` or `VerwerkingId` header.',
  ),
};

export const gegevensSettings = { gegevens };

/** Settings that no operator has a reason to change, by group; tests override them. */
export const gegevensConstants = {
  gegevens: {
    /** Mounts: a proxy that shows another path would have to rewrite the links in every answer. */
    shvPrefix: '/shv/v1',
    vsPrefix: '/vs/v1',
    /** How long in minutes a requester that pages sees the state of its first page. */
    pagePinMinutes: 60,
    /** How long in milliseconds after its signing time (`iat`, `sigT`) a request is accepted; one that names no time has no age. */
    maxSignatureAge: 24 * 3_600_000,
    /** Largest revocation list in megabytes, five times the largest of PKIoverheid; twice as much memory is kept for lists. */
    crlMaxMb: 50,
    /** Memory in megabytes for pages that were served; 0 keeps none. */
    cacheMb: 64,
    shvMaxRecords: 25_000,
    vsMaxRecords: 50_000,
    /** How long in milliseconds a large answer waits for its memory before it is refused. */
    answersWaitMs: 10_000,
    /** Minimum speed at which a large answer must be read, measured over the time of a request; a slower connection is closed. 0 closes none. */
    answersMinBytesPerSecond: 32_768,
    /** How long in milliseconds a request waits for an OCSP answer before the revocation list is tried; a later answer serves the next request. */
    ocspTimeoutMs: 2000,
  },
};
