// Requests made by the EU's DSS: every kind that it supports for a detached compact signature is accepted.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { digestOf } from '../../../src/lib/jades/signature.ts';
import { createVerifier } from '../../../src/lib/jades/verify.ts';
import { verdict } from './support/kit.ts';

interface Recorded {
  readonly madeAt: string;
  readonly body: string;
  readonly root: string;
  readonly requests: Readonly<Record<string, string>>;
}

const path = join(import.meta.dirname, '../../fixtures/jades/dss-requests.json');
const recorded: Recorded = JSON.parse(readFileSync(path, 'utf8'));
const body = Buffer.from(recorded.body);

function verifierAt(minutesLater: number) {
  const verifier = createVerifier({
    anchors: recorded.root,
    // Their authority no longer exists, so they cannot be reported as revoked.
    revocation: 'soft',
    fetch: () => Promise.reject(new Error('nobody there')),
    now: () => new Date(Date.parse(recorded.madeAt) + minutesLater * 60_000),
    maxSignatureAgeMs: 60 * 60_000,
  });
  onTestFinished(() => verifier.close());
  return verifier;
}

it.each(Object.entries(recorded.requests))('%s', async (name, signatureHeader) => {
  const message = { signatureHeader, digestHeader: digestOf(body), body };
  expect(await verdict(verifierAt(1), message)).toBe('accepted');
  expect(await verdict(verifierAt(62), message)).toBe('signature-expired');
  expect(await verdict(verifierAt(-10), message)).toBe('signature-not-yet-valid');
  const other = Buffer.from('{"page":2}');
  const changed = { ...message, body: other, digestHeader: digestOf(other) };
  expect(await verdict(verifierAt(1), changed), name).toBe('signature-invalid');
});
