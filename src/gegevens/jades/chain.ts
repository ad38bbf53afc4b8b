// Path validation from the signer's certificate to a trust anchor.
// @see RFC 5280 section 6; docs/decisions/0003-path-validation.md
import { CertificateChainValidationEngine } from 'pkijs';
import type { Certificate } from './certificate.ts';
import { checkPathRules, untrusted } from './chain-rules.ts';
import { JadesError } from './errors.ts';
import { meetsPolicies } from './policies.ts';

export interface PathOptions {
  readonly anchors: readonly Certificate[];
  /** Policies (OIDs) of which one must hold for the whole path; empty: any or none. */
  readonly requiredPolicies: readonly string[];
  readonly at: Date;
}

const expired = 8;

/**
 * Validates the certificates in the order in which they were sent; the anchor may be left out.
 * @returns the path, leaf first and anchor last
 * @throws JadesError certificate-untrusted, certificate-expired, certificate-usage
 */
export async function validatePath(x5c: readonly Certificate[], options: PathOptions): Promise<Certificate[]> {
  const path = assemble(x5c, options.anchors);
  checkPathRules(path, options.at);
  if (!meetsPolicies(path, options.requiredPolicies)) throw untrusted('het pad voldoet niet aan het vereiste beleid');
  await checkByLibrary(path, options);
  return path;
}

/** The path is what was sent, in that order: nothing is searched, so no certificate outside it can be judged. */
function assemble(x5c: readonly Certificate[], anchors: readonly Certificate[]): Certificate[] {
  x5c.forEach((certificate, index) => {
    const issuer = x5c[index + 1];
    if (issuer !== undefined && !isIssuedBy(certificate, issuer)) {
      throw untrusted(`x5c[${index + 1}] is niet de uitgever van x5c[${index}]`);
    }
  });
  const anchorAt = x5c.findIndex((certificate) => anchors.some((anchor) => anchor.der.equals(certificate.der)));
  if (anchorAt === 0) throw untrusted('het certificaat van de ondertekenaar is zelf een vertrouwd stamcertificaat');
  if (anchorAt > 0) return x5c.slice(0, anchorAt + 1);
  const last = x5c.at(-1);
  const anchor = last && anchors.find((candidate) => isIssuedBy(last, candidate));
  if (anchor === undefined) throw untrusted('het pad leidt niet naar een vertrouwd stamcertificaat');
  return [...x5c, anchor];
}

function isIssuedBy(certificate: Certificate, issuer: Certificate): boolean {
  if (!certificate.pki.issuer.isEqual(issuer.pki.subject)) return false;
  try {
    return certificate.x509.checkIssued(issuer.x509) && certificate.x509.verify(issuer.x509.publicKey);
  } catch {
    return false; // OpenSSL throws on keys and algorithms that do not go together
  }
}

async function checkByLibrary(path: readonly Certificate[], options: PathOptions): Promise<void> {
  const anchor = path.slice(-1);
  const below = path.slice(0, -1);
  const engine = new CertificateChainValidationEngine({
    certs: below.map(({ pki }) => pki).toReversed(), // the engine judges the last one
    trustedCerts: anchor.map(({ pki }) => pki),
    checkDate: options.at,
  });
  const outcome = await engine.verify();
  if (outcome.resultCode === expired)
    throw new JadesError('certificate-expired', 'Een certificaat in het pad is verlopen.');
  if (!outcome.result) throw untrusted('het certificaatpad is ongeldig', outcome.error ?? outcome.resultMessage);
  const judged = outcome.certificatePath ?? [];
  if (judged.length !== path.length || judged.some((certificate, index) => certificate !== path[index]?.pki)) {
    throw untrusted('het beoordeelde certificaatpad is een ander dan het verzonden pad');
  }
}
