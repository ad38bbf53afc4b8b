/**
 * A throw-away government PKI on loopback, after PKIoverheid and with names that nobody can mistake for it: root, intermediate, certificates for
 * the parties of the demo, an OCSP responder and revocation lists. Nobody must ever trust it. What its directory holds is used again, and what
 * is missing is made.
 */
import { createPrivateKey, generateKeyPair, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  basicConstraints,
  type CertificateRequest,
  certificatePolicy,
  extendedKeyUsage,
  type Issuer,
  keyUsage,
  mintCertificate,
  type Name,
  statusAddresses,
} from './certificates.ts';
import { createResponder, listen, normaliseSerial, type ResponderNeeds } from './responder.ts';

const ORGANISATION: Name = [
  ['country', 'NL'],
  ['organization', 'Koppelvlak demonstratie'],
];
const ROOT: Name = [...ORGANISATION, ['commonName', 'Koppelvlak demo Root CA']];
const INTERMEDIATE: Name = [...ORGANISATION, ['commonName', 'Koppelvlak demo Services CA']];
/** PKIoverheid's policy for services certificates in the private domain. */
const SERVICES_POLICY = '2.16.528.1.1003.1.2.8.6';
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
/** Certificates that end sooner are replaced at start (milliseconds). */
const RENEWAL_MS = 31 * 24 * 3_600_000;

export interface AuthorityOptions {
  readonly dir: string;
  /** 0: the port of the last time when it is free, else any. */
  readonly port: number;
  readonly now?: () => Date;
  /** Seconds that an answer of the responder, or a list, holds; default 2. */
  readonly lifeSeconds?: number;
  /** What answers for the status of certificates; by default as an authority should. */
  readonly respond?: (needs: ResponderNeeds) => RequestListener;
}

/** PEM files of one party. */
export interface Party {
  readonly key: string;
  /** The certificate and the intermediate. */
  readonly chain: string;
  readonly certificate: string;
  readonly oin: string;
}

export interface Authority {
  readonly dir: string;
  /** PEM files. */
  readonly root: string;
  readonly intermediate: string;
  readonly intermediateKey: string;
  readonly requester: Party;
  readonly supplier: Party;
  readonly ocspUrl: string;
  /** The list of the intermediate; the root's is beside it. */
  readonly crlUrl: string;
  readonly rootCrlUrl: string;
  /** A text file of hexadecimal serial numbers, one a line, read at every request; lines that begin with # are remarks. */
  readonly revoked: string;
  readonly port: number;
  /** To mint more certificates with. */
  readonly issuers: { readonly root: Issuer; readonly intermediate: Issuer };
  /** A certificate for one more party, whose files are made when they are missing or about to end. */
  readonly party: (dir: string, name: string, of: PartyName) => Promise<Party>;
  close(): Promise<void>;
}

interface PartyName {
  readonly organization: string;
  /** Twenty digits. */
  readonly oin: string;
}

/** Starts the authority; its files are made when they are missing, expire within a month, or name another port. */
export async function createAuthority(options: AuthorityOptions): Promise<Authority> {
  const { dir, port, now = () => new Date(), lifeSeconds = 2, respond = createResponder } = options;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const file = (name: string): string => join(dir, name);
  const [revoked, addresses] = [file('revoked.txt'), file('addresses.txt')];
  const [rootKey, key, responderKey] = await Promise.all([
    keepKey(file('root-key.pem')),
    keepKey(file('intermediate-key.pem')),
    keepKey(file('responder-key.pem')),
  ]);
  const root: Issuer = { name: ROOT, key: rootKey };
  const intermediate: Issuer = { name: INTERMEDIATE, key };
  if ((await readText(revoked)) === undefined) await writeFile(revoked, '');
  const before = await readText(addresses);
  const { server, port: listening } = await listenAt(port, before);
  const base = `http://127.0.0.1:${listening}`;
  const [ocspUrl, crlUrl, rootCrlUrl] = [`${base}/ocsp`, `${base}/intermediate.crl`, `${base}/root.crl`];

  /** The certificate in the file when it still lasts and fits; else a new one. */
  const keep = async (path: string, above: X509Certificate | undefined, request: Omit<CertificateRequest, 'from'>) => {
    const kept = await readText(path);
    if (kept !== undefined) {
      const certificate = new X509Certificate(kept);
      const lasts = certificate.validToDate.getTime() > now().getTime() + RENEWAL_MS;
      if (lasts && (above === undefined || (base === before && certificate.verify(above.publicKey))))
        return certificate;
    }
    const certificate = mintCertificate({ ...request, from: now() });
    await writeFile(path, certificate.toString());
    return certificate;
  };
  const rootCertificate = await keep(file('root.pem'), undefined, {
    ...{ subject: ROOT, key: rootKey, issuer: root, days: 3650 },
    extensions: [basicConstraints(true), keyUsage('authority')],
  });
  const certificate = await keep(file('intermediate.pem'), rootCertificate, {
    ...{ subject: INTERMEDIATE, key, issuer: root, days: 1825 },
    extensions: [
      basicConstraints(true, 0),
      keyUsage('authority'),
      certificatePolicy(SERVICES_POLICY),
      ...statusAddresses(ocspUrl, rootCrlUrl),
    ],
  });
  const party: Authority['party'] = async (directory, name, { organization, oin }) => {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const files = {
      key: join(directory, `${name}-key.pem`),
      chain: join(directory, `${name}-chain.pem`),
      certificate: join(directory, `${name}.pem`),
      oin,
    };
    const leaf = await keep(files.certificate, certificate, {
      subject: [
        ['country', 'NL'],
        ['organization', organization],
        ['commonName', `${organization} gegevenslevering`],
        ['serialNumber', oin],
      ],
      ...{ key: await keepKey(files.key), issuer: intermediate, days: 730 },
      extensions: [
        basicConstraints(false),
        keyUsage('party'),
        extendedKeyUsage(CLIENT_AUTH, SERVER_AUTH),
        certificatePolicy(SERVICES_POLICY),
        ...statusAddresses(ocspUrl, crlUrl),
      ],
    });
    await writeFile(files.chain, `${leaf}${certificate}`);
    return files;
  };
  const requester = { organization: 'Voorbeeld Statistiek', oin: '00000099000000001000' };
  const supplier = { organization: 'Voorbeeld Leverancier', oin: '00000099000000002000' };
  const parties = {
    requester: await party(dir, 'requester', requester),
    supplier: await party(dir, 'supplier', supplier),
  };
  await writeFile(addresses, base);

  server.on(
    'request',
    respond({ root, intermediate, responderKey, now, lifeSeconds, revoked: () => readRevoked(revoked) }),
  );
  return {
    dir,
    root: file('root.pem'),
    intermediate: file('intermediate.pem'),
    intermediateKey: file('intermediate-key.pem'),
    ...parties,
    ...{ ocspUrl, crlUrl, rootCrlUrl, revoked, port: listening, issuers: { root, intermediate }, party },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Certificates carry the address, so the port of the last time is tried first when any will do. */
async function listenAt(port: number, before: string | undefined): ReturnType<typeof listen> {
  const last = Number(before?.split(':')[2] ?? 0);
  if (port !== 0 || !(last > 0)) return listen(port);
  try {
    return await listen(last);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return listen(0);
    throw error;
  }
}

/** The text of a file, or undefined when it does not exist. */
async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

const generate = promisify(generateKeyPair);

/** The RSA key in the file; a new one, readable by its owner only, when the file does not exist. */
async function keepKey(path: string): Promise<KeyObject> {
  const kept = await readText(path);
  if (kept !== undefined) return createPrivateKey(kept);
  const { privateKey } = await generate('rsa', { modulusLength: 2048 });
  await writeFile(path, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  return privateKey;
}

function readRevoked(path: string): string[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(normaliseSerial);
}
