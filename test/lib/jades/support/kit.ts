// A separate authority for each test file, and messages signed in every right and wrong way.
import { constants, createPrivateKey, type KeyObject, sign, type X509Certificate } from 'node:crypto';
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { JadesError } from '../../../../src/lib/jades/certificate.ts';
import { digestOf } from '../../../../src/lib/jades/signature.ts';
import type { SignedMessage, Verifier, VerifierOptions } from '../../../../src/lib/jades/verify.ts';
import { createVerifier } from '../../../../src/lib/jades/verify.ts';
import { createGuardedFetch } from '../../../../src/lib/outbound/guarded-fetch.ts';
import { authorityDirectory } from '../../../gegevens/support/authority-directory.ts';
import { createFaultyAuthority, type FaultyAuthority } from '../../../support/authority/faulty-authority.ts';
import { type LeafRequest, mintLeaf } from '../../../support/authority/profiles.ts';

export interface Kit {
  readonly authority: FaultyAuthority;
  readonly rootPem: string;
  readonly requesterKey: KeyObject;
  /** DER, leaf first. */
  readonly requesterChain: readonly Buffer[];
  readonly intermediate: Buffer;
  close(): Promise<void>;
}

export async function openKit(): Promise<Kit> {
  const dir = await authorityDirectory('jades-');
  const authority = await createFaultyAuthority({ dir, port: 0 });
  return kitOf(authority, async () => {
    await authority.close();
    rmSync(dir, { recursive: true });
  });
}

export function kitOf(authority: FaultyAuthority, close: () => Promise<void>): Kit {
  const chain = pemToDer(readFileSync(authority.requester.chain, 'utf8'));
  const [, intermediate] = chain;
  if (intermediate === undefined) throw new Error('the chain has no intermediate');
  return {
    authority,
    rootPem: readFileSync(authority.root, 'utf8'),
    requesterKey: createPrivateKey(readFileSync(authority.requester.key)),
    requesterChain: chain,
    intermediate,
    close,
  };
}

export function pemToDer(pem: string): Buffer[] {
  return [...pem.matchAll(/-----BEGIN CERTIFICATE-----([^-]+)-----END/g)].map(([, body]) =>
    Buffer.from(body ?? '', 'base64'),
  );
}

/** Long enough on any machine: no test depends on the speed of an answer. */
const patient = { revocationDeadlineMs: 20_000, ocspTimeoutMs: 10_000, crlTimeoutMs: 10_000 };

/** A verifier that is closed when the test ends. */
export function verifierFor(kit: Kit, options: Partial<VerifierOptions> & { allowPrivate?: boolean } = {}): Verifier {
  const { allowPrivate = true, ...given } = options;
  const network = createGuardedFetch({ allowPrivate });
  const verifier = createVerifier({
    anchors: kit.rootPem,
    revocation: 'hard',
    fetch: network.fetch,
    now: () => new Date(),
    ...given,
    limits: { ...patient, ...options.limits },
  });
  onTestFinished(async () => {
    await verifier.close();
    await network.close();
  });
  return verifier;
}

/** A certificate for the requester's key under the intermediate, with these differences. */
export function leafFor(kit: Kit, given: Partial<LeafRequest> = {}): X509Certificate {
  return mintLeaf({
    key: kit.requesterKey,
    issuer: kit.authority.issuers.intermediate,
    now: new Date(),
    organization: 'Voorbeeld Statistiek',
    oin: '00000099000000001000',
    ocspUrl: kit.authority.ocspUrl,
    crlUrl: kit.authority.crlUrl,
    ...given,
  });
}

export function revoke(kit: Kit, certificate: X509Certificate): void {
  appendFileSync(kit.authority.revoked, `${certificate.serialNumber}\n`);
  onTestFinished(() => writeFileSync(kit.authority.revoked, ''));
}

export interface Craft {
  readonly body?: Buffer;
  /** Members that replace or add to the usual ones; undefined omits one. */
  readonly header?: Readonly<Record<string, unknown>>;
  /** The text of the header, instead of all members. */
  readonly headerText?: string;
  readonly key?: KeyObject;
  /** DER, leaf first. */
  readonly chain?: readonly Uint8Array[];
  /** The part signed after the header and the dot. */
  readonly payload?: string | Buffer;
  readonly digest?: string | readonly string[];
  readonly signer?: (input: Buffer) => Buffer;
}

export const digestForm = {
  sigD: { mId: 'http://uri.etsi.org/19182/HttpHeaders', pars: ['digest'] },
  b64: false,
  crit: ['sigD', 'b64'],
} as const;

/** A message of the requester, in the body form by default. */
export function craft(kit: Kit, given: Craft = {}): SignedMessage & { signatureHeader: string } {
  const body = given.body ?? Buffer.from('{"page":1}');
  const chain = given.chain ?? kit.requesterChain;
  const members = {
    alg: 'PS256',
    typ: 'JOSE',
    kid: 'sleutel-1',
    x5c: chain.map((der) => Buffer.from(der).toString('base64')),
    ...given.header,
  };
  const header = Buffer.from(given.headerText ?? JSON.stringify(members)).toString('base64url');
  const payload = given.payload ?? body.toString('base64url');
  const input = Buffer.concat([Buffer.from(`${header}.`), Buffer.from(payload)]);
  const signature = given.signer ? given.signer(input) : ps256(input, given.key ?? kit.requesterKey);
  return {
    signatureHeader: `${header}..${signature.toString('base64url')}`,
    digestHeader: given.digest ?? digestOf(body),
    body,
  };
}

/** A message in the digest form. */
export function craftDigest(kit: Kit, given: Craft = {}): SignedMessage & { signatureHeader: string } {
  const digest = given.digest ?? digestOf(given.body ?? Buffer.from('{"page":1}'));
  return craft(kit, {
    ...given,
    header: { ...digestForm, ...given.header },
    payload: given.payload ?? `digest: ${digest}`,
  });
}

export function ps256(input: Buffer, key: KeyObject): Buffer {
  return sign('sha256', input, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 });
}

/** The code of the refusal, `accepted`, or any other error. */
export async function verdict(verifier: Verifier, message: SignedMessage): Promise<string> {
  try {
    await verifier.verify(message);
    return 'accepted';
  } catch (error) {
    return error instanceof JadesError ? error.code : String(error);
  }
}
