import { createHash, type Hash } from 'node:crypto';
import type { Model } from '../model/model.ts';
import type { ItemList } from './cut-plan.ts';
import { Seen } from './seen.ts';
import { ZaakPlaces } from './zaak-places.ts';

/** What is known of a levering while its items come by. */
export interface RunningLevering {
  /** Where the model wants no item twice. */
  readonly seen: Record<ItemList, Seen | undefined>;
  readonly counts: Record<ItemList, number>;
  bytes: number;
  /** Over the texts of its items. */
  readonly hash: Hash;
  readonly places: ZaakPlaces | undefined;
  /** Municipalities that its records name. */
  readonly gemeenten: Set<string>;
}

export function startLevering({ bounds: { records, zaken }, mapping }: Model): RunningLevering {
  return {
    seen: {
      records: records.uniqueItems ? new Seen() : undefined,
      zaken: zaken.uniqueItems ? new Seen() : undefined,
    },
    counts: { records: 0, zaken: 0 },
    bytes: 0,
    hash: createHash('sha256'),
    places: ZaakPlaces.of(mapping),
    gemeenten: new Set(),
  };
}
