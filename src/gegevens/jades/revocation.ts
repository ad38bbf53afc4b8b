// The policy: every certificate below the anchor must be known not to be revoked.
// @see RFC 5280 section 6.3, RFC 6960; docs/decisions/0003-path-validation.md
import { setTimeout as delay } from 'node:timers/promises';
import { BoundedMap } from './bounded-map.ts';
import type { Certificate } from './certificate.ts';
import { JadesError } from './errors.ts';
import type { RevocationSource } from './revocation-source.ts';
import { isWorthKeeping, type RevocationStatus, refreshTime, retryMs, type Subject } from './revocation-status.ts';

/** `hard`: no answer means refused; `soft`: no answer is taken for good, a revocation never is. */
export type RevocationMode = 'hard' | 'soft';

export interface RevocationOptions {
  readonly mode: RevocationMode;
  readonly now: () => Date;
  readonly ask: RevocationSource;
  /** Milliseconds that one verification waits at most; what comes later is kept for the next. */
  readonly deadlineMs: number;
  /** Takes why a refresh ahead of the end failed; the kept answer goes on. */
  readonly refreshFailed: (reason: unknown) => void;
}

/** @param path leaf first, anchor last. @throws JadesError certificate-revoked, revocation-unknown */
export type RevocationCheck = (path: readonly Certificate[]) => Promise<void>;

interface Kept {
  readonly status: RevocationStatus;
  refreshAt: Date;
}

const maxKeptBytes = 1024 * 1024;
const keptBytes = 500;

export function createRevocationCheck({
  mode,
  now,
  ask,
  deadlineMs,
  refreshFailed,
}: RevocationOptions): RevocationCheck {
  const kept = new BoundedMap<Kept>(maxKeptBytes, (key) => 2 * key.length + keptBytes);
  const underWay = new Map<string, Promise<RevocationStatus>>();

  const keep = (key: string, status: RevocationStatus): void => {
    if (isWorthKeeping(status.validUntil, now())) {
      kept.set(key, { status, refreshAt: status.refreshAt ?? refreshTime(now(), status.validUntil) });
    } else {
      kept.delete(key);
    }
  };
  /** An answer that came when nobody waited for it any more: never in place of a revocation that is known. */
  const keepLate = (key: string, status: RevocationStatus): void => {
    if (kept.get(key)?.status.revoked !== true) keep(key, status);
  };

  const fetchStatus = (key: string, subject: Subject): Promise<RevocationStatus> => {
    const running = underWay.get(key);
    if (running !== undefined) return running;
    const asking = ask(subject, (status) => keepLate(key, status))
      .then((status) => {
        keep(key, status);
        return status;
      })
      .finally(() => underWay.delete(key));
    underWay.set(key, asking);
    return asking;
  };

  const statusOf = (subject: Subject): Promise<RevocationStatus> => {
    const key = `${subject.certificate.thumbprint} ${subject.issuer.thumbprint}`;
    const entry = kept.get(key);
    if (entry === undefined || now() >= entry.status.validUntil) return fetchStatus(key, subject);
    if (now() >= entry.refreshAt) {
      entry.refreshAt = new Date(now().getTime() + retryMs);
      // The kept answer stands until its own end; a refresh that fails is tried again later.
      fetchStatus(key, subject).catch(refreshFailed);
    }
    return Promise.resolve(entry.status);
  };

  return async (path) => {
    const ended = new AbortController();
    const deadline = delay(deadlineMs, undefined, { signal: ended.signal }).then(() => {
      throw new Error(`no answer within ${deadlineMs} ms`);
    });
    const subjects = path.slice(0, -1).flatMap((certificate, index) => {
      const issuer = path[index + 1];
      return issuer === undefined ? [] : [{ certificate, issuer }];
    });
    const outcomes = await Promise.allSettled(subjects.map((subject) => Promise.race([statusOf(subject), deadline])));
    ended.abort();
    judge(outcomes, mode);
  };
}

/** A revocation weighs more than an answer that is missing. */
function judge(outcomes: readonly PromiseSettledResult<RevocationStatus>[], mode: RevocationMode): void {
  if (outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value.revoked)) {
    throw new JadesError('certificate-revoked', 'Een certificaat in het pad is ingetrokken.');
  }
  const unknown = outcomes.find((outcome) => outcome.status === 'rejected');
  if (unknown === undefined || mode === 'soft') return;
  const detail = 'Van een certificaat in het pad is niet vast te stellen of het is ingetrokken.';
  throw new JadesError('revocation-unknown', detail, { cause: unknown.reason });
}
