import { type Clock, systemClock } from '../../kernel/time.ts';
import type { SourceAdapter, WindowReading, WindowRequest } from '../aggregator/source-adapter.ts';
import { NotubizClient, type NotubizClientOptions } from './client/notubiz-client.ts';
import type { WooCategories } from './map/woo-categories.ts';
import { type ReferenceData, readReference } from './reading/read-reference.ts';
import { readWindow } from './reading/read-window.ts';

export interface NotubizAdapterOptions extends NotubizClientOptions {
  readonly categories: WooCategories;
  readonly clock?: Clock;
  /** Milliseconds that names of an organisation are kept: its labels and bodies. Default: an hour. */
  readonly keepReference?: number;
}

/**
 * The NotuBiz public API as a source. One adapter serves all organisations, so that the limits of the supplier hold for all of
 * them together.
 */
export function createNotubizAdapter(options: NotubizAdapterOptions): SourceAdapter {
  const client = new NotubizClient(options);
  const { clock = systemClock, keepReference = 3_600_000, categories } = options;
  const kept = new Map<string, { readonly data: ReferenceData; readonly until: number }>();
  return {
    scheme: 'notubiz',
    close: () => client.close(),
    async readWindow(request: WindowRequest): Promise<WindowReading> {
      const { organisationId } = request.source;
      return await readWindow(request, {
        client,
        categories,
        now: clock.now(),
        reference: async (issues) => {
          const known = kept.get(organisationId);
          if (known !== undefined && known.until > clock.now().getTime()) return known.data;
          const data = await readReference({ client, issues, request }, organisationId);
          if (data !== undefined) kept.set(organisationId, { data, until: clock.now().getTime() + keepReference });
          return data;
        },
      });
    },
  };
}
