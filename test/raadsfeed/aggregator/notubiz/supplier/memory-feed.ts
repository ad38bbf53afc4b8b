import type { Clock } from '../../../../../src/lib/time.ts';
import {
  createNotubizAdapter,
  type NotubizAdapterOptions,
} from '../../../../../src/raadsfeed/aggregator/notubiz/supplier.ts';
import type { SourceAdapter } from '../../../../../src/raadsfeed/aggregator/supplier/read-listed-window.ts';
import {
  type AdapterSource,
  type DateWindow,
  type KnownItem,
  type Part,
  partKey,
  type SourceData,
  type WindowReading,
  type WindowRequest,
} from '../../../../../src/raadsfeed/aggregator/supplier/source-adapter.ts';
import {
  deriveChanges,
  type WindowBaseline,
  type WindowChanges,
} from '../../../../../src/raadsfeed/aggregator/supplier/window-changes.ts';
import { REGISTERS } from '../../../../../src/raadsfeed/aggregator/supplier/windows.ts';
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

interface RoundOptions {
  readonly allowMassDelete?: boolean;
  readonly deletedBefore?: number;
}

/** An adapter on the supplier, with a feed and a state that a test can inspect. */
export class MemoryFeed {
  readonly adapter: SourceAdapter;
  readonly resources = new Map<string, SourceData>();
  readonly items = new Map<string, KnownItem>();
  /** The last reading of each window, by its first day. */
  readonly #readings = new Map<string, WindowReading>();
  source: AdapterSource;
  now = NOW;

  /** @param supplier NotuBiz, or a function that opens another supplier's adapter */
  constructor(
    supplier: NotubizServer | ((clock: Clock) => SourceAdapter),
    options: Partial<NotubizAdapterOptions> = {},
    source: AdapterSource = SOURCE,
  ) {
    const clock = { now: () => this.now };
    const retry = { attempts: 3, firstDelay: 1, maxDelay: 2000 };
    this.source = source;
    this.adapter =
      typeof supplier === 'function'
        ? supplier(clock)
        : createNotubizAdapter({ base: supplier.base, categories: new Map(), clock, retry, ...options });
  }

  /** Reads a window, publishes the resulting records, and checks each against the contract. */
  async round(more: Partial<WindowRequest> & RoundOptions = {}): Promise<Round> {
    const { allowMassDelete = true, deletedBefore = 0, ...request } = more;
    const window = more.window ?? QUARTER;
    const known = [...this.items.values()].filter(({ day }) => day >= window.from && day <= window.to);
    const reading = await this.adapter.readWindow({
      source: this.source,
      window,
      depth: 'full',
      known,
      knownOn: async (day) => [...this.items.values()].filter((item) => item.day === day),
      meetings: async () => {
        const read = [...this.#readings.values()].filter((one) => one.window !== REGISTERS);
        return {
          hasConfidential: read.some(({ hasConfidential }) => hasConfidential === true),
          isUnread: read.length === 0 || read.some(({ complete }) => !complete),
        };
      },
      signal: new AbortController().signal,
      ...request,
    });
    this.#readings.set(window.from, reading);
    const state = this.#state(reading, known, { allowMassDelete, deletedBefore });
    const changes = deriveChanges(reading, state);
    this.#commit(changes);
    return { ...changes, reading };
  }

  #commit({ upserts, deletes, items, obsolete }: WindowChanges): void {
    for (const line of [...upserts, ...deletes]) {
      if (line.op === 'upsert') {
        expectContract(line);
        this.resources.set(partKey({ resourceType: line.resourceType, ...line.data }), { ...line.data });
      } else this.resources.delete(partKey({ resourceType: line.resourceType, ...line.resource }));
    }
    for (const item of items) this.items.set(item.key, item);
    for (const key of obsolete) this.items.delete(key);
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

  #state(
    reading: WindowReading,
    inWindow: readonly KnownItem[],
    word: Pick<WindowBaseline, 'allowMassDelete' | 'deletedBefore'>,
  ): WindowBaseline {
    const keys = new Set([...inWindow, ...reading.items].map(({ key }) => key));
    const known = [...this.items.values()].filter(({ key }) => keys.has(key));
    const elsewhere = [...this.items.values()].filter(({ key }) => !keys.has(key)).flatMap(({ parts }) => parts);
    return {
      organisatiecode: this.source.organisatiecode,
      known,
      elsewhere: Map.groupBy(elsewhere, (part: Part) => partKey(part)),
      documents: new Map(this.#of('Informatieobject').map((data) => [data.bronidentificatie, data])),
      agendapunten: new Map(this.#of('Agendapunt').map((data) => [data.bronidentificatie, meetingOf(data)])),
      total: this.resources.size,
      ...word,
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
