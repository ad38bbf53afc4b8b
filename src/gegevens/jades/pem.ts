import { type Certificate, parseCertificate } from './certificate.ts';

const block = /-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\s]*)-----END \1-----/g;

/**
 * Every certificate of a PEM text, in the order of the text; text around the blocks is allowed, other blocks are not read.
 * @throws Error when a certificate in it cannot be read
 */
export function parsePemCertificates(text: string): Certificate[] {
  const found: Certificate[] = [];
  for (const [, label, body] of text.matchAll(block)) {
    if (label !== 'CERTIFICATE' || body === undefined) continue;
    found.push(parseCertificate(Buffer.from(body, 'base64')));
  }
  return found;
}
