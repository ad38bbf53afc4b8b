import type { SourceIssue } from './source-adapter.ts';
import type { SupplierError } from './supplier-client.ts';

/** Kinds of issue, and whether one makes the window incomplete. */
const KINDS = {
  'call-failed': true,
  /** The host does not answer: the source is read another time. */
  'no-answer': true,
  'unexpected-answer': true,
  'count-mismatch': true,
  'other-organisation': true,
  'unread-days': true,
  refused: false,
  withheld: false,
  'labels-missing': false,
  'unknown-gremium': false,
  'unresolved-reference': false,
  'unusable-value': false,
  /** Which of several forms occurred, if no recording confirms one. */
  'unconfirmed-form': false,
} as const;

export type IssueKind = keyof typeof KINDS;

/** Further ones are counted by kind: a register may have one fault thousands of times. */
const MAX_DISTINCT = 1000;

export class IssueLog {
  readonly #issues = new Map<string, SourceIssue>();
  readonly #blocked = new Set<string>();

  add(what: IssueKind, where: string, detail: string): void {
    if (KINDS[what]) this.#blocked.add(where);
    const full = this.#issues.size >= MAX_DISTINCT && !this.#issues.has(`${what} ${where} ${detail}`);
    if (full) this.#count(what, 'elsewhere', 'further issues of this kind');
    else this.#count(what, where, detail);
  }

  #count(what: IssueKind, where: string, detail: string): void {
    const key = `${what} ${where} ${detail}`;
    const known = this.#issues.get(key);
    const issue = known ?? { what, where, detail, times: 0, blocking: KINDS[what] };
    this.#issues.set(key, { ...issue, times: issue.times + 1 });
  }

  failed(where: string, { hangs, message }: SupplierError): void {
    this.add(hangs ? 'no-answer' : 'call-failed', where, message);
  }

  at(where: string): IssueSink {
    return (what, detail) => this.add(what, where, detail);
  }

  get blocked(): boolean {
    return this.#blocked.size > 0;
  }

  blockedAt(where: string): boolean {
    return this.#blocked.has(where);
  }

  all(): SourceIssue[] {
    return [...this.#issues.values()];
  }
}

export type IssueSink = (what: IssueKind, detail: string) => void;
