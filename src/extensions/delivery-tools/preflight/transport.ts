/** The certificate of the connection must be another one than that of the signatures. */
import { hash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';
import { reasonOf } from '../../../lib/log.ts';
import type { Config } from '../../../settings/read-config.ts';
import { failed, notChecked, ok, type PreflightLine, shownAddress } from './line.ts';
import type { OwnCertificate } from './own-certificate.ts';

interface TransportNeeds {
  readonly own: OwnCertificate | undefined;
  readonly timeoutMs: number;
}

export interface TransportCheck {
  readonly line: PreflightLine;
  readonly certificates: readonly X509Certificate[];
}

const NAME = 'transport-certificate';
const FILE_TODO = 'name the certificate of your Inway: --transport-certificate FILE';

/** Without a file the certificate is asked of the own Inways and of `PUBLIC_BASE_URL`. */
export async function checkTransport(config: Config, { own, timeoutMs }: TransportNeeds): Promise<TransportCheck> {
  const { transportCertificate: file } = config.gegevens;
  let certificates: X509Certificate[];
  if (file !== undefined) {
    try {
      certificates = [new X509Certificate(readFileSync(file))];
    } catch (error) {
      const line = failed(NAME, `${file} holds no certificate: ${reasonOf(error)}`, 'name a PEM file of a certificate');
      return { line, certificates: [] };
    }
  } else {
    const addresses = tlsAddresses(config);
    if (addresses.length === 0) {
      return { line: notChecked(NAME, 'no address with TLS is configured', FILE_TODO), certificates: [] };
    }
    const shown = await Promise.allSettled(addresses.map((address) => certificateOf(new URL(address), timeoutMs)));
    certificates = shown.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    if (certificates.length === 0) {
      const reasons = shown.flatMap((each) => (each.status === 'rejected' ? [tlsReason(each.reason)] : []));
      const detail = `${addresses.map(shownAddress).join(', ')}: ${[...new Set(reasons)].join('; ')}`;
      return { line: notChecked(NAME, detail, FILE_TODO), certificates: [] };
    }
  }
  if (own === undefined)
    return { line: notChecked(NAME, 'there is no signing certificate to compare with'), certificates };
  return { line: compare(certificates, own), certificates };
}

function compare(certificates: readonly X509Certificate[], { leaf }: OwnCertificate): PreflightLine {
  const todo =
    'request a certificate of its own for the signatures, with a key of its own: the interface asks for two, and who holds the Inway must not be able to sign';
  const signing = publicKeyHash(leaf.x509);
  for (const certificate of certificates) {
    if (certificate.raw.equals(leaf.der))
      return failed(NAME, 'the signing certificate is that of the connection', todo);
    if (publicKeyHash(certificate) === signing) {
      return failed(NAME, 'the signing certificate has the key of that of the connection', todo);
    }
  }
  return ok(NAME, 'another certificate and key than those of the signatures');
}

/** Messages of OpenSSL name its source files; the code says as much. */
function tlsReason(error: unknown): string {
  const isTls = error instanceof Error && 'code' in error && /^ERR_(SSL|TLS)_/.test(String(error.code));
  return isTls ? String(error.code) : reasonOf(error);
}

function publicKeyHash({ publicKey }: X509Certificate): string {
  return hash('sha256', publicKey.export({ type: 'spki', format: 'der' }), 'base64url');
}

/** The own addresses that a TLS connection can be made to. */
function tlsAddresses({ tokens, server }: Config): string[] {
  const all = [...tokens.fscAudience, ...(server.publicBaseUrl === undefined ? [] : [server.publicBaseUrl])];
  return [...new Set(all.filter((address) => URL.parse(address)?.protocol === 'https:'))];
}

/** The certificate that a server shows, whoever issued it: it is only compared. */
function certificateOf({ hostname, port }: URL, timeoutMs: number): Promise<X509Certificate> {
  const host = hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(port || 443),
      servername: /[a-z]/i.test(host) ? host : '',
      rejectUnauthorized: false,
    });
    const timer = setTimeout(() => socket.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerX509Certificate();
      if (certificate === undefined) reject(new Error('no certificate was shown'));
      else resolve(certificate);
      socket.destroy();
    });
    socket.once('error', reject);
    socket.once('close', () => {
      clearTimeout(timer);
      reject(new Error('the connection was closed'));
    });
  });
}
