// A throw-away government PKI on loopback: root, intermediate, a certificate for the requester and one for the supplier,
// an OCSP responder and revocation lists. Nobody must ever trust it. Of its files, what is there is used again and what is
// missing is made.
import { createPrivateKey, generateKeyPair, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Answers, type AuthorityServer, honestAnswers, listen } from './authority-server.ts';
import type { Issuer } from './certificates.ts';
import { intermediateName, mintAuthority, mintLeaf, mintRoot, rootName } from './profiles.ts';
import { normaliseSerial } from './revocation.ts';

interface AuthorityFiles {
  readonly root: string;
  readonly rootKey: string;
  readonly intermediate: string;
  readonly intermediateKey: string;
  readonly responderKey: string;
  readonly revoked: string;
  readonly addresses: string;
  readonly requester: PartyFiles;
  readonly supplier: PartyFiles;
}

export interface PartyFiles {
  readonly key: string;
  /** The certificate and the intermediate. */
  readonly chain: string;
  readonly certificate: string;
}

export function authorityFiles(dir: string): AuthorityFiles {
  const file = (name: string): string => join(dir, name);
  const party = (name: string): PartyFiles => ({
    key: file(`${name}-key.pem`),
    chain: file(`${name}-chain.pem`),
    certificate: file(`${name}.pem`),
  });
  return {
    root: file('root.pem'),
    rootKey: file('root-key.pem'),
    intermediate: file('intermediate.pem'),
    intermediateKey: file('intermediate-key.pem'),
    responderKey: file('responder-key.pem'),
    revoked: file('revoked.txt'),
    addresses: file('addresses.txt'),
    requester: party('requester'),
    supplier: party('supplier'),
  };
}

/** The text of a file, or undefined when there is none. */
export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The key in the file; a new one, readable by its owner only, when there is none. */
export async function keepKey(path: string): Promise<KeyObject> {
  const kept = await readText(path);
  if (kept !== undefined) return createPrivateKey(kept);
  const key = await newRsaKey();
  await writeFile(path, privatePem(key), { mode: 0o600 });
  return key;
}

/** The certificate in the file when it is still good; else the one that `mint` makes. */
export async function keepCertificate(
  path: string,
  isGood: (certificate: X509Certificate) => boolean,
  mint: () => X509Certificate,
): Promise<X509Certificate> {
  const kept = await readText(path);
  if (kept !== undefined) {
    const certificate = new X509Certificate(kept);
    if (isGood(certificate)) return certificate;
  }
  const certificate = mint();
  await writeFile(path, certificate.toString());
  return certificate;
}

/** The serial numbers in the list of revoked ones, read anew; lines that begin with # are remarks. */
export function readRevoked(path: string): string[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(normaliseSerial);
}

const generate = promisify(generateKeyPair);

/** A new RSA key, made off the event loop. */
async function newRsaKey(bits = 2048): Promise<KeyObject> {
  const { privateKey } = await generate('rsa', { modulusLength: bits });
  return privateKey;
}

function privatePem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

export interface AuthorityOptions {
  readonly dir: string;
  /** 0: the port of the last time when it is free, else any. */
  readonly port: number;
  readonly now?: () => Date;
  /** Seconds that an answer of the responder, or a list, holds; default 2. */
  readonly lifeSeconds?: number;
  /** What the responder answers, honest unless given. */
  readonly answers?: Answers;
}

/** PEM files of one party. */
export interface Party extends PartyFiles {
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
  /** A text file of hexadecimal serial numbers, one a line, read at every request. */
  readonly revoked: string;
  readonly port: number;
  /** To mint more certificates with. */
  readonly issuers: { readonly root: Issuer; readonly intermediate: Issuer };
  close(): Promise<void>;
}

const parties = {
  requester: { organization: 'Voorbeeld Statistiek', oin: '00000099000000001000' },
  supplier: { organization: 'Voorbeeld Leverancier', oin: '00000099000000002000' },
} as const;
const monthMs = 31 * 24 * 3_600_000;

/** Starts the authority; its files are made when they are missing, expire within a month, or name another port. */
export async function createAuthority(options: AuthorityOptions): Promise<Authority> {
  const { dir, port, now = () => new Date(), lifeSeconds = 2, answers = honestAnswers } = options;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const files = authorityFiles(dir);
  const [rootKey, intermediateKey, responderKey, requesterKey, supplierKey] = await Promise.all([
    keepKey(files.rootKey),
    keepKey(files.intermediateKey),
    keepKey(files.responderKey),
    keepKey(files.requester.key),
    keepKey(files.supplier.key),
  ]);
  if ((await readText(files.revoked)) === undefined) await writeFile(files.revoked, '');
  const before = await readText(files.addresses);
  const server = await listenAt(port, before, answers);
  const base = `http://127.0.0.1:${server.port}`;
  const [ocspUrl, crlUrl, rootCrlUrl] = [`${base}/ocsp`, `${base}/intermediate.crl`, `${base}/root.crl`];

  const lasts = ({ validToDate }: X509Certificate): boolean => validToDate.getTime() > now().getTime() + monthMs;
  const rootIssuer = { name: rootName, key: rootKey };
  const issuer = { name: intermediateName, key: intermediateKey };
  const root = await keepCertificate(files.root, lasts, () => mintRoot(rootKey, now()));
  const follows = (above: X509Certificate) => (certificate: X509Certificate) =>
    base === before && lasts(certificate) && certificate.verify(above.publicKey);
  const intermediate = await keepCertificate(files.intermediate, follows(root), () =>
    mintAuthority({
      subject: intermediateName,
      key: intermediateKey,
      issuer: rootIssuer,
      now: now(),
      pathLength: 0,
      ocspUrl,
      crlUrl: rootCrlUrl,
    }),
  );
  const keepParty = async (name: 'requester' | 'supplier', key: KeyObject): Promise<Party> => {
    const request = { ...parties[name], key, issuer, now: now(), ocspUrl, crlUrl };
    const leaf = await keepCertificate(files[name].certificate, follows(intermediate), () => mintLeaf(request));
    await writeFile(files[name].chain, `${leaf}${intermediate}`);
    return { ...files[name], oin: parties[name].oin };
  };
  const requester = await keepParty('requester', requesterKey);
  const supplier = await keepParty('supplier', supplierKey);
  await writeFile(files.addresses, base);

  server.serve({
    root: rootIssuer,
    intermediate: issuer,
    responderKey,
    now,
    lifeSeconds,
    revoked: () => readRevoked(files.revoked),
  });
  return {
    dir,
    root: files.root,
    intermediate: files.intermediate,
    intermediateKey: files.intermediateKey,
    requester,
    supplier,
    ocspUrl,
    crlUrl,
    rootCrlUrl,
    revoked: files.revoked,
    port: server.port,
    issuers: { root: rootIssuer, intermediate: issuer },
    close: () => server.close(),
  };
}

/** Certificates carry the address, so the port of the last time is tried first when any will do. */
async function listenAt(port: number, before: string | undefined, answers: Answers): Promise<AuthorityServer> {
  const last = Number(before?.split(':')[2] ?? 0);
  if (port !== 0 || !(last > 0)) return listen(port, answers);
  try {
    return await listen(last, answers);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return listen(0, answers);
    throw error;
  }
}
