/** What the demo shows of the extensions: `demo.ts` of an extension exports some of these functions. */

import { importFromExtensions, type UnknownModule } from '../seams/extensions.ts';
import type { Config } from '../settings/read-config.ts';
import type { TourNeeds } from './run-demo.ts';

interface DemoPart {
  /** A section of the tour after that of the processing log. */
  readonly tourLog?: (needs: TourNeeds) => Promise<void>;
  /** Lines in the section of a delivery. @param delivered number of records */
  readonly tourDelivery?: (needs: TourNeeds, variant: 'shv' | 'vs', delivered: number) => Promise<void>;
  /** A section of the tour after all others, when the data exchange is served. */
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
