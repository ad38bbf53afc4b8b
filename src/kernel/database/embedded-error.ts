/** Why the embedded Postgres cannot be had; `code` never changes, the message says what to do. */
export class EmbeddedPostgresError extends Error {
  readonly code: 'UNSUPPORTED' | 'IN_USE' | 'NOT_ALLOWED' | 'FAILED';

  constructor(code: EmbeddedPostgresError['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'EmbeddedPostgresError';
    this.code = code;
  }
}
