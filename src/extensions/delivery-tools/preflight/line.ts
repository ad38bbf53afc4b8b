import type { Variant } from '../../../gegevens/model/mapping.ts';
import type { Config } from '../../../settings/read-config.ts';
import type { OwnCertificate } from './own-certificate.ts';

/** What preflight says of one thing. */
export interface Verdict {
  /** `not-checked`: it could not be determined from here, or does not apply. Only `failed` counts as a failure. */
  readonly state: 'ok' | 'warning' | 'failed' | 'not-checked';
  readonly detail: string;
  /** What to do about it. */
  readonly todo?: string;
}

/** What the checks need. */
export interface PreflightContext {
  readonly config: Config;
  readonly now: () => Date;
  /** Of each call. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The header with an access token for a request to the own service; empty when there is no token. */
  readonly authorization: (variant: Variant) => Promise<Readonly<Record<string, string>>>;
  readonly own: OwnCertificate | undefined;
}

export function ok(detail: string): Verdict {
  return { state: 'ok', detail };
}

export function warning(detail: string, todo: string): Verdict {
  return { state: 'warning', detail, todo };
}

export function failed(detail: string, todo: string): Verdict {
  return { state: 'failed', detail, todo };
}

export function notChecked(detail: string, todo?: string): Verdict {
  return { state: 'not-checked', detail, ...(todo === undefined ? {} : { todo }) };
}

const WARNING_DAYS = 30;
const DAY_MS = 86_400_000;

/** How long something stays valid; with few days left a renewal cannot wait. @param what the subject of the sentence when it expired */
export function daysLeft(until: Date, now: Date, todo: string, what = ''): Verdict {
  const days = Math.floor((until.getTime() - now.getTime()) / DAY_MS);
  if (days < 0) return failed(`${what}expired on ${until.toISOString()}`, todo);
  const detail = `${days} days left, until ${until.toISOString().slice(0, 10)}`;
  return days < WARNING_DAYS ? warning(detail, todo) : ok(detail);
}

/** The work, or a rejection after so many milliseconds. What comes later is handed to `late`. */
export async function within<T>(ms: number, work: Promise<T>, late?: (value: T) => void): Promise<T> {
  const timeout = Promise.withResolvers<never>();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    timeout.reject(new Error(`no answer within ${ms / 1000} s`));
  }, ms);
  work.then(
    (value) => {
      if (isLate) late?.(value);
    },
    () => undefined,
  );
  try {
    return await Promise.race([work, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** An address without what may be secret in it. */
export function shownAddress(address: string): string {
  const url = URL.parse(address);
  return url === null ? address : `${url.origin}${url.pathname === '/' ? '' : url.pathname}`;
}
