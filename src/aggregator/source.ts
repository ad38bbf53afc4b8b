/** A source as the aggregator keeps it. */
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
  /** `stand`: the snapshot is being read; `historie`: the history for redactions that were missed; `feed`: the log after both. */
  readonly phase: 'stand' | 'historie' | 'feed';
  /** What is not seen in the snapshot and the feed after it is gone. */
  readonly isComparing: boolean;
  readonly snapshotCursor: string | null;
  readonly snapshotFeedCursor: string | null;
  readonly cursor: string | null;
  readonly etag: string | null;
  /** Number of the last record that was looked at; `null` when the place is known by its cursor alone. */
  readonly lastNumber: number | null;
  readonly pageSize: number;
  /** A place in the feed was given up, so its history is read for redactions. */
  readonly mustReadHistory: boolean;
  /** Where; `null`: from its beginning. */
  readonly historyCursor: string | null;
  /** The last number that was read before. */
  readonly historyAfter: number | null;
  /** Whether that history reaches back to that number; `null` while nothing says so. */
  readonly historyJoins: boolean | null;
  /** It does not: what disappears may have been redacted. */
  readonly historyMissed: boolean;
  /** As JSON; see `ReadingProgress`. */
  readonly progress: unknown;
  /** As JSON; see `LookAhead`. */
  readonly lookAhead: unknown;
  /** A hash of this source was the one that we would make. */
  readonly hashMatches: boolean;
  /** Organisations that its service document names. */
  readonly named: readonly string[];
  /** All of them are taken from elsewhere. */
  readonly hasNothingToRead: boolean;
  readonly allowMassDelete: boolean;
  /** When a comparison that was withheld is tried again. */
  readonly compareAgainAt: Date | null;
  /** When the snapshot was last begun. */
  readonly snapshotStartedAt: Date | null;
  /** Failures in a row, and the kind of the last one. */
  readonly failures: number;
  readonly failureKind: string | null;
}

/** The right to work on a source: whoever takes it over makes the number of the one before him worthless. */
export interface Lease {
  readonly source: Source;
  readonly number: number;
  readonly holder: string;
}

/** The lease was taken over, or the source paused or removed: what was being done is dropped. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
  constructor() {
    super('another worker has the source now, or it was paused or removed');
  }
}

/** What an operator gives as a source. */
export type SourceAddress =
  | { readonly kind: 'feed'; readonly adres: string }
  | {
      readonly kind: 'leveranciers-api';
      readonly adres: string;
      readonly scheme: string;
      readonly organisationId: string;
    };

/** Reads the address of a service document, or `notubiz:<id>`; `undefined` when it is neither. */
export function parseSourceAddress(text: string): SourceAddress | undefined {
  const supplier = /^(notubiz):([A-Za-z0-9_-]{1,40})$/.exec(text);
  const [, scheme, organisationId] = supplier ?? [];
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
