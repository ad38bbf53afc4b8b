/** Problem documents (RFC 9457): the error answers of an area. Only `plugins/problem-reply.ts` turns one into a body. */

export interface ProblemKind {
  readonly slug: string;
  readonly status: number;
  /** Dutch, short, the same for every occurrence. */
  readonly title: string;
  /** Dutch, for the page of the kind: its meaning and the caller's remedy. */
  readonly explanation: string;
}

export interface InvalidParam {
  /** Query or path parameter, header, or path in the body with dots (`verwerkteObjecten.0.objectId`). */
  readonly name: string;
  readonly code: string;
  /** Dutch. */
  readonly reason: string;
}

interface ProblemDetail {
  /** Dutch; about this occurrence. Never internal text (SQL, paths, tokens). */
  readonly detail?: string | undefined;
  readonly invalidParams?: readonly InvalidParam[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Area A: the equivalent error of the FSC standard, answered in its form. */
  readonly fsc?: FscCode;
  readonly cause?: unknown;
}

/** Error codes of FSC Core in the contract of area A. */
export type FscCode =
  | 'ERROR_CODE_ACCESS_TOKEN_MISSING'
  | 'ERROR_CODE_ACCESS_TOKEN_INVALID'
  | 'ERROR_CODE_ACCESS_TOKEN_EXPIRED'
  | 'ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN'
  | 'ERROR_CODE_SERVICE_NOT_FOUND'
  | 'ERROR_CODE_SERVICE_UNREACHABLE'
  | 'ERROR_CODE_METHOD_UNSUPPORTED';

export class Problem extends Error {
  readonly kind: ProblemKind;
  readonly detail: string | undefined;
  readonly invalidParams: readonly InvalidParam[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly fsc: FscCode | undefined;

  constructor(kind: ProblemKind, options: ProblemDetail = {}) {
    super(`${kind.status} ${kind.slug}`, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'Problem';
    this.kind = kind;
    this.detail = options.detail;
    this.invalidParams = options.invalidParams;
    this.headers = options.headers ?? {};
    this.fsc = options.fsc;
  }
}
