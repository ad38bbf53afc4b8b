import type { Pool } from '../database/pool.ts';
import type { Logger } from '../lib/log.ts';
import type { ProofWriterOf } from '../proof/proof-log.ts';
import type { Config } from '../settings/config.ts';
import type { DemoClient, DemoFile } from './demo-client.ts';
import type { Transcript } from './transcript.ts';

export interface Demo {
  readonly file: DemoFile;
  readonly config: Config;
  readonly home: string;
  readonly log: Logger;
  readonly logFile: string;
  /** Resolves when the embedded Postgres has ended by itself. */
  readonly lost: Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface TourNeeds {
  readonly proof: ProofWriterOf;
  readonly config: Config;
  readonly pool: Pool;
  readonly signal: AbortSignal;
  readonly demo: Demo;
  readonly client: DemoClient;
  readonly transcript: Transcript;
}

export interface DemoSetup {
  readonly home: string;
  /** 32 random bytes as base64, which the demo keeps under this name. */
  readonly secret: (name: string) => Promise<string>;
  readonly authorizationUrl: () => string;
  readonly publicBaseUrl: string | undefined;
}
