/** The keys of a run: its own authority, the suppliers that it vouches for, and untrusted signers. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAuthority } from '../../src/lib/authority/authority.ts';
import { mintCertificate, partyExtensions, statusExtensions } from '../../src/lib/authority/certificates.ts';
import { type Identity, x5cOf } from '../gegevens/signed-request.ts';
import { makeStrangers } from '../gegevens/strangers.ts';

export type RunKeys = Awaited<ReturnType<typeof makeKeys>>;
export type SupplierName = keyof RunKeys['suppliers'];

const OIN = '00000099000000002000';
const POLICY = '2.16.528.1.1003.1.2.8.6';
/** A port without a listener. */
const NOWHERE = 'http://127.0.0.1:1';
const DAY_MS = 24 * 3_600_000;

/** @param dir existing keys in it are reused */
export async function makeKeys(dir: string) {
  const authority = await createAuthority({ dir, port: 0, lifeSeconds: 600 });
  const read = async ({ key, chain }: { readonly key: string; readonly chain: string }): Promise<Identity> => ({
    key: createPrivateKey(await readFile(key, 'utf8')),
    x5c: x5cOf(await readFile(chain, 'utf8')),
  });
  const supplier = await read(authority.supplier);
  const organization = 'Ingetrokken Leverancier';
  const other = await authority.party(join(dir, 'revoked'), 'revoked', { organization, oin: OIN });
  const { serialNumber } = new X509Certificate(await readFile(other.certificate));
  await appendFile(authority.revoked, `${serialNumber}\n`);
  const root = x5cOf(await readFile(authority.root, 'utf8'));
  const leaf = (from: Date, days: number, ocspUrl: string, crlUrl: string): Identity => {
    const certificate = mintCertificate({
      subject: [
        ['country', 'NL'],
        ['organization', 'Voorbeeld Leverancier'],
        ['commonName', 'Voorbeeld Leverancier gegevenslevering'],
        ['serialNumber', OIN],
      ],
      key: supplier.key,
      issuer: authority.issuers.intermediate,
      from,
      days,
      extensions: [...partyExtensions(), ...statusExtensions(POLICY, ocspUrl, crlUrl)],
    });
    return { key: supplier.key, x5c: [certificate.raw.toString('base64'), ...supplier.x5c.slice(1)] };
  };
  const now = new Date();
  const { ocspUrl, crlUrl } = authority;
  return {
    suppliers: {
      supplier,
      revoked: await read(other),
      ...makeStrangers(supplier),
      expired: leaf(new Date(now.getTime() - 100 * DAY_MS), 90, ocspUrl, crlUrl),
      unknownStatus: leaf(now, 30, `${NOWHERE}/ocsp`, `${NOWHERE}/list.crl`),
      withRoot: { key: supplier.key, x5c: [...supplier.x5c, ...root] },
    },
    /** Files for a requester without keys of its own: PEM. */
    requester: authority.requester,
    /** File with the root of the suppliers' certificates: PEM. */
    root: authority.root,
    issuer: authority.issuers.intermediate,
    ocspUrl,
    crlUrl,
    close: authority.close,
  };
}
