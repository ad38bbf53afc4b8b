// The demo's authority: what it keeps, and that software other than ours can read its output.
import { execFile, spawnSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Authority, createAuthority } from '../../src/lib/authority/authority.ts';

const installed = spawnSync('openssl', ['version']).status === 0;

function emptyDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'authority-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

async function start(dir: string, port = 0): Promise<Authority> {
  const authority = await createAuthority({ dir, port });
  onTestFinished(() => authority.close());
  return authority;
}

const contents = (dir: string): Record<string, string> =>
  Object.fromEntries(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), 'utf8')]));

describe('the demo authority', () => {
  it('identifies keys as other tools do, so that certificates they issue below it chain correctly', async () => {
    const authority = await start(emptyDirectory());
    const { publicKey, raw } = new X509Certificate(readFileSync(authority.intermediate));
    const bits = publicKey.export({ type: 'pkcs1', format: 'der' });
    expect(raw.includes(createHash('sha1').update(bits).digest())).toBe(true);
  });

  it('makes certificates for two parties with their OIN and addresses, and keys that only the owner may read', async () => {
    const authority = await start(emptyDirectory());
    for (const party of [authority.requester, authority.supplier]) {
      const certificate = new X509Certificate(readFileSync(party.certificate));
      expect(certificate.subject).toContain(`serialNumber=${party.oin}`);
      expect(party.oin).toMatch(/^\d{20}$/);
      expect(certificate.infoAccess).toContain(authority.ocspUrl);
      expect(readFileSync(party.chain, 'utf8')).toContain(readFileSync(authority.intermediate, 'utf8'));
      expect(statSync(party.key).mode & 0o777).toBe(0o600);
    }
    expect(statSync(authority.intermediateKey).mode & 0o777).toBe(0o600);
    expect(existsSync(authority.revoked)).toBe(true);
  });

  it('keeps its keys and revocations across a restart, and makes certificates with its address', async () => {
    const dir = emptyDirectory();
    const first = await start(dir);
    const before = contents(dir);
    writeFileSync(first.revoked, '01\n');
    await first.close();
    const second = await start(dir);
    const after = contents(dir);
    for (const key of ['root-key.pem', 'intermediate-key.pem', 'requester-key.pem', 'supplier-key.pem'])
      expect(after[key]).toBe(before[key]);
    expect(after['revoked.txt']).toBe('01\n');
    expect(new X509Certificate(after['requester.pem'] ?? '').infoAccess).toContain(second.ocspUrl);
  });

  it('fails when its port is taken', async () => {
    const authority = await start(emptyDirectory());
    await expect(createAuthority({ dir: emptyDirectory(), port: authority.port })).rejects.toThrow('EADDRINUSE');
  });

  it('reports at once when the revocation list cannot be read', async () => {
    const authority = await start(emptyDirectory());
    rmSync(authority.revoked);
    const answer = await fetch(authority.crlUrl).catch(() => undefined);
    expect(answer?.ok).not.toBe(true);
  });

  it('answers nothing else', async () => {
    const { ocspUrl } = await start(emptyDirectory());
    expect((await fetch(new URL('/elsewhere', ocspUrl))).status).toBe(404);
    expect((await fetch(`${ocspUrl}/AAAA`)).status).toBe(200);
    expect(Buffer.from(await (await fetch(`${ocspUrl}/AAAA`)).arrayBuffer()).toString('hex')).toBe('30030a0101');
    const large = await fetch(ocspUrl, { method: 'POST', body: Buffer.alloc(100_000) }).catch(() => undefined);
    expect(large?.ok).not.toBe(true);
  });
});

describe.skipIf(!installed)('OpenSSL', () => {
  const run = (dir: string, ...args: string[]): string => {
    const done = spawnSync('openssl', args, { cwd: dir, encoding: 'utf8' });
    return `${done.stdout}${done.stderr}`;
  };

  it('accepts the chain, the OCSP answers and the lists, and recognises a revocation', async () => {
    const dir = emptyDirectory();
    chmodSync(dir, 0o700);
    const { ocspUrl, crlUrl, rootCrlUrl, revoked, requester } = await start(dir);
    const verify = [
      'verify',
      '-x509_strict',
      '-auth_level',
      '2',
      '-CAfile',
      'root.pem',
      '-untrusted',
      'intermediate.pem',
    ];
    expect(run(dir, ...verify, 'requester.pem')).toContain('OK');

    const ask = (certificate: string, issuer: string): Promise<string> =>
      askInBackground(dir, [
        'ocsp',
        '-issuer',
        issuer,
        '-cert',
        certificate,
        '-url',
        ocspUrl,
        '-CAfile',
        'root.pem',
        '-verify_other',
        'intermediate.pem',
        '-no_cert_checks',
      ]);
    expect(await ask('requester.pem', 'intermediate.pem')).toMatch(/good[\s\S]*Response verify OK/);
    expect(await ask('intermediate.pem', 'root.pem')).toMatch(/good[\s\S]*Response verify OK/);

    writeFileSync(
      revoked,
      `# a remark\n\n${new X509Certificate(readFileSync(requester.certificate)).serialNumber.toLowerCase()}\n`,
    );
    expect(await ask('requester.pem', 'intermediate.pem')).toContain('revoked');
    const lists = await Promise.all(
      [crlUrl, rootCrlUrl].map(async (url) => Buffer.from(await (await fetch(url)).arrayBuffer())),
    );
    const texts = lists.map((der, i) => {
      writeFileSync(join(dir, `${i}.crl`), der);
      return run(dir, 'crl', '-inform', 'DER', '-in', `${i}.crl`, '-out', `${i}.pem`);
    });
    expect(texts.join('')).toBe('');
    const checked = run(dir, ...verify, '-crl_check_all', '-CRLfile', '0.pem', '-CRLfile', '1.pem', 'requester.pem');
    expect(checked).toContain('certificate revoked');
  });
});

/** The responder runs in this process, which must not block while the responder is called. */
function askInBackground(dir: string, args: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile('openssl', args, { cwd: dir }, (_error, stdout, stderr) => resolve(`${stdout}${stderr}`));
  });
}
