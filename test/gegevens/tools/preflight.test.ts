/** `gegevens preflight`: a successful run, the data sheet, and each line about our own certificate failing for its own reason. */
import { appendFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority } from '../../../src/lib/authority/authority.ts';
import { keyUsage } from '../../support/authority/certificates.ts';
import { leafExtensions } from '../../support/authority/profiles.ts';
import { toPkcs12 } from '../support/key-files.ts';
import { openPreflightKit, type PreflightKit } from '../support/preflight.ts';

let kit: PreflightKit;
beforeAll(async () => {
  kit = await openPreflightKit();
});
afterEach(() => kit.reset());
afterAll(() => kit.close());

const ALL = [
  ...['settings', 'signing-key', 'certificate-oin', 'certificate-chain', 'certificate-key-size', 'certificate-usage'],
  ...['certificate-days', 'certificate-revocation', 'transport-certificate', 'token-issuer', 'fsc-certificates'],
  ...['fsc-group', 'fsc-peer', 'fsc-audience', 'clock', 'database', 'migrations', 'request-shv', 'request-vs'],
];

describe('when all is well', () => {
  it('every line is ok and the status is 0', async () => {
    const { status, stderr, lines } = await kit.run({}, '--token-file', kit.tokenFile);
    expect([status, stderr]).toEqual([0, '']);
    expect(Object.values(lines).map(({ name, state }) => `${name} ${state}`)).toEqual(ALL.map((name) => `${name} ok`));
    expect(lines['request-shv']?.detail).toMatch(
      /shv\/v1\/gegevens: answered in \d+ ms; digest, signature and model are valid/,
    );
    expect(lines['certificate-key-size']?.detail).toContain('production needs 3072');
  });

  it('the request delivers no data, and is in the journal', async () => {
    await kit.run({}, '--token-file', kit.tokenFile);
    const [entry] = await kit.supplier.asOwner(
      'select request as vraag, records from gegevens.journal order by id desc limit 1',
    );
    expect(entry).toMatchObject({ records: 0, vraag: expect.stringContaining('1900-01-01') });
  });

  it('prints a line each for people, and a data sheet of one page', async () => {
    const { status, stdout } = await kit.call(
      { GEGEVENS_SERVICES: 'shv=DDAS-schuldhulpverlening-ophaal-Voorbeeld' },
      ...['--contact', 'Beheer, beheer@leverancier.example'],
    );
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ok {11}settings {16}complete/);
    expect(stdout).toContain('19 ok, 0 warning(s), 0 failed, 0 not checked');
    const sheet = stdout.slice(stdout.indexOf('Data sheet')).trimEnd().split('\n');
    expect(sheet.length).toBeLessThanOrEqual(50);
    expect(Math.max(...sheet.map((line) => line.length))).toBeLessThanOrEqual(100);
    const text = sheet.join('\n');
    for (const part of [
      /OIN {17}00000099000000002000/,
      /service {13}DDAS-schuldhulpverlening-ophaal-Voorbeeld\n {2}call {16}POST \/shv\/v1\/gegevens/,
      /service {13}DDAS-vroegsignalering-ophaal-TEST-01\n {22}agree on the name, and set it in GEGEVENS_SERVICES/,
      /protocol {12}PROTOCOL_TCP_HTTP_1\.1/,
      /upstream {12}http:\/\/127\.0\.0\.1:8080 \(in the Inway; the host only: the path stays\)/,
      /contact {13}Beheer, beheer@leverancier\.example/,
      /certificate of the signature\n/,
      /certificate of the connection\n/,
    ])
      expect(text).toMatch(part);
    expect(text.match(/SHA-256 {11}[0-9a-f]{64}/g)).toHaveLength(2);
    expect(text.match(/x5t#S256 {10}[\w-]{43}/g)).toHaveLength(2);
  });
});

describe('the settings', () => {
  it('are judged together, as at start-up', async () => {
    await kit.fails('settings', /OAUTH_AUDIENCE is missing/, /OAUTH_AUDIENCE: the audience/, { OAUTH_AUDIENCE: '' });
  });
});

describe('our own certificate', () => {
  it('must belong to the key', async () => {
    const { keyPem } = kit.mint();
    await kit.fails('signing-key', /none of the certificates belongs/, /issued for this key/, {
      GEGEVENS_SIGNING_KEY: kit.write('ander.pem', keyPem),
    });
  });

  it('must be readable; otherwise its other lines are not checked', async () => {
    const changes = { GEGEVENS_SIGNING_CHAIN: join(kit.dir, 'nergens.pem') };
    await kit.fails('signing-key', /nergens\.pem/, /readable files/, changes);
    expect((await kit.run(changes)).lines['certificate-oin']?.state).toBe('not-checked');
  });

  it('in PKCS#12 needs its passphrase, which is not shown', async () => {
    const { key, keyPem, chain } = kit.mint();
    const p12 = kit.write('sleutel.p12', toPkcs12({ key, keyPem, chainPem: chain }, kit.secrets.file));
    const files = { GEGEVENS_SIGNING_KEY: p12, GEGEVENS_SIGNING_CHAIN: '' };
    expect((await kit.run({ ...files, GEGEVENS_SIGNING_P12_PASSPHRASE: kit.secrets.file })).status).toBe(0);
    await kit.fails('signing-key', /passphrase does not open/, /P12_PASSPHRASE/, {
      ...files,
      GEGEVENS_SIGNING_P12_PASSPHRASE: 'fout',
    });
  });

  it('must name an OIN', async () => {
    await kit.fails('certificate-oin', /no OIN of 20 digits/, /PKIoverheid/, kit.signedWith(kit.mint({ oin: '1234' })));
  });

  it('must include its intermediates', async () => {
    const { keyPem, leaf } = kit.mint();
    const changes = kit.signedWith({ keyPem, chain: leaf.toString() });
    await kit.fails('certificate-chain', /ends at a certificate of .*Services CA/, /missing intermediate/, changes);
  });

  it('must chain to the anchors', async () => {
    const stranger = await openStranger();
    await kit.fails('certificate-chain', /ends at a certificate of .*Root CA/, /TRUST_ANCHORS/, {
      GEGEVENS_TRUST_ANCHORS: stranger,
    });
    await kit.fails('certificate-chain', /GEGEVENS_TRUST_ANCHORS holds no certificate/, /TRUST_ANCHORS/, {
      GEGEVENS_TRUST_ANCHORS: kit.write('leeg.pem', ''),
    });
  });

  it('needs a key of 3072 bits in production', async () => {
    const production = { NODE_ENV: 'production' };
    await kit.fails('certificate-key-size', /2048 bits; at least 3072/, /RSA key of 3072 bits/, production);
    const { lines } = await kit.run({ ...production, ...kit.signedWith(kit.mint({ bits: 3072 })) });
    expect(lines['certificate-key-size']).toMatchObject({ state: 'ok', detail: '3072 bits' });
  });

  it('must be meant for signing', async () => {
    const { authority } = kit.supplier;
    const [basic, , ...rest] = leafExtensions({ ocspUrl: authority.ocspUrl, crlUrl: authority.crlUrl });
    if (basic === undefined) throw new Error('no extensions');
    const minted = kit.mint({ extensions: [basic, keyUsage(['keyEncipherment']), ...rest] });
    await kit.fails('certificate-usage', /not meant for signing/, /digitalSignature/, kit.signedWith(minted));
  });

  it.each([
    [-1, 'failed', /expired on/],
    [12, 'warning', /1[12] days left/],
    [90, 'ok', /(89|90) days left/],
  ])('with %i days left: %s', async (days, state, detail) => {
    const { lines, status } = await kit.run(kit.signedWith(kit.mint({ days })));
    expect(lines['certificate-days']).toMatchObject({ state, detail: expect.stringMatching(detail) });
    if (state !== 'ok') expect(lines['certificate-days']?.todo).toMatch(/request a new certificate/);
    expect(status).toBe(state === 'failed' ? 1 : 0);
  });

  it('must have a revocation status that can be looked up', async () => {
    kit.supplier.authority.behaviour.ocsp = 'not-found';
    kit.supplier.authority.behaviour.crl = 'garbage';
    await kit.fails(
      'certificate-revocation',
      /no revocation answer for .*127\.0\.0\.1.*status 404/,
      /OUTBOUND_PROXY/,
      {},
    );
  });

  it('must not be revoked', async () => {
    const minted = kit.mint();
    appendFileSync(kit.supplier.authority.revoked, `${minted.leaf.serialNumber}\n`);
    try {
      await kit.fails('certificate-revocation', /is revoked/, /new certificate with a new key/, kit.signedWith(minted));
    } finally {
      writeFileSync(kit.supplier.authority.revoked, '');
    }
  });
});

/** The root of an authority that is unknown here. */
async function openStranger(): Promise<string> {
  const stranger = await createAuthority({ dir: mkdtempSync(join(kit.dir, 'vreemd-')), port: 0 });
  await stranger.close();
  return stranger.root;
}

describe('the certificate of the connection', () => {
  const name = 'transport-certificate';

  it('is not the one used for signatures', async () => {
    const own = ['--transport-certificate', kit.supplier.authority.supplier.certificate];
    await kit.fails(name, /uses the signing certificate itself/, /separate certificate/, {}, ...own);
  });

  it('has another key', async () => {
    const minted = kit.mint();
    const same = kit.mint({ pair: minted.key, days: 90 });
    const file = kit.write('zelfde.pem', same.chain);
    await kit.fails(name, /use the same key/, /its own key/, kit.signedWith(minted), '--transport-certificate', file);
  });

  it('must be one', async () => {
    await kit.fails(
      name,
      /holds no certificate/,
      /PEM file/,
      {},
      '--transport-certificate',
      kit.write('niets.pem', 'niets'),
    );
  });
});
