import { type Clock, systemClock } from '../../../lib/time.ts';
import type { Config } from '../../../settings/read-config.ts';
import type { SourceAdapter, WindowReading, WindowRequest } from '../supplier/source-adapter.ts';
import type { CallSlots } from './call-limiter.ts';
import { NotubizClient, type NotubizClientOptions } from './client.ts';
import { type WooCategories, wooCategories } from './map/context.ts';
import { type ReferenceData, readReference } from './read/organisation.ts';
import { readWindow } from './read/read-window.ts';

/**
 * The adapter as it is configured. One of them serves a whole process: see `createNotubizAdapter`.
 * @param slots share the limits of the supplier with other processes
 */
export function openNotubiz(
  { aggregator, server }: Pick<Config, 'aggregator' | 'server'>,
  clock: Clock,
  slots?: CallSlots,
): SourceAdapter {
  const { notubizUrl, notubizWooCategories } = aggregator;
  const linesOf = (kind: 'type:' | 'register:'): string[] =>
    notubizWooCategories.flatMap((line) => (line.startsWith(kind) ? [line.slice(kind.length)] : []));
  return createNotubizAdapter({
    clock,
    proxy: server,
    categories: wooCategories(linesOf('type:'), linesOf('register:')),
    ...(slots === undefined ? {} : { slots }),
    ...(notubizUrl === undefined ? {} : { base: notubizUrl }),
  });
}

export interface NotubizAdapterOptions extends NotubizClientOptions {
  readonly categories: WooCategories;
  readonly clock?: Clock;
  /** Milliseconds for which the labels and bodies of an organisation are cached. Default: an hour. */
  readonly referenceMs?: number;
}

/**
 * The NotuBiz public API as a source. One adapter serves all organisations, so that the limits of the supplier hold for all of
 * them together.
 */
export function createNotubizAdapter(options: NotubizAdapterOptions): SourceAdapter {
  const client = new NotubizClient(options);
  const { clock = systemClock, referenceMs = 3_600_000, categories } = options;
  const cache = new Map<string, { readonly data: ReferenceData; readonly until: number }>();
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
          const known = cache.get(organisationId);
          if (known !== undefined && known.until > clock.now().getTime()) return known.data;
          const data = await readReference({ client, issues, request }, organisationId);
          if (data !== undefined) cache.set(organisationId, { data, until: clock.now().getTime() + referenceMs });
          return data;
        },
      });
    },
  };
}
