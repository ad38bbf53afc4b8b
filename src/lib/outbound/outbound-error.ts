type OutboundFault =
  | 'address' // it may not be called
  | 'unreachable' // no connection, or it was refused
  | 'timeout' // no complete answer in time
  | 'broken-off' // the answer ended early
  | 'status' // an unexpected HTTP status
  | 'redirect' // one that is not followed, or too many
  | 'encoding' // a compression that was not requested, or bytes that do not match it
  | 'too-large' // more bytes than allowed, compressed or not, or JSON with more levels, members or values
  | 'content-type' // another than was requested
  | 'not-json'; // not JSON in UTF-8

interface More {
  readonly status?: number;
  /** Milliseconds that the other side asks to wait (RFC 9110 section 10.2.3). */
  readonly retryAfterMs?: number | undefined;
  /** For JSON that is `too-large`: the bytes up to the limit. */
  readonly start?: Buffer;
  /** For `status`: the start of the body, when it is a problem document (RFC 9457). */
  readonly problem?: unknown;
}

/** Why a call gave no usable answer. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly code: OutboundFault;
  readonly status: More['status'];
  readonly retryAfterMs: More['retryAfterMs'];
  readonly start: More['start'];
  readonly problem: unknown;

  constructor(code: OutboundFault, message: string, { cause, ...more }: More & { readonly cause?: unknown } = {}) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.status = more.status;
    this.retryAfterMs = more.retryAfterMs;
    this.start = more.start;
    this.problem = more.problem;
  }
}
