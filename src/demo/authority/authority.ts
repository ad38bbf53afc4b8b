// A throw-away government PKI on loopback: root, intermediate, a certificate for the requester and one for the supplier,
// an OCSP responder and revocation lists. Nobody must ever trust it.
import type { KeyObject, X509Certificate } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { type Answers, type AuthorityServer, honestAnswers, listen } from './authority-server.ts';
import type { Issuer } from './certificates.ts';
import { authorityFiles, keepCertificate, keepKey, type PartyFiles, readRevoked, readText } from './files.ts';
import { intermediateName, mintAuthority, mintLeaf, mintRoot, rootName } from './profiles.ts';

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
