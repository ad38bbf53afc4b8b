// Messages with one modified character anywhere: every one is refused, with a proper error.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { jadesErrorCodes } from '../../../src/lib/jades/certificate.ts';
import type { SignedMessage } from '../../../src/lib/jades/verify.ts';
import { craft, craftDigest, type Kit, openKit, verdict, verifierFor } from './support/kit.ts';

let kit: Kit;
beforeAll(async () => {
  kit = await openKit();
  kit.authority.behaviour.lifeSeconds = 3600;
});
afterAll(() => kit.close());

const replaced = (text: string, place: number, by: string): string => {
  const at = Math.floor(place * text.length);
  return `${text.slice(0, at)}${by}${text.slice(at + 1)}`;
};

it.each(['signatureHeader', 'digestHeader', 'body'] as const)(
  'refuses a message with a modification in its %s',
  async (part) => {
    const verifier = verifierFor(kit);
    const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    const by = fc.oneof(fc.constantFrom('A', 'z', '.', '=', '-', '_', '"', ' ', ''), fc.string({ maxLength: 3 }));
    await fc.assert(
      fc.asyncProperty(place, by, fc.boolean(), async (at, character, digestForm) => {
        const message = digestForm ? craftDigest(kit) : craft(kit);
        const before = part === 'body' ? message.body.toString() : String(message[part]);
        const after = replaced(before, at, character);
        // Omitting the padding of a digest is allowed.
        fc.pre(after !== before && after !== before.replace(/=$/, '') && after.trim() === after);
        const changed: SignedMessage = { ...message, [part]: part === 'body' ? Buffer.from(after) : after };
        expect(jadesErrorCodes).toContain(await verdict(verifier, changed));
      }),
      { numRuns: 150 },
    );
    expect(await verdict(verifier, craft(kit))).toBe('accepted');
  },
);
