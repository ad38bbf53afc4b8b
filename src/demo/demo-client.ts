import { createPrivateKey, hash, randomUUID, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import type { Authority, Party } from '../lib/authority/authority.ts';
import { isRecord, type JsonObject } from '../lib/json/json-value.ts';
import { clientCredentialsToken } from '../lib/outbound/client-credentials.ts';
import { readSavedJson } from '../lib/saved-secrets.ts';
import type { AuthorizationClient } from './saved-secrets.ts';

export interface DemoFile {
  readonly baseUrl: string;
  readonly managementUrl: string;
  readonly tokenUrl: string;
  readonly issuer: string;
  readonly databaseUrl: string;
  readonly mounts: Readonly<Record<'shv' | 'vs' | 'verwerkingenlog' | 'raadsfeed', string>> &
    Readonly<Record<string, string>>;
  readonly clients: Readonly<Record<string, AuthorizationClient & { readonly secret: string }>>;
  readonly requester: Party;
  readonly supplier: Party;
  readonly pki: Pick<Authority, 'dir' | 'root' | 'intermediate' | 'intermediateKey' | 'ocspUrl' | 'crlUrl' | 'revoked'>;
  readonly fsc: {
    readonly groupId: string;
    readonly peerId: string;
    readonly audience: string;
    readonly key: string;
    readonly certificate: string;
    readonly services: { readonly shv: string; readonly vs: string };
  };
  readonly environment: Readonly<Record<string, string>>;
  readonly pid: number;
}

/** File with a demo's connection details; readable by its owner only, because it holds the clients' secrets. */
export function demoFilePath(home: string): string {
  return join(home, 'demo.json');
}

export async function readDemoFile(home: string): Promise<DemoFile> {
  const path = demoFilePath(home);
  const kept = await readSavedJson(path);
  if (!isDemoFile(kept)) throw new Error(`${path} is not there: start the demo first, with \`npm run demo\``);
  return kept;
}

function isDemoFile(value: unknown): value is DemoFile {
  return isRecord(value) && isRecord(value.mounts) && isRecord(value.clients) && isRecord(value.environment);
}

const DEADLINE_MS = 30_000;

export interface DemoAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** The members of a JSON object, else none. */
  readonly body: Readonly<Record<string, unknown>>;
}

interface DemoCall {
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes are sent as they are; anything else as JSON. */
  readonly body?: unknown;
}

export type DemoClient = ReturnType<typeof createDemoClient>;

export function createDemoClient(file: Pick<DemoFile, 'clients' | 'tokenUrl'>) {
  const tokens = new Map(
    Object.entries(file.clients).map(([name, { id: clientId, secret: clientSecret, scopes }]) => [
      name,
      clientCredentialsToken({ tokenUrl: file.tokenUrl, clientId, clientSecret, scopes }),
    ]),
  );
  return {
    async call(method: string, url: string, { as, headers = {}, body }: DemoCall = {}): Promise<DemoAnswer> {
      const response = await fetch(url, {
        method,
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(as === undefined ? {} : { authorization: `Bearer ${await tokens.get(as)?.()}` }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body) }),
        redirect: 'manual',
        signal: AbortSignal.timeout(DEADLINE_MS),
      });
      const bytes = Buffer.from(await response.arrayBuffer());
      const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '') && bytes.length > 0;
      const parsed: unknown = isJson ? JSON.parse(bytes.toString()) : undefined;
      return { status: response.status, headers: response.headers, bytes, body: isRecord(parsed) ? parsed : {} };
    },
  };
}

export function recordsOf(list: unknown): JsonObject[] {
  return (Array.isArray(list) ? list : []).filter(isRecord);
}

/** The headers with which a consumer names its processing; `oin` is its own. */
export function processingHeaders(oin: string): Record<string, string> {
  return { OIN: oin, VerwerkingId: randomUUID(), Vertrouwelijkheid: 'normaal', Bewaartermijn: 'P1Y' };
}

export async function mintFscToken(manager: DemoFile['fsc'], service: string, subject: string): Promise<string> {
  const { raw } = new X509Certificate(await readFile(manager.certificate));
  return new SignJWT({ gid: manager.groupId, svc: service })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', 'x5t#S256': hash('sha256', raw, 'base64url') })
    .setIssuer(manager.peerId)
    .setAudience(manager.audience)
    .setSubject(subject)
    .setIssuedAt()
    .setNotBefore(0)
    .setExpirationTime('5m')
    .setJti(randomUUID())
    .sign(createPrivateKey(await readFile(manager.key)));
}
