import { createHash, createPublicKey } from 'node:crypto';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestServer } from '../support/server.ts';
import { keyDirectory, type Minted, mintKey, toPkcs12 } from './support/key-files.ts';
import { openSupplier, type Supplier } from './support/supplier.ts';

let supplier: Supplier;
beforeAll(async () => {
  supplier = await openSupplier();
});
afterAll(() => supplier.close());

function kidOf({ key }: Minted): string {
  const der = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('base64url');
}

/** The key that an answer was signed with, after verifying its signature. */
async function signingKid(server: TestServer): Promise<string> {
  const { headers } = await supplier.get({}, { server });
  const [header = ''] = (headers.get('nlgov-adr-payload-sig') ?? '').split('.');
  return JSON.parse(Buffer.from(header, 'base64url').toString()).kid;
}

async function ready(server: TestServer): Promise<{ status: number; check: Record<string, unknown> }> {
  const answer = await fetch(`${server.managementUrl}/health/ready`);
  const { checks } = Object(await answer.json());
  return { status: answer.status, check: checks.find(({ name }: { name: string }) => name === 'signing-key') };
}

const NO_CHAIN = { GEGEVENS_SIGNING_CHAIN: '' };

describe('a new key', () => {
  it('is in use after the PEM files change, without a restart', async () => {
    const files = keyDirectory();
    const [first, second] = [mintKey(supplier.authority), mintKey(supplier.authority)];
    files.put(files.key, first.keyPem);
    files.put(files.chain, first.chainPem);
    const server = await supplier.another({ GEGEVENS_SIGNING_KEY: files.key, GEGEVENS_SIGNING_CHAIN: files.chain });
    expect(await signingKid(server)).toBe(kidOf(first));
    files.put(files.key, second.keyPem);
    files.put(files.chain, second.chainPem);
    await expect.poll(() => signingKid(server)).toBe(kidOf(second));
  });

  it('is in use from PKCS#12 after SIGHUP', async () => {
    const files = keyDirectory();
    const [first, second] = [mintKey(supplier.authority), mintKey(supplier.authority)];
    files.put(files.p12, toPkcs12(first, 'geheim'));
    const server = await supplier.another({
      ...NO_CHAIN,
      GEGEVENS_SIGNING_KEY: files.p12,
      GEGEVENS_SIGNING_P12_PASSPHRASE: 'geheim',
    });
    expect(await signingKid(server)).toBe(kidOf(first));
    files.put(files.p12, toPkcs12(second, 'geheim'));
    process.kill(process.pid, 'SIGHUP');
    await expect.poll(() => signingKid(server)).toBe(kidOf(second));
  });

  it('is reported when unusable, and the old one stays in use', async () => {
    const files = keyDirectory();
    const [first, other] = [mintKey(supplier.authority), mintKey(supplier.authority)];
    files.put(files.key, first.keyPem);
    files.put(files.chain, first.chainPem);
    const server = await supplier.another({ GEGEVENS_SIGNING_KEY: files.key, GEGEVENS_SIGNING_CHAIN: files.chain });
    files.put(files.chain, other.chainPem);
    await expect.poll(async () => (await ready(server)).check.warning).toMatch(/refused: none of/);
    expect(await signingKid(server)).toBe(kidOf(first));
    expect((await ready(server)).status).toBe(200);
    expect(server.logged).toContainEqual(
      expect.objectContaining({ level: 50, msg: expect.stringMatching(/the old one stays/) }),
    );
    files.put(files.key, other.keyPem);
    await expect.poll(() => signingKid(server)).toBe(kidOf(other));
    expect((await ready(server)).check).not.toHaveProperty('warning');
  });
});

describe('at start-up', () => {
  it('refuses a pair that does not belong together', async () => {
    const files = keyDirectory();
    files.put(files.key, mintKey(supplier.authority).keyPem);
    await expect(supplier.another({ GEGEVENS_SIGNING_KEY: files.key })).rejects.toThrow(
      /none of the certificates belongs/,
    );
  });

  it('refuses a wrong passphrase', async () => {
    const files = keyDirectory();
    files.put(files.p12, toPkcs12(mintKey(supplier.authority), 'geheim'));
    const env = { ...NO_CHAIN, GEGEVENS_SIGNING_KEY: files.p12, GEGEVENS_SIGNING_P12_PASSPHRASE: 'anders' };
    await expect(supplier.another(env)).rejects.toThrow(/does not open/);
  });

  it('refuses missing files', async () => {
    await expect(supplier.another({ GEGEVENS_SIGNING_KEY: '/nergens/key.pem' })).rejects.toThrow(
      /names no readable file/,
    );
    await expect(supplier.another({ GEGEVENS_TRUST_ANCHORS: '/nergens/roots.pem' })).rejects.toThrow(
      /names no readable file/,
    );
  });

  it('warns about a certificate that expires soon', async () => {
    const files = keyDirectory();
    const minted = mintKey(supplier.authority, 10);
    files.put(files.key, minted.keyPem);
    files.put(files.chain, minted.chainPem);
    const server = await supplier.another({ GEGEVENS_SIGNING_KEY: files.key, GEGEVENS_SIGNING_CHAIN: files.chain });
    expect(server.logged).toContainEqual(
      expect.objectContaining({ level: 40, msg: 'the signing certificate expires soon', days: 9 }),
    );
    const { status, check } = await ready(server);
    expect(status).toBe(200);
    expect(check).toMatchObject({ ok: true, warning: expect.stringMatching(/expires in 9 days/) });
  });
});
