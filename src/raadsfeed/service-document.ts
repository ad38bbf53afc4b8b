import type { components } from '../contracts/raadsfeed.ts';
import type { Config } from '../kernel/config/read-config.ts';
import { RESOURCE_TYPES } from './domain/resource-type.ts';
import type { FeedRow } from './store/feed-row.ts';
import type { FeedOrganisation } from './store/read-organisations.ts';

/** What the feed says of itself. */
export type ServiceDocument = components['schemas']['Servicedocument'];

export function serviceDocument(
  mountUrl: string,
  settings: Config['raadsfeed'],
  feed: FeedRow,
  organisations: readonly FeedOrganisation[],
): ServiceDocument {
  return {
    rol: settings.rol,
    organisaties: organisations.map(({ organisatiecode, naam, laatstBijgewerkt, herkomst, herkomstSoort }) => ({
      organisatiecode,
      naam,
      ...(laatstBijgewerkt === null ? {} : { laatstBijgewerkt: laatstBijgewerkt.toISOString() }),
      ...(herkomst === null ? {} : { herkomst }),
      herkomstSoort,
    })),
    resourceTypes: RESOURCE_TYPES,
    feedUrl: `${mountUrl}/feed`,
    snapshotUrl: `${mountUrl}/snapshot`,
    streamUrl: `${mountUrl}/feed/stream`,
    historieVanaf: feed.historieVanaf.toISOString().slice(0, 10),
    retentie: settings.retentie,
    ...(settings.contact === undefined ? {} : { contact: settings.contact }),
    ...(settings.licentie === undefined ? {} : { licentie: settings.licentie }),
  };
}
