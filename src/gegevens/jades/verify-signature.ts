// The PS256 signature itself, over the signing input of either form.
import { createVerify } from 'node:crypto';
import { isRsa, ps256 } from './algorithms.ts';
import { JadesError } from './errors.ts';
import type { ProtectedHeader } from './protected-header.ts';
import { digestPayload, inPieces, PayloadFeed } from './signing-input.ts';

/**
 * Checks the signature with the key of the first certificate, and no other.
 * @throws JadesError signature-algorithm, signature-invalid
 */
export async function verifySignature(
  header: ProtectedHeader,
  signature: Uint8Array,
  body: Uint8Array,
  digestHeader: string,
): Promise<void> {
  const key = header.x5c[0]?.x509.publicKey;
  if (key === undefined || !isRsa(key)) {
    throw new JadesError('signature-algorithm', 'PS256 vraagt een RSA-sleutel in het eerste certificaat.');
  }
  const verifying = createVerify('sha256');
  verifying.update(`${header.encoded}.`);
  const feed = new PayloadFeed((piece) => {
    if (typeof piece === 'string') verifying.update(piece, 'latin1');
    else verifying.update(piece);
  }, header.style.b64);
  const payload = header.style.form === 'digest' ? digestPayload(digestHeader) : body;
  await inPieces(payload, (piece) => feed.update(piece));
  feed.end();
  if (!isValid(() => verifying.verify({ key, ...ps256 }, signature))) {
    throw new JadesError('signature-invalid', 'De handtekening past niet bij het bericht en het certificaat.');
  }
}

/** OpenSSL throws when a key cannot make such signatures at all. */
function isValid(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}
