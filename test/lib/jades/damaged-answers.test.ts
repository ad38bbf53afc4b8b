// Answers with a modified byte, and large lists: parsed directly, without a network.
import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Certificate, parseCertificate } from '../../../src/lib/jades/certificate.ts';
import { isListed, readCrl } from '../../../src/lib/jades/crl.ts';
import { createOcspRequest, readOcspAnswer } from '../../../src/lib/jades/ocsp.ts';
import { type Issuer, randomSerial } from '../../support/authority/certificates.ts';
import {
  answerDates,
  lazyStranger,
  ocspAnswer,
  revocationList,
  signerFor,
} from '../../support/authority/faulty-answers.ts';
import { mintLeaf, mintRoot, rootName } from '../../support/authority/profiles.ts';
import { readQuestion } from '../../support/authority/revocation.ts';

const now = new Date('2026-06-01T12:00:00Z');
const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
let issuer: Issuer;
let root: Certificate;
let leaf: Certificate;
let delegates: Parameters<typeof signerFor>[2];
beforeAll(() => {
  issuer = { name: rootName, key: rsa() };
  root = parseCertificate(mintRoot(issuer.key, now).raw);
  leaf = parseCertificate(mintLeaf({ key: rsa(), issuer, now, organization: 'x', oin: '1' }).raw);
  delegates = { key: rsa(), stranger: lazyStranger(), now: () => now };
});

const dates = () => answerDates('honest', now, 3600);
const list = (serials: string[]): Buffer => revocationList({ issuer, serials, dates: dates(), behaviour: 'honest' });

/** Every parser must fail or return the original content. */
async function sameOrNothing<T>(read: () => Promise<T>, said: T): Promise<void> {
  const outcome = await read().then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('value' in outcome) expect(outcome.value).toEqual(said);
  else expect(outcome.error).toBeInstanceOf(Error);
}

const change = fc.record({ place: fc.double({ min: 0, max: 1, noNaN: true }), by: fc.integer({ min: 1, max: 255 }) });
type Change = { place: number; by: number };

function damaged(bytes: Uint8Array, { place, by }: Change): Buffer {
  const copy = Buffer.from(bytes);
  const at = Math.min(copy.length - 1, Math.floor(place * copy.length));
  copy[at] = (copy[at] ?? 0) ^ by;
  return copy;
}

describe('an OCSP answer', () => {
  it('with a modified byte is invalid or unchanged in meaning', async () => {
    const subject = { certificate: leaf, issuer: root };
    const { der, nonce } = await createOcspRequest(subject);
    const question = readQuestion(der);
    const responder = signerFor('honest', issuer, delegates);
    const input = { question, responder, revoked: true, dates: dates(), now, behaviour: 'honest' as const };
    const answer = ocspAnswer(input);
    const read = async (bytes: Uint8Array) => (await readOcspAnswer(bytes, subject, nonce, now)).revoked;
    expect(await read(answer)).toBe(true);
    await fc.assert(
      fc.asyncProperty(change, (given) => sameOrNothing(() => read(damaged(answer, given)), true)),
      {
        numRuns: 400,
      },
    );
    for (const length of [0, 1, 5, 100, answer.length - 1])
      await expect(read(answer.subarray(0, length))).rejects.toThrow();
  });

  it('from a responder that was appointed by another issuer of the same name is invalid', async () => {
    const subject = { certificate: leaf, issuer: root };
    const { der, nonce } = await createOcspRequest(subject);
    const responder = signerFor('honest', { name: rootName, key: delegates.stranger().key }, delegates);
    const input = { question: readQuestion(der), responder, revoked: false, dates: dates(), now };
    const answer = ocspAnswer({ ...input, behaviour: 'honest' });
    await expect(readOcspAnswer(answer, subject, nonce, now)).rejects.toThrow();
  });
});

describe('a revocation list', () => {
  const serial = (): string => leaf.x509.serialNumber.toLowerCase();

  it('with a modified byte is invalid or unchanged in meaning', async () => {
    const der = list([randomSerial(), serial(), randomSerial()]);
    const read = async (bytes: Uint8Array) => isListed(await readCrl(bytes, root), leaf);
    expect(await read(der)).toBe(true);
    await fc.assert(
      fc.asyncProperty(change, (given) => sameOrNothing(() => read(damaged(der, given)), true)),
      {
        numRuns: 400,
      },
    );
    for (const length of [0, 1, 5, 100, der.length - 1]) await expect(read(der.subarray(0, length))).rejects.toThrow();
    await expect(read(Buffer.concat([der, Buffer.alloc(3)]))).rejects.toThrow();
  });

  it('without entries lists no certificate', async () => {
    expect(await isListed(await readCrl(list([]), root), leaf)).toBe(false);
  });

  it('with fifty thousand entries is searched without blocking the event loop', async () => {
    const read = await readCrl(list([...Array.from({ length: 50_000 }, randomSerial), serial()]), root);
    const unlisted = parseCertificate(mintLeaf({ key: rsa(), issuer, now, organization: 'y', oin: '2' }).raw);
    for (const [certificate, expected] of [
      [unlisted, false],
      [leaf, true],
    ] as const) {
      let turns = 0;
      let busy = true;
      const other = (): void => {
        turns += 1;
        if (busy) setImmediate(other);
      };
      setImmediate(other);
      expect(await isListed(read, certificate)).toBe(expected);
      busy = false;
      expect(turns).toBeGreaterThan(5);
    }
  });

  it('does not apply to certificates of an issuer with the same name and another key', async () => {
    const other = parseCertificate(mintRoot(delegates.key, now).raw);
    await expect(readCrl(list([]), other)).rejects.toThrow('not signed by the issuer');
  });
});
