/**
 * Why a call gave no usable answer.
 * - `address`: an address that may not be called
 * - `unreachable`: no connection, or it was refused
 * - `timeout`: no complete answer in time
 * - `broken-off`: the answer ended early
 * - `status`: an unexpected HTTP status
 * - `redirect`: a redirect that is not followed, or too many
 * - `encoding`: a compression that was not requested, or bytes that do not match it
 * - `too-large`: more bytes than allowed, compressed or not, or JSON with more levels, members or values
 * - `content-type`: not declared as JSON
 * - `not-json`: not JSON in UTF-8
 */
type OutboundFault =
  | 'address'
  | 'unreachable'
  | 'timeout'
  | 'broken-off'
  | 'status'
  | 'redirect'
  | 'encoding'
  | 'too-large'
  | 'content-type'
  | 'not-json';

export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly code: OutboundFault;
  readonly status: number | undefined;
  /** Milliseconds that the other side asks to wait (RFC 9110 section 10.2.3). */
  readonly retryAfterMs: number | undefined;
  /** For JSON that is `too-large`: the bytes up to the limit. */
  readonly start: Buffer | undefined;
  /** For `status`: the start of the body, when it is a problem document (RFC 9457). */
  readonly problem: unknown;

  constructor(
    code: OutboundFault,
    message: string,
    more: {
      status?: number;
      retryAfterMs?: number | undefined;
      start?: Buffer;
      problem?: unknown;
      cause?: unknown;
    } = {},
  ) {
    super(message, more.cause === undefined ? {} : { cause: more.cause });
    this.code = code;
    this.status = more.status;
    this.retryAfterMs = more.retryAfterMs;
    this.start = more.start;
    this.problem = more.problem;
  }
}
