/** A source as the aggregator stores it. */
export interface Source {
  readonly id: number;
  /** Address of a service document, or `<scheme>:<organisation>` of a supplier's API. */
  readonly adres: string;
  readonly soort: 'feed' | 'leveranciers-api';
  /** Only these organisations are taken from it; empty: all that it names. */
  readonly organisatiecodes: readonly string[];
  readonly naam: string | null;
  readonly portaal: string | null;
  /** First day (`YYYY-MM-DD`) that is read of a supplier. */
  readonly vanaf: string | null;
  readonly feedUrl: string | null;
  readonly snapshotUrl: string | null;
  readonly rol: 'bronhouder' | 'aggregator' | null;
  readonly documentEtag: string | null;
  readonly documentReadAt: Date | null;
  /** `historie`: the history is being read for redactions that were missed; `stand`: the snapshot; `feed`: the log after both. */
  readonly phase: 'stand' | 'historie' | 'feed';
  /** Resources that neither the snapshot nor the feed after it shows will be deleted. */
  readonly isComparing: boolean;
  readonly snapshotCursor: string | null;
  /** Where the feed is read from after the snapshot. */
  readonly snapshotFeedCursor: string | null;
  readonly cursor: string | null;
  readonly etag: string | null;
  /** Number of the last record that was read; `null` when only the cursor is known. */
  readonly lastNumber: number | null;
  readonly pageSize: number;
  /** Where the history is read from; `null`: from its beginning. */
  readonly historyCursor: string | null;
  /** The last number that was read before. */
  readonly historyAfter: number | null;
  /** Whether that history reaches back to that number; `null` while nothing says so. */
  readonly historyJoins: boolean | null;
  /** It does not: resources that disappear may have been redacted. */
  readonly historyMissed: boolean;
  /** As JSON; see `ReadingProgress`. */
  readonly progress: unknown;
  /** A hash of this source equalled the one that we compute. */
  readonly hashMatches: boolean;
  /** Organisations that its service document names. */
  readonly named: readonly string[];
  readonly allowMassDelete: boolean;
  /** When a comparison with withheld deletes is repeated. */
  readonly compareAgainAt: Date | null;
  /** When the snapshot was last started. */
  readonly snapshotStartedAt: Date | null;
  /** Consecutive failures, and the kind of the last one. */
  readonly failures: number;
  readonly failureKind: string | null;
}

/** The right to read a source. Taking it over raises the number, so that the previous holder cannot publish any more. */
export interface Lease {
  readonly source: Source;
  readonly number: number;
  readonly holder: string;
}

/** The lease was taken over, or the source paused or removed: the work in progress is dropped. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
  constructor() {
    super('another worker has the source now, or it was paused or removed');
  }
}

/** What an operator gives as a source. */
export type SourceAddress = { readonly adres: string } & (
  | { readonly kind: 'feed' }
  | { readonly kind: 'leveranciers-api'; readonly scheme: Supplier; readonly organisationId: string }
);

/** The schemes of suppliers: `notubiz:281`. */
const SUPPLIERS = ['notubiz'] as const;
export type Supplier = (typeof SUPPLIERS)[number];

/** Reads the address of a service document, or `<supplier>:<id>`; `undefined` when it is neither. */
export function parseSourceAddress(text: string): SourceAddress | undefined {
  const [, before, organisationId] = /^([a-z]+):([A-Za-z0-9_-]{1,40})$/.exec(text) ?? [];
  const scheme = SUPPLIERS.find((supplier) => supplier === before);
  if (scheme !== undefined && organisationId !== undefined) {
    return { kind: 'leveranciers-api', adres: text, scheme, organisationId };
  }
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if ((url.protocol !== 'https:' && url.protocol !== 'http:') || url.username !== '' || url.password !== '')
    return undefined;
  url.hash = '';
  return { kind: 'feed', adres: url.href.replace(/\/+$/, '') };
}
