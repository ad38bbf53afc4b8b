/** Conditions and sections of the operator's page and the health address: read independently and kept, so a hanging database delays nothing. */
import { reasonOf } from '../../lib/log.ts';
import type { OperatorSection, ReadinessCheck, ReadinessResult } from '../../lib/operations.ts';
import { shareRuns, withTimeout } from '../../lib/scheduling.ts';
import type { Clock } from '../../lib/time.ts';

/** Milliseconds between checks of the conditions, and so the precision of "since". */
export const WATCH_MS = 3000;
/** A check that takes longer (milliseconds) counts as failed, because its caller has a time-out too. */
const CHECK_TIMEOUT_MS = 3000;

export interface Condition {
  readonly name: string;
  readonly runbook: string;
  readonly ok: boolean;
  readonly detail: string | undefined;
  readonly warning: string | undefined;
  readonly state: 'well' | 'warning' | 'failed';
  /** When a check first reported it, at most `WATCH_MS` and its time-out after it began. */
  readonly since: Date;
}

/** The paragraph of the runbook for conditions without one of their own. */
const OTHER_CONDITIONS = 'other-conditions';

export type Conditions = ReturnType<typeof createConditions>;

export function createConditions(checks: () => readonly ReadinessCheck[], clock: Clock) {
  const states = new Map<string, Pick<Condition, 'state' | 'since'>>();
  /** Checks that have not ended: a hanging database gets no second query. */
  const checking = shareRuns(async (check: ReadinessCheck) => await check.check());
  let last: { readonly found: readonly Condition[]; readonly at: Date } | undefined;

  const runCheck = async (check: ReadinessCheck) => {
    const { name, vital = true, runbook = OTHER_CONDITIONS } = check;
    const { ok, detail, warning } = await resultOf(checking.run(check));
    return ok || vital
      ? { name, runbook, ok, detail, warning }
      : { name, runbook, ok: true, detail: undefined, warning: detail };
  };

  const rounds = shareRuns(async (): Promise<readonly Condition[]> => {
    const results = await Promise.all(checks().map(runCheck));
    const at = clock.now();
    const found = results.map((result) => {
      const state = stateOf(result);
      const known = states.get(result.name);
      const dated = known?.state === state ? known : { state, since: at };
      states.set(result.name, dated);
      return { ...result, ...dated };
    });
    last = { found, at };
    return found;
  });

  return {
    run: rounds.run,
    seen: () => last,
  };
}

function stateOf({ ok, warning }: Pick<Condition, 'ok' | 'warning'>): Condition['state'] {
  if (!ok) return 'failed';
  return warning === undefined ? 'well' : 'warning';
}

async function resultOf(work: Promise<ReadinessResult>): Promise<ReadinessResult> {
  try {
    return await withTimeout(CHECK_TIMEOUT_MS, 'the check', work);
  } catch (error) {
    return { ok: false, detail: reasonOf(error) };
  }
}

type Content = Awaited<ReturnType<OperatorSection['read']>>;

export interface SeenSection {
  readonly title: string;
  readonly content?: Content;
  /** When it was read; absent when that was just now. */
  readonly at?: Date;
  readonly fault?: string;
}

export function createSectionReader(
  clock: Clock,
): (section: OperatorSection, withinMs: number) => Promise<SeenSection> {
  const last = new Map<OperatorSection, { readonly content: Content; readonly at: Date }>();
  const reading = shareRuns(async (section: OperatorSection) => {
    const content = await section.read();
    last.set(section, { content, at: clock.now() });
    return content;
  });
  return async (section, withinMs) => {
    const { title } = section;
    try {
      const content = await withTimeout(withinMs, 'the section', reading.run(section));
      return { title, content };
    } catch (error) {
      return { title, ...last.get(section), fault: reasonOf(error) };
    }
  };
}
