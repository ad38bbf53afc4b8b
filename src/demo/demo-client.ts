import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { isRecord } from '../lib/json/json-value.ts';
import { clientCredentialsToken } from '../lib/outbound/client-credentials.ts';
import { readSavedJson, saveJson } from './saved-secrets.ts';

interface DemoClientEntry {
  readonly id: string;
  readonly secret: string;
  readonly scopes: readonly string[];
}

/** PEM files of one party of the data exchange. */
interface DemoParty {
  readonly key: string;
  readonly chain: string;
  readonly certificate: string;
  readonly oin: string;
}

/** What a client needs to know of a running demo. Every path is absolute. */
export interface DemoFile {
  readonly baseUrl: string;
  readonly managementUrl: string;
  readonly tokenUrl: string;
  readonly issuer: string;
  readonly databaseUrl: string;
  readonly mounts: Readonly<Record<'shv' | 'vs' | 'verwerkingenlog' | 'raadsfeed', string>> &
    Readonly<Record<string, string>>;
  readonly clients: Readonly<Record<string, DemoClientEntry>>;
  readonly requester: DemoParty;
  readonly supplier: DemoParty;
  readonly pki: {
    readonly dir: string;
    readonly root: string;
    readonly intermediate: string;
    readonly intermediateKey: string;
    readonly ocspUrl: string;
    readonly crlUrl: string;
    /** A text file of hexadecimal serial numbers, one a line. */
    readonly revoked: string;
  };
  readonly fsc: {
    readonly groupId: string;
    readonly peerId: string;
    readonly audience: string;
    readonly key: string;
    readonly certificate: string;
    readonly services: { readonly shv: string; readonly vs: string };
  };
  /** Variables that a command beside the demo needs. */
  readonly environment: Readonly<Record<string, string>>;
  readonly pid: number;
}

/** Where a demo says how to reach it. */
export function demoFilePath(home: string): string {
  return join(home, 'demo.json');
}

/** Writes it in one step, readable by its owner only: it holds the clients' secrets. */
export async function writeDemoFile(home: string, file: DemoFile): Promise<void> {
  await saveJson(demoFilePath(home), file);
}

/** @throws {Error} when no demo has written it */
export async function readDemoFile(home: string): Promise<DemoFile> {
  const path = demoFilePath(home);
  const kept = await readSavedJson(path);
  if (!isDemoFile(kept)) throw new Error(`${path} is not there: start the demo first, with \`npm run demo\``);
  return kept;
}

function isDemoFile(value: unknown): value is DemoFile {
  return (
    isRecord(value) &&
    isRecord(value.mounts) &&
    isRecord(value.clients) &&
    isRecord(value.environment) &&
    typeof value.pid === 'number'
  );
}

/** Milliseconds that one call of a demo client may take. */
const DEADLINE_MS = 30_000;

export interface DemoAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** The members of a JSON object, else none. */
  readonly body: Readonly<Record<string, unknown>>;
}

interface DemoCall {
  /** Which client's token goes along; absent: none. */
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes are sent as they are; anything else as JSON. */
  readonly body?: unknown;
}

/** Plays the clients of the demo: fetches their tokens, as they would, and calls the service. */
export interface DemoClient {
  /** An access token of one of the demo's clients; kept until shortly before it ends. */
  token(name: string): Promise<string>;
  call(method: string, url: string, call?: DemoCall): Promise<DemoAnswer>;
}

export function createDemoClient(file: Pick<DemoFile, 'clients' | 'tokenUrl'>): DemoClient {
  const tokens = new Map(
    Object.entries(file.clients).map(([name, { id: clientId, secret: clientSecret, scopes }]) => [
      name,
      clientCredentialsToken({ tokenUrl: file.tokenUrl, clientId, clientSecret, scopes }),
    ]),
  );
  const client: DemoClient = {
    async token(name) {
      const token = tokens.get(name);
      if (token === undefined) throw new Error(`the demo has no client ${name}`);
      return await token();
    },
    async call(method, url, { as, headers = {}, body } = {}) {
      const isBytes = Buffer.isBuffer(body);
      const response = await fetch(url, {
        method,
        headers: {
          ...(body === undefined || isBytes ? {} : { 'content-type': 'application/json' }),
          ...(as === undefined ? {} : { authorization: `Bearer ${await client.token(as)}` }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: isBytes ? new Uint8Array(body) : JSON.stringify(body) }),
        redirect: 'manual',
        signal: AbortSignal.timeout(DEADLINE_MS),
      });
      const bytes = Buffer.from(await response.arrayBuffer());
      const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '') && bytes.length > 0;
      const parsed: unknown = isJson ? JSON.parse(bytes.toString()) : undefined;
      return { status: response.status, headers: response.headers, bytes, body: isRecord(parsed) ? parsed : {} };
    },
  };
  return client;
}

/** The headers with which a consumer says for which processing it calls; `oin` is its own. */
export function processingHeaders(oin: string): Record<string, string> {
  return { OIN: oin, VerwerkingId: randomUUID(), Vertrouwelijkheid: 'normaal', Bewaartermijn: 'P1Y' };
}
