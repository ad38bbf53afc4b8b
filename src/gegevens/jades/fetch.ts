/** One request to a revocation address. */
export interface FetchRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly body?: Uint8Array;
  readonly contentType?: string;
  /** Milliseconds until the whole answer must be there. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Gives the body of a 200 answer; anything else rejects. */
export type Fetch = (request: FetchRequest) => Promise<Uint8Array>;
