/**
 * A throw-away government PKI on loopback, modelled on PKIoverheid with unmistakable names: root, intermediate, certificates for the parties of the
 * demo, an OCSP responder and revocation lists. Never trust it. The keys in its directory are kept.
 */
import { createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { listenOnLoopback } from '../loopback-server.ts';
import { readIfThere } from '../text-file.ts';
import {
  authorityExtensions,
  type Issuer,
  mintCertificate,
  type Name,
  partyExtensions,
  statusExtensions,
} from './certificates.ts';
import { createResponder, normaliseSerial, type ResponderNeeds } from './responder.ts';

const ORGANISATION: Name = [
  ['country', 'NL'],
  ['organization', 'Koppelvlak demonstratie'],
];
const ROOT: Name = [...ORGANISATION, ['commonName', 'Koppelvlak demo Root CA']];
const INTERMEDIATE: Name = [...ORGANISATION, ['commonName', 'Koppelvlak demo Services CA']];
/** PKIoverheid's policy for services certificates in the private domain. */
const SERVICES_POLICY = '2.16.528.1.1003.1.2.8.6';

export interface AuthorityOptions {
  readonly dir: string;
  readonly port: number;
  readonly now?: () => Date;
  /** Seconds that an answer or list is valid; default 2. */
  readonly lifeSeconds?: number;
  /** Answers for the status of certificates; by default correct ones. */
  readonly respond?: (needs: ResponderNeeds) => RequestListener;
}

export interface Party {
  readonly key: string;
  readonly chain: string;
  readonly certificate: string;
  readonly oin: string;
}

export type Authority = Awaited<ReturnType<typeof createAuthority>>;

interface PartyName {
  readonly organization: string;
  readonly oin: string;
}

/** Starts the authority. @throws {Error} when the port is taken */
export async function createAuthority(options: AuthorityOptions) {
  const { dir, now = () => new Date(), lifeSeconds = 2, respond = createResponder } = options;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const file = (name: string): string => join(dir, name);
  const revoked = file('revoked.txt');
  await writeFile(revoked, '', { flag: 'a' });
  const [rootKey, key] = await Promise.all([keepKey(file('root-key.pem')), keepKey(file('intermediate-key.pem'))]);
  const root: Issuer = { name: ROOT, key: rootKey };
  const intermediate: Issuer = { name: INTERMEDIATE, key };
  const { server, port, address, close } = await listenOnLoopback(options.port, { requestTimeout: 10_000 });
  const ocspUrl = `${address}/ocsp`;
  const [crlUrl, rootCrlUrl] = [`${address}/intermediate.crl`, `${address}/root.crl`] as const;

  const rootCertificate = mintCertificate({
    ...{ subject: ROOT, key: rootKey, issuer: root, from: now(), days: 3650 },
    extensions: authorityExtensions(),
  });
  const certificate = mintCertificate({
    ...{ subject: INTERMEDIATE, key, issuer: root, from: now(), days: 1825 },
    extensions: [...authorityExtensions(0), ...statusExtensions(SERVICES_POLICY, ocspUrl, rootCrlUrl)],
  });
  await writeFile(file('root.pem'), rootCertificate.toString());
  await writeFile(file('intermediate.pem'), certificate.toString());
  const party = async (directory: string, name: string, { organization, oin }: PartyName): Promise<Party> => {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const at = (end: string): string => join(directory, name + end);
    const files = { key: at('-key.pem'), chain: at('-chain.pem'), certificate: at('.pem'), oin };
    const subject: Name = [
      ['country', 'NL'],
      ['organization', organization],
      ['commonName', `${organization} gegevenslevering`],
      ['serialNumber', oin],
    ];
    const leaf = mintCertificate({
      ...{ subject, key: await keepKey(files.key), issuer: intermediate, from: now(), days: 730 },
      extensions: [...partyExtensions(), ...statusExtensions(SERVICES_POLICY, ocspUrl, crlUrl)],
    });
    await writeFile(files.certificate, leaf.toString());
    await writeFile(files.chain, `${leaf}${certificate}`);
    return files;
  };
  const requester = { organization: 'Voorbeeld Statistiek', oin: '00000099000000001000' };
  const supplier = { organization: 'Voorbeeld Leverancier', oin: '00000099000000002000' };
  const parties = {
    requester: await party(dir, 'requester', requester),
    supplier: await party(dir, 'supplier', supplier),
  };
  server.on('request', respond({ root, intermediate, now, lifeSeconds, revoked: () => readRevoked(revoked) }));
  return {
    dir,
    root: file('root.pem'),
    intermediate: file('intermediate.pem'),
    intermediateKey: file('intermediate-key.pem'),
    ...parties,
    ocspUrl,
    /** The list of the intermediate; the root's is beside it. */
    crlUrl,
    rootCrlUrl,
    /** A text file of hexadecimal serial numbers, one a line, read at every request; lines that begin with # are remarks. */
    revoked,
    port,
    issuers: { root, intermediate },
    party,
    close,
  };
}

/** The RSA key in the file; a new one, readable by its owner only, when the file does not exist. */
async function keepKey(path: string): Promise<KeyObject> {
  const kept = await readIfThere(path);
  if (kept !== undefined) return createPrivateKey(kept);
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  await writeFile(path, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  return privateKey;
}

function readRevoked(path: string): string[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map(normaliseSerial);
}
