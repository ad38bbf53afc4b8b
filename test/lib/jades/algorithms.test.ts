// Another algorithm takes only one more row in the table.
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { parseCertificate } from '../../../src/lib/jades/certificate.ts';
import { ALGORITHMS, type Algorithm, createSigner, PLAIN_STYLES } from '../../../src/lib/jades/signature.ts';
import { type Kit, leafFor, openKit, verifierFor } from './support/kit.ts';

let kit: Kit;
beforeAll(async () => {
  kit = await openKit();
});
afterAll(() => kit.close());

const ES256: Algorithm = {
  hash: 'sha256',
  options: { dsaEncoding: 'ieee-p1363' },
  takesKey: ({ asymmetricKeyDetails }) => asymmetricKeyDetails?.namedCurve === 'prime256v1',
  key: { nl: 'een sleutel op P-256', en: 'a key on P-256' },
};

it.each(Object.entries(PLAIN_STYLES))('signs and verifies with an added row: the %s form', async (_form, style) => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const chain = [leafFor(kit, { key: privateKey }).raw, kit.intermediate].map((der) => parseCertificate(der));
  const options = { key: privateKey, chain, kid: 'sleutel', now: () => new Date() };
  expect(() => createSigner(options)).toThrow(TypeError);

  ALGORITHMS.set('ES256', ES256);
  onTestFinished(() => void ALGORITHMS.delete('ES256'));
  const body = Buffer.from('{"page":1}');
  const { digest, signature } = await createSigner(options).sign(body, style);
  const message = { body, digestHeader: digest, signatureHeader: signature };
  const verifier = verifierFor(kit);
  expect(await verifier.verify(message)).toMatchObject({ digest });

  ALGORITHMS.delete('ES256');
  const detail = 'Alleen het algoritme PS256 is toegestaan.';
  await expect(verifier.verify(message)).rejects.toMatchObject({ code: 'signature-algorithm', detail });
});
