/** A feed that a register knows: only where it is, nothing of its content. */
export interface RegisterFeed {
  readonly serviceUrl: string;
  readonly feedUrl: string;
  readonly snapshotUrl: string;
  readonly streamUrl: string | null;
  readonly rol: 'bronhouder' | 'aggregator';
  readonly organisaties: readonly { readonly organisatiecode: string; readonly naam: string }[];
  readonly laatstGezien: string | null;
  readonly bereikbaar: boolean;
}

/** What `GET /register` lists. */
export interface Register {
  /** The first `limit` feeds after an address of a service document, in the order of those addresses. */
  list(after: string, limit: number, organisatiecode: string | undefined): Promise<readonly RegisterFeed[]>;
}
