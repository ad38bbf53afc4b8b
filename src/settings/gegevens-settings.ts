import { existsSync } from 'node:fs';
import { choice, duration, flag, integer, list, optionalText, prefix, text } from './kinds.ts';

/** The exchange models that come along: `VARIANT-VERSION.schema.json`, each with its mapping beside it. */
export const modelsDirectory = new URL('../../openapi/modellen/', import.meta.url);

/** The versions that are taken when nothing is configured. */
export const defaultModels = { shv: '1.0', vs: '1.1' } as const;

/** The file of a built-in model, or `undefined` when there is none of that name: then it is a path. */
export function builtInModel(variant: 'shv' | 'vs', name: string): URL | undefined {
  if (!/^[0-9][0-9a-z.-]*$/.test(name)) return undefined;
  const file = new URL(`${variant}-${name}.schema.json`, modelsDirectory);
  return existsSync(file) ? file : undefined;
}

const FILE = { allowed: 'path of a file' };

/** Settings of area A. */
export const gegevensSettings = {
  shvPrefix: prefix('GEGEVENS_SHV_PREFIX', { default: '/shv/v1', description: 'Mount of the SHV variant.' }),
  vsPrefix: prefix('GEGEVENS_VS_PREFIX', { default: '/vs/v1', description: 'Mount of the VS variant.' }),
  shvService: text('GEGEVENS_SHV_SERVICE', {
    default: 'shv',
    description: 'Service name (`svc`) in FSC tokens for SHV.',
  }),
  vsService: text('GEGEVENS_VS_SERVICE', { default: 'vs', description: 'Service name (`svc`) in FSC tokens for VS.' }),
  shvModel: text('GEGEVENS_SHV_MODEL', {
    default: defaultModels.shv,
    allowed: '`1.0`, or path of a JSON Schema with its mapping beside it',
    description: 'Exchange model of SHV.',
  }),
  vsModel: text('GEGEVENS_VS_MODEL', {
    default: defaultModels.vs,
    allowed: '`1.0`, `1.1`, `1.1-draft`, `1.2`, or path of a JSON Schema with its mapping beside it',
    description: 'Exchange model of VS: what is delivered, and what `import` judges by.',
  }),
  supplierCode: text('GEGEVENS_SUPPLIER_CODE', {
    default: 'KOPPELVLAK',
    description: '`codeGegevensleverancier` in every answer.',
  }),
  pagePinMinutes: integer('GEGEVENS_PAGE_PIN_MINUTES', {
    default: 60,
    min: 1,
    max: 10_080,
    description: 'How long in minutes a requester that pages sees the state of its first page.',
  }),
  cacheMb: integer('GEGEVENS_CACHE_MB', {
    default: 64,
    min: 0,
    max: 65_536,
    description: 'Memory in megabytes for pages that were served; 0 keeps none.',
  }),
  answersMb: integer('GEGEVENS_ANSWERS_MB', {
    default: 256,
    min: 1,
    max: 65_536,
    description:
      'Memory in megabytes for large answers that are being made or sent, of which one client may have half; more of them wait.',
  }),
  rateLimit: integer('GEGEVENS_RATE_LIMIT', {
    default: 600,
    min: 0,
    max: 10_000_000,
    description: 'Requests per minute per client and mount; 0 is no limit.',
  }),
  trustAnchors: optionalText('GEGEVENS_TRUST_ANCHORS', {
    allowed: 'path of a PEM bundle',
    description: 'Roots that requesters’ certificates must lead to (PKIoverheid in production).',
  }),
  requiredPolicies: list('GEGEVENS_REQUIRED_POLICIES', {
    item: /^\d+(\.\d+)+$/,
    allowed: 'comma list of object identifiers',
    description: 'Certificate policies, one of which the path must be valid for.',
  }),
  allowedSigners: list('GEGEVENS_ALLOWED_SIGNERS', {
    item: /^\d{20}$/,
    allowed: 'comma list of OINs (20 digits)',
    description: 'Who may ask. Absent: every holder of a trusted certificate and a token.',
  }),
  maxSignatureAge: duration('GEGEVENS_MAX_SIGNATURE_AGE', {
    default: '24h',
    min: '1m',
    max: '400d',
    description:
      'How long after its signing time (`iat`, `sigT`) a request is accepted; one that names no time has no age.',
  }),
  crlMaxMb: integer('GEGEVENS_CRL_MAX_MB', {
    default: 50,
    min: 1,
    max: 1024,
    description: 'Largest revocation list in megabytes; twice as much memory is kept for lists.',
  }),
  revocation: choice('GEGEVENS_REVOCATION', ['hard', 'soft'], {
    default: 'hard',
    description: 'What no revocation answer means: `hard` refuses, `soft` accepts.',
  }),
  revocationAllowPrivate: flag('GEGEVENS_REVOCATION_ALLOW_PRIVATE', {
    default: false,
    description:
      'Call revocation services on loopback, link-local and private addresses too (tests); refused in production.',
  }),
  signingKey: optionalText('GEGEVENS_SIGNING_KEY', { ...FILE, description: 'Own private key (PEM).' }),
  signingChain: optionalText('GEGEVENS_SIGNING_CHAIN', {
    ...FILE,
    description: 'Own certificate and its intermediates (PEM), leaf first.',
  }),
  signingP12: optionalText('GEGEVENS_SIGNING_P12', {
    ...FILE,
    description: 'Own key and chain as PKCS#12, instead of the two PEM files.',
  }),
  signingP12Passphrase: optionalText('GEGEVENS_SIGNING_P12_PASSPHRASE', {
    secret: true,
    description: 'Passphrase of the PKCS#12 file.',
  }),
  transportCertificate: optionalText('GEGEVENS_TRANSPORT_CERTIFICATE', {
    ...FILE,
    description:
      'Certificate of the connection, that of your Inway (PEM): `gegevens preflight` sees that it is not the signing certificate.',
  }),
  signatureForm: choice('GEGEVENS_SIGNATURE_FORM', ['mirror', 'body', 'digest'], {
    default: 'mirror',
    description: 'Form of the answer’s signature; `mirror` takes that of the request.',
  }),
  signatureTime: choice('GEGEVENS_SIGNATURE_TIME', ['none', 'iat', 'sigT'], {
    default: 'iat',
    description:
      'Signing time in the protected header of answers; without one a signature is no JAdES baseline B. `sigT` is outdated.',
  }),
  processingHeaders: choice('PROCESSING_HEADERS', ['optional', 'required'], {
    default: 'optional',
    description: 'Whether a missing `OIN` or `VerwerkingId` header is refused.',
  }),
};

/** Limits that are right for everybody. */
export const gegevensConstants = {
  /** Most trajectories in one answer. */
  shvMaxRecords: { variable: 'GEGEVENS_SHV_MAX_RECORDS', value: 25_000 },
  /** Most signals in one answer. */
  vsMaxRecords: { variable: 'GEGEVENS_VS_MAX_RECORDS', value: 50_000 },
  /** How long in milliseconds a large answer waits for that memory before it is refused. */
  answersWaitMs: { variable: 'GEGEVENS_ANSWERS_WAIT_MS', value: 10_000 },
  /**
   * Least speed at which a large answer must be taken, measured over the time of a request; the connection of a slower reader is ended. 0 ends
   * none.
   */
  answersMinBytesPerSecond: { variable: 'GEGEVENS_ANSWERS_MIN_BYTES_PER_SECOND', value: 32_768 },
  /** How long in milliseconds a request waits for an OCSP answer before the revocation list is asked; a later one serves the next request. */
  ocspTimeoutMs: { variable: 'GEGEVENS_OCSP_TIMEOUT_MS', value: 2000 },
};
