import { join } from 'node:path';
import { isRecord } from '../kernel/is-record.ts';
import { readKept, writeKept } from './authorization-server/keys.ts';

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
  readonly mounts: Readonly<Record<'shv' | 'vs' | 'verwerkingenlog' | 'raadsfeed', string>>;
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
  readonly pid: number;
}

/** Where a demo says how to reach it. */
export function demoFilePath(home: string): string {
  return join(home, 'demo.json');
}

/** Writes it in one step, readable by its owner only: it holds the clients' secrets. */
export async function writeDemoFile(home: string, file: DemoFile): Promise<void> {
  await writeKept(demoFilePath(home), file);
}

/** @throws {Error} when no demo has written it */
export async function readDemoFile(home: string): Promise<DemoFile> {
  const path = demoFilePath(home);
  const kept = await readKept(path);
  if (!isDemoFile(kept)) throw new Error(`${path} is not there: start the demo first, with \`npm run demo\``);
  return kept;
}

function isDemoFile(value: unknown): value is DemoFile {
  return isRecord(value) && isRecord(value.mounts) && isRecord(value.clients) && typeof value.pid === 'number';
}
