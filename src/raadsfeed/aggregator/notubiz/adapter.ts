import { type Clock, systemClock } from '../../../lib/time.ts';
import type { Config } from '../../../settings/read-config.ts';
import type { SourceAdapter } from '../supplier/source-adapter.ts';
import type { CallSlots } from '../supplier/supplier-client.ts';
import { NotubizClient, type NotubizClientOptions } from './api.ts';
import type { MappingContext } from './map.ts';
import { type ReferenceData, readReference } from './names.ts';
import { readWindow } from './read-window.ts';

/**
 * The adapter as it is configured. One of them serves a whole process: see `createNotubizAdapter`.
 * @param slots share the limits of the supplier with other processes
 */
export function openNotubiz(
  { aggregator, server: proxy }: Pick<Config, 'aggregator' | 'server'>,
  clock: Clock,
  slots?: CallSlots,
): SourceAdapter {
  const { notubizUrl: base, notubizWooCategories } = aggregator;
  const categories = new Map([...notubizWooCategories].map(([name, code]) => [name.toLowerCase(), code]));
  const shared = slots === undefined ? {} : { slots };
  return createNotubizAdapter({ clock, proxy, categories, ...shared, ...(base === undefined ? {} : { base }) });
}

export interface NotubizAdapterOptions extends NotubizClientOptions, Pick<MappingContext, 'categories'> {}

/** Milliseconds for which the labels and bodies of an organisation are cached: an hour. */
const REFERENCE_MS = 3_600_000;

/**
 * The NotuBiz public API as a source. One adapter serves all organisations, so that the limits of the supplier hold for all of
 * them together.
 */
export function createNotubizAdapter(options: NotubizAdapterOptions): SourceAdapter {
  const client = new NotubizClient(options);
  const { clock = systemClock, categories } = options;
  const cache = new Map<string, { readonly data: ReferenceData; readonly until: number }>();
  return {
    close: () => client.close(),
    async readWindow(request) {
      const { organisationId } = request.source;
      const now = clock.now();
      return await readWindow(request, { client, categories, now }, async (issues) => {
        const known = cache.get(organisationId);
        if (known !== undefined && known.until > now.getTime()) return known.data;
        const data = await readReference({ client, issues, request }, organisationId);
        if (data !== undefined) cache.set(organisationId, { data, until: now.getTime() + REFERENCE_MS });
        return data;
      });
    },
  };
}
