import { partKey } from '../../../src/raadsfeed/aggregator/part-key.ts';
import type {
  AdapterSource,
  DateWindow,
  KnownPlace,
  Part,
  SourceAdapter,
  SourceData,
  WindowReading,
  WindowRequest,
} from '../../../src/raadsfeed/aggregator/source-adapter.ts';
import { deriveChanges, type FeedState, type WindowChanges } from '../../../src/raadsfeed/aggregator/window-changes.ts';
import { createNotubizAdapter, type NotubizAdapterOptions } from '../../../src/raadsfeed/notubiz/adapter.ts';
import { wooCategories } from '../../../src/raadsfeed/notubiz/map/woo-categories.ts';
import { expectContract } from './contract.ts';
import type { NotubizServer } from './server.ts';

export const QUARTER: DateWindow = { from: '2025-01-01', to: '2025-03-31' };
export const NEXT_QUARTER: DateWindow = { from: '2025-04-01', to: '2025-06-30' };
export const NOW = new Date('2025-02-01T12:00:00Z');
export const SOURCE: AdapterSource = {
  organisationId: '281',
  organisatiecode: 'gm0363',
  naam: 'Gemeente Amsterdam',
  portaal: 'https://amsterdam.notubiz.nl',
};

export interface Round extends WindowChanges {
  readonly reading: WindowReading;
}

/** An adapter on the supplier, with a feed and a memory that a test can look into. */
export class MemoryFeed {
  readonly adapter: SourceAdapter;
  readonly resources = new Map<string, SourceData>();
  readonly places = new Map<string, KnownPlace>();
  now = NOW;

  constructor(supplier: NotubizServer, options: Partial<NotubizAdapterOptions> = {}) {
    this.adapter = createNotubizAdapter({
      base: supplier.base,
      categories: wooCategories([], []),
      clock: { now: () => this.now },
      retry: { attempts: 3, firstDelay: 1, maxDelay: 2000 },
      ...options,
    });
  }

  /** Reads a window, publishes what follows, and checks every record against the contract. */
  async round(more: Partial<WindowRequest> & { allowMassDelete?: boolean } = {}): Promise<Round> {
    const { allowMassDelete = true, ...request } = more;
    const window = more.window ?? QUARTER;
    const known = [...this.places.values()].filter(({ day }) => day >= window.from && day <= window.to);
    const reading = await this.adapter.readWindow({
      source: SOURCE,
      window,
      depth: 'full',
      known,
      signal: new AbortController().signal,
      ...request,
    });
    const changes = deriveChanges(reading, this.#state(reading, known, allowMassDelete));
    for (const record of changes.upserts) {
      expectContract(record);
      this.resources.set(`${record.resourceType}/${record.data.bronidentificatie}`, record.data);
    }
    for (const { resourceType, resource } of changes.deletes)
      this.resources.delete(partKey({ resourceType, ...resource }));
    for (const place of changes.places) this.places.set(place.place, place);
    for (const place of changes.forget) this.places.delete(place);
    return { ...changes, reading };
  }

  /** A resource of the feed. */
  get(key: string): SourceData {
    const data = this.resources.get(key);
    if (data === undefined) throw new Error(`the feed does not have ${key}`);
    return data;
  }

  keys(): string[] {
    return [...this.resources.keys()].toSorted();
  }

  #state(reading: WindowReading, inWindow: readonly KnownPlace[], allowMassDelete: boolean): FeedState {
    const keys = new Set([...inWindow, ...reading.places].map(({ place }) => place));
    const known = [...this.places.values()].filter(({ place }) => keys.has(place));
    const elsewhere = [...this.places.values()].filter(({ place }) => !keys.has(place)).flatMap(({ parts }) => parts);
    return {
      organisatiecode: SOURCE.organisatiecode,
      known,
      elsewhere: Map.groupBy(elsewhere, (part: Part) => partKey(part)),
      documents: new Map(this.#of('Informatieobject').map((data) => [data.bronidentificatie, data])),
      agendapunten: new Map(this.#of('Agendapunt').map((data) => [data.bronidentificatie, meetingOf(data)])),
      total: this.resources.size,
      deletedBefore: 0,
      allowMassDelete,
    };
  }

  #of(resourceType: string): SourceData[] {
    return [...this.resources].filter(([key]) => key.startsWith(`${resourceType}/`)).map(([, data]) => data);
  }
}

function meetingOf({ vergadering }: SourceData): string {
  if (typeof vergadering !== 'object' || vergadering === null || !('bronidentificatie' in vergadering)) return '';
  return String(vergadering.bronidentificatie);
}
