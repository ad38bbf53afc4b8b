/** What a part of the demo gets, and what it may add to start and tour. */
import type { FastifyInstance } from 'fastify';
import type { Pool } from '../database/pool.ts';
import type { Logger } from '../lib/log.ts';
import type { ProofWriters } from '../proof/proof-log.ts';
import type { Config, Overrides } from '../settings/config.ts';
import type { DemoClient, DemoFile } from './demo-client.ts';
import type { Transcript } from './transcript.ts';

/** A running demo. */
export interface Demo {
  readonly file: DemoFile;
  readonly config: Config;
  /** Directory of its data and keys. */
  readonly home: string;
  readonly log: Logger;
  readonly logFile: string;
  /** Resolves when the embedded Postgres has ended by itself. */
  readonly lost: Promise<void>;
  readonly stop: () => Promise<void>;
}

/** The database is for what has no address to the outside. */
export interface TourNeeds {
  readonly proof: ProofWriters;
  readonly config: Config;
  readonly pool: Pool;
  readonly signal: AbortSignal;
  readonly demo: Demo;
  readonly client: DemoClient;
  readonly transcript: Transcript;
}

/** What a part can use before the service starts. */
export interface DemoSetup {
  /** Directory of what the demo keeps. */
  readonly home: string;
  /** 32 random bytes as base64, which the demo keeps under this name. */
  readonly secret: (name: string) => Promise<string>;
  /** Address of the authorization server, once it listens. */
  readonly authorizationUrl: () => string;
  /** Other address than loopback that the service has. */
  readonly publicBaseUrl: string | undefined;
}

export interface DemoPart {
  /** Serves more at the authorization server. */
  readonly authorize?: (app: FastifyInstance, setup: DemoSetup) => Promise<void>;
  /** Its settings in the demo. */
  readonly variables?: (setup: DemoSetup) => Promise<Readonly<Record<string, string>>>;
  /** Its values instead of constants. */
  readonly overrides?: (setup: DemoSetup) => Overrides;
  /** A section of the tour after that of the processing log. */
  readonly tourLog?: (needs: TourNeeds) => Promise<void>;
  /** Lines in the section of a delivery. @param delivered number of records */
  readonly tourDelivery?: (needs: TourNeeds, variant: 'shv' | 'vs', delivered: number) => Promise<void>;
  /** A section of the tour after all others. */
  readonly tourLast?: (needs: TourNeeds) => Promise<void>;
  /** Addresses of further interfaces, by name. */
  readonly mounts?: (config: Config, baseUrl: string) => Readonly<Record<string, string>>;
  /** Lines of what to look at next. */
  readonly next?: (config: Config, baseUrl: string) => string[];
  /** Variables for applications beside the service. */
  readonly environment?: (config: Config) => Readonly<Record<string, string>>;
}
