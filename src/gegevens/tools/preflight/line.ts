import type { Certificate } from '../../../lib/jades/certificate.ts';
import type { OwnKey } from '../../../lib/jades/own-key.ts';
import { reasonOf } from '../../../lib/log.ts';
import type { Config } from '../../../settings/read-config.ts';

export interface Verdict {
  /** `not-checked`: not determinable from here, or not applicable. Only `failed` counts as a failure. */
  readonly state: 'ok' | 'warning' | 'failed' | 'not-checked';
  readonly detail: string;
  readonly todo?: string;
}

export type Verdicts = Readonly<Record<string, Verdict>>;

export interface PreflightContext {
  readonly config: Config;
  readonly now: () => Date;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Absent when unusable. */
  readonly own: OwnKey | undefined;
  /** From the own certificate to an anchor; absent when the chain is not valid. */
  readonly path: readonly Certificate[] | undefined;
}

export function ok(detail: string): Verdict {
  return { state: 'ok', detail };
}

export function failed(detail: string, todo: string): Verdict {
  return { state: 'failed', detail, todo };
}

export function notChecked(detail: string, todo?: string): Verdict {
  return { state: 'not-checked', detail, ...(todo === undefined ? {} : { todo }) };
}

const WARNING_DAYS = 30;
const DAY_MS = 86_400_000;

/** How long something stays valid; with few days left, renewal is urgent. */
export function daysLeft(until: Date, now: Date, todo: string): Verdict {
  const days = Math.floor((until.getTime() - now.getTime()) / DAY_MS);
  if (days < 0) return failed(`the last certificate expired on ${until.toISOString()}`, todo);
  const detail = `${days} days left, until ${until.toISOString().slice(0, 10)}`;
  return days < WARNING_DAYS ? { state: 'warning', detail, todo } : ok(detail);
}

export function reasonsOf(error: unknown): string {
  const causes: unknown[] = error instanceof AggregateError ? error.errors : [error];
  return [...new Set(causes.map((cause) => reasonOf(cause)))].join('; ');
}

export function shownAddress(address: string): string {
  const url = URL.parse(address);
  return url === null ? address : `${url.origin}${url.pathname === '/' ? '' : url.pathname}`;
}
