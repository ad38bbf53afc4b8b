import type { Certificate } from './certificate.ts';
import { attributeTexts } from './distinguished-name.ts';

const serialNumber = '2.5.4.5';

/** The OIN (20 digits) in the subject's serialNumber; undefined when there is none, or more than one attribute. */
export function signerOin(leaf: Certificate): string | undefined {
  const values = attributeTexts(leaf.pki.subject, serialNumber);
  const [oin] = values;
  return values.length === 1 && oin !== undefined && /^\d{20}$/.test(oin) ? oin : undefined;
}
