/** Runs `gegevens preflight` beside a real service, with settings that a test changes one by one. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type LeafRequest, mintLeaf } from '../../support/authority/profiles.ts';
import { callProgram } from '../../support/program.ts';
import { otherKey } from './key-files.ts';
import { openSupplier, type Supplier } from './supplier.ts';

export interface Line {
  readonly name: string;
  readonly state: string;
  readonly detail: string;
  readonly todo?: string;
}

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly lines: Readonly<Record<string, Line>>;
}

type Settings = Readonly<Record<string, string>>;

/** A key of the supplier with its certificate. */
export interface MintedKey {
  readonly key: KeyObject;
  readonly leaf: ReturnType<typeof mintLeaf>;
  readonly keyPem: string;
  /** Leaf and intermediate. */
  readonly chain: string;
}

export interface PreflightKit {
  readonly dir: string;
  readonly supplier: Supplier;
  /** Settings for which every line is ok. */
  readonly environment: Settings;
  /** With an access token for the service. */
  readonly tokenFile: string;
  /** Texts that no run may show. */
  readonly secrets: { readonly database: string; readonly proxy: string; readonly file: string };
  write(name: string, contents: string | Buffer): string;
  /** A certificate of the authority with these differences. */
  mint(wishes?: Partial<LeafRequest> & { bits?: number; days?: number; pair?: KeyObject }): MintedKey;
  /** The settings of a key and a chain. */
  signedWith(minted: Pick<MintedKey, 'keyPem' | 'chain'>): Settings;
  /** With `--json`, unless the arguments are given. */
  run(changes?: Settings, ...words: string[]): Promise<Ran>;
  /** Exactly these arguments. */
  call(changes: Settings, ...words: string[]): Promise<{ status: number | null; stdout: string; stderr: string }>;
  /** Expects one line to fail and to say what to do. */
  fails(name: string, detail: RegExp, todo: RegExp, changes: Settings, ...words: string[]): Promise<void>;
  listen(listener: RequestListener): Promise<string>;
  /** An address without a listener. */
  closedPort(): Promise<string>;
  /** Stops what a test started. */
  reset(): void;
  /** Also checks that nothing secret was shown. */
  close(): Promise<void>;
}

export async function openPreflightKit(): Promise<PreflightKit> {
  const dir = mkdtempSync(join(tmpdir(), 'preflight-'));
  const supplier = await openSupplier();
  const secrets = {
    database: 'geheim-van-de-database',
    proxy: 'geheim-van-de-proxy',
    file: 'geheim-van-het-bestand',
  };
  const shown: string[] = [];
  const servers: Server[] = [];
  const write: PreflightKit['write'] = (name, contents) => {
    const path = join(dir, name);
    writeFileSync(path, contents);
    return path;
  };
  const mint: PreflightKit['mint'] = ({ bits, days = 365, pair, ...given } = {}) => {
    const made = bits === undefined ? otherKey() : generateKeyPairSync('rsa', { modulusLength: bits }).privateKey;
    const key = pair ?? made;
    const { authority } = supplier;
    const leaf = mintLeaf({
      key,
      issuer: authority.issuers.intermediate,
      now: new Date(),
      organization: 'Voorbeeld Leverancier',
      oin: authority.supplier.oin,
      ocspUrl: authority.ocspUrl,
      crlUrl: authority.crlUrl,
      notBefore: new Date(Date.now() - 40 * 86_400_000),
      notAfter: new Date(Date.now() + days * 86_400_000),
      ...given,
    });
    const keyPem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
    return { key, leaf, keyPem, chain: `${leaf}${readFileSync(authority.intermediate, 'utf8')}` };
  };
  const token = await supplier.tokens.token(['read']);
  const tokenFile = write('token.txt', token);
  const transport = write('verbinding.pem', mint().chain);
  const environment = {
    ...supplier.env,
    AREAS: 'shv,vs',
    NODE_ENV: 'test',
    DATABASE_URL: supplier.databaseUrl,
    PUBLIC_BASE_URL: supplier.server.url,
    FSC_TOKEN_CERTIFICATES: transport,
    FSC_GROUP_ID: 'fsc-test',
    FSC_PEER_ID: supplier.authority.supplier.oin,
    FSC_AUDIENCE: 'https://inway.example:443',
    transportCertificate: transport,
  };
  const call: PreflightKit['call'] = async (changes, ...words) => {
    const { transportCertificate: connection, ...env } = { ...environment, ...changes };
    const named = connection === '' ? [] : ['--transport-certificate', connection];
    const ended = await callProgram(['gegevens', 'preflight', ...named, ...words], env);
    shown.push(ended.stdout, ended.stderr);
    return ended;
  };
  const run: PreflightKit['run'] = async (changes = {}, ...words) => {
    const { status, stdout, stderr } = await call(changes, '--json', '--timeout', '5', ...words);
    const result = stdout === '' ? { ok: false, lines: [] } : JSON.parse(stdout);
    expect(result.ok).toBe(status === 0);
    const lines = Object.fromEntries(result.lines.map((line: Line) => [line.name, line]));
    return { status, stdout, stderr, lines };
  };
  const listen: PreflightKit['listen'] = async (listener) => {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    return `http://127.0.0.1:${portOf(server)}`;
  };
  return {
    dir,
    supplier,
    environment,
    tokenFile,
    secrets,
    write,
    mint,
    run,
    call,
    listen,
    signedWith: ({ keyPem, chain }) => ({
      GEGEVENS_SIGNING_KEY: write('key.pem', keyPem),
      GEGEVENS_SIGNING_CHAIN: write('chain.pem', chain),
    }),
    async fails(name, detail, todo, changes, ...words) {
      const { status, lines, stderr } = await run(changes, ...words);
      const [told, advice] = [expect.stringMatching(detail), expect.stringMatching(todo)];
      expect(lines[name]).toEqual({ name, state: 'failed', detail: told, todo: advice });
      expect([status, stderr]).toEqual([1, expect.stringMatching(new RegExp(`line\\(s\\) failed: .*${name}`))]);
    },
    async closedPort() {
      const url = await listen(() => undefined);
      const server = servers.pop();
      server?.close();
      if (server !== undefined) await once(server, 'close');
      return url;
    },
    reset() {
      supplier.authority.behaviour.ocsp = 'honest';
      supplier.authority.behaviour.crl = 'honest';
      for (const server of servers.splice(0)) {
        server.closeAllConnections();
        server.close();
      }
    },
    async close() {
      await supplier.close();
      rmSync(dir, { recursive: true });
      const all = shown.join('\n');
      for (const secret of [...Object.values(secrets), token]) expect(all).not.toContain(secret);
      expect(all).not.toMatch(/PRIVATE KEY/);
    },
  };
}

function portOf(server: { address: Server['address'] }): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
