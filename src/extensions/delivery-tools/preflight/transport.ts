/** The certificate of the connection must be another one than that of the signatures. */
import { hash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';
import { reasonOf } from '../../../lib/log.ts';
import type { Config } from '../../../settings/read-config.ts';
import { failed, notChecked, ok, type PreflightContext, shownAddress, type Verdict } from './line.ts';
import type { OwnCertificate } from './own-certificate.ts';

interface TransportCheck {
  readonly verdict: Verdict;
  readonly certificates: readonly X509Certificate[];
}

const FILE_TODO = 'name the certificate of your Inway: --transport-certificate FILE';

/** Without a file the own Inways and `PUBLIC_BASE_URL` are asked for the certificate. */
export async function checkTransport({ config, own, timeoutMs }: PreflightContext): Promise<TransportCheck> {
  const { transportCertificate: file } = config.gegevens;
  const certificates: X509Certificate[] = [];
  if (file !== undefined) {
    try {
      certificates.push(new X509Certificate(readFileSync(file)));
    } catch (error) {
      const verdict = failed(`${file} holds no certificate: ${reasonOf(error)}`, 'name a PEM file of a certificate');
      return { verdict, certificates };
    }
  } else {
    const addresses = tlsAddresses(config);
    const shown = await Promise.allSettled(addresses.map((address) => certificateOf(new URL(address), timeoutMs)));
    for (const each of shown) if (each.status === 'fulfilled') certificates.push(each.value);
    if (certificates.length === 0) {
      const reasons = shown.flatMap((each) => (each.status === 'rejected' ? [tlsReason(each.reason)] : []));
      const detail = `${addresses.map(shownAddress).join(', ')}: ${[...new Set(reasons)].join('; ')}`;
      const verdict = notChecked(addresses.length === 0 ? 'no address with TLS is configured' : detail, FILE_TODO);
      return { verdict, certificates };
    }
  }
  const verdict =
    own === undefined ? notChecked('there is no signing certificate to compare with') : compare(certificates, own);
  return { verdict, certificates };
}

function compare(certificates: readonly X509Certificate[], { leaf }: OwnCertificate): Verdict {
  const todo =
    'request a certificate of its own for the signatures, with a key of its own: the interface asks for two, and who holds the Inway must not be able to sign';
  if (certificates.some(({ raw }) => raw.equals(leaf.der))) {
    return failed('the signing certificate is that of the connection', todo);
  }
  if (certificates.some((certificate) => publicKeyHash(certificate) === publicKeyHash(leaf.x509))) {
    return failed('the signing certificate has the key of that of the connection', todo);
  }
  return ok('another certificate and key than those of the signatures');
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
