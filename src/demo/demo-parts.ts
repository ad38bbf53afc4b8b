/** What the demo shows of the extensions: `demo.ts` of an extension exports some of these functions. */

import type { FastifyInstance } from 'fastify';
import { importFromExtensions, type UnknownModule } from '../settings/extensions.ts';
import type { Config } from '../settings/read-config.ts';
import type { TourNeeds } from './run-demo.ts';

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

interface DemoPart {
  /** Serves more at the authorization server. */
  readonly authorize?: (app: FastifyInstance, setup: DemoSetup) => Promise<void>;
  /** Its settings in the demo, also those that only tests change. */
  readonly variables?: (setup: DemoSetup) => Promise<Readonly<Record<string, string>>>;
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

export async function loadDemoParts(): Promise<readonly DemoPart[]> {
  return (await importFromExtensions('demo')).map(({ module }) => module).filter(isDemoPart);
}

function isDemoPart(module: UnknownModule): module is UnknownModule & DemoPart {
  return Object.values(module).every((part) => typeof part === 'function');
}
