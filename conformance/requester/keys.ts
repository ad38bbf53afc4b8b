/** The keys of a run: its own authority, the suppliers that it vouches for, and untrusted signers. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAuthority } from '../../src/lib/authority/authority.ts';
import {
  type Issuer,
  mintCertificate,
  partyExtensions,
  statusExtensions,
} from '../../src/lib/authority/certificates.ts';
import { parsePemCertificates } from '../../src/lib/jades/certificate.ts';
import type { Identity } from '../gegevens/signed-request.ts';
import { makeStrangers } from '../gegevens/strangers.ts';

/** A signer of answers. */
export type SupplierName =
  | 'supplier'
  | 'revoked'
  | 'expired'
  | 'unknownStatus'
  | 'ownRoot'
  | 'forged'
  | 'belowLeaf'
  | 'withRoot';

export interface RunKeys {
  readonly suppliers: Readonly<Record<SupplierName, Identity>>;
  /** Files for a requester without keys of its own: PEM. */
  readonly requester: { readonly key: string; readonly chain: string };
  /** File with the root of the suppliers' certificates: PEM. */
  readonly root: string;
  /** For issuing further certificates. */
  readonly issuer: Issuer;
  readonly ocspUrl: string;
  readonly crlUrl: string;
  close(): Promise<void>;
}

const OIN = '00000099000000002000';
const POLICY = '2.16.528.1.1003.1.2.8.6';
/** A port without a listener. */
const NOWHERE = 'http://127.0.0.1:1';
const DAY_MS = 24 * 3_600_000;

/** @param dir existing keys in it are reused */
export async function makeKeys(dir: string): Promise<RunKeys> {
  const authority = await createAuthority({ dir, port: 0, lifeSeconds: 600 });
  const read = async ({ key, chain }: { readonly key: string; readonly chain: string }): Promise<Identity> => ({
    key: createPrivateKey(await readFile(key, 'utf8')),
    x5c: parsePemCertificates(await readFile(chain, 'utf8')).map(({ der }) => der.toString('base64')),
  });
  const supplier = await read(authority.supplier);
  const other = await authority.party(join(dir, 'revoked'), 'revoked', {
    organization: 'Ingetrokken Leverancier',
    oin: OIN,
  });
  const { serialNumber } = new X509Certificate(await readFile(other.certificate));
  await appendFile(authority.revoked, `${serialNumber}\n`);
  const [root] = parsePemCertificates(await readFile(authority.root, 'utf8'));
  const leaf = (from: Date, days: number, ocspUrl: string, crlUrl: string): Identity => {
    const certificate = mintCertificate({
      subject: [
        ['country', 'NL'],
        ['organization', 'Voorbeeld Leverancier'],
        ['commonName', 'Voorbeeld Leverancier gegevenslevering'],
        ['serialNumber', OIN],
      ],
      ...{ key: supplier.key, issuer: authority.issuers.intermediate, from, days },
      extensions: [...partyExtensions(), ...statusExtensions(POLICY, ocspUrl, crlUrl)],
    });
    return { key: supplier.key, x5c: [certificate.raw.toString('base64'), ...supplier.x5c.slice(1)] };
  };
  const now = new Date();
  const { ocspUrl, crlUrl } = authority;
  return {
    suppliers: {
      ...{ supplier, revoked: await read(other), ...makeStrangers(supplier) },
      expired: leaf(new Date(now.getTime() - 100 * DAY_MS), 90, ocspUrl, crlUrl),
      unknownStatus: leaf(now, 30, `${NOWHERE}/ocsp`, `${NOWHERE}/list.crl`),
      withRoot: {
        key: supplier.key,
        x5c: [...supplier.x5c, ...(root === undefined ? [] : [root.der.toString('base64')])],
      },
    },
    requester: { key: authority.requester.key, chain: authority.requester.chain },
    root: authority.root,
    ...{ issuer: authority.issuers.intermediate, ocspUrl, crlUrl },
    close: authority.close,
  };
}
