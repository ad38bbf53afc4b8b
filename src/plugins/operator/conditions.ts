/** Runs the readiness checks, and remembers since when each condition is as it is. */
import { reasonOf } from '../../lib/log.ts';
import type { Clock } from '../../lib/time.ts';
import type { ReadinessCheck, ReadinessResult } from '../../seams/operations.ts';

/** A check that takes longer (milliseconds) counts as failed: the caller has a time-out too. */
const CHECK_TIMEOUT_MS = 3000;

export interface Condition extends ReadinessResult {
  readonly name: string;
}

export interface DatedCondition extends Condition {
  readonly state: 'well' | 'warning' | 'failed';
  /** When a check first found it so; the process may have seen it later than it happened. */
  readonly since: Date;
}

export interface Conditions {
  /** Runs every check. */
  run(): Promise<DatedCondition[]>;
}

export function createConditions(checks: readonly ReadinessCheck[], clock: Clock): Conditions {
  const states = new Map<string, { readonly state: DatedCondition['state']; readonly since: Date }>();
  return {
    async run() {
      const found = await Promise.all(checks.map(runCheck));
      return found.map((condition) => {
        const state: DatedCondition['state'] = !condition.ok
          ? 'failed'
          : condition.warning === undefined
            ? 'well'
            : 'warning';
        const known = states.get(condition.name);
        const dated = known?.state === state ? known : { state, since: clock.now() };
        states.set(condition.name, dated);
        return { ...condition, ...dated };
      });
    },
  };
}

async function runCheck(check: ReadinessCheck): Promise<Condition> {
  const { name, vital = true } = check;
  const { ok, detail, warning } = await resultOf(check);
  if (!ok && !vital) return { name, ok: true, ...(detail === undefined ? {} : { warning: detail }) };
  return { name, ok, ...(detail === undefined ? {} : { detail }), ...(warning === undefined ? {} : { warning }) };
}

/** A check that throws or takes too long fails. */
async function resultOf({ check }: ReadinessCheck): Promise<ReadinessResult> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), CHECK_TIMEOUT_MS);
  });
  try {
    return await Promise.race([check(), late]);
  } catch (error) {
    return { ok: false, detail: reasonOf(error) };
  } finally {
    clearTimeout(timer);
  }
}
