/** The log did not keep an action: it refused it, or could not be reached in time. */
export class VerwerkingenlogError extends Error {
  /** HTTP status of the last answer; absent when there was none. */
  readonly status: number | undefined;
  /** The problem document of the last answer. */
  readonly problem: unknown;
  /** Milliseconds that the log asked to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    options: { status?: number; problem?: unknown; retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'VerwerkingenlogError';
    this.status = options.status;
    this.problem = options.problem;
    this.retryAfterMs = options.retryAfterMs;
  }

  /** Whether the same request may succeed later: no answer, too many requests, or trouble at the other side. */
  get passing(): boolean {
    return this.status === undefined || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}
