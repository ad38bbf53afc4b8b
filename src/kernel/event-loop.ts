import { setImmediate as nextTurn } from 'node:timers/promises';

/** Keeps large work from holding the event loop: however many such works go on, all of them share one measure of each turn. */
export interface TurnMeasure {
  /** Whether the large works have had their share of this turn: what is left belongs in the next. */
  spent(): boolean;
  /** Gives others their turn when this one is spent. */
  breathe(): Promise<void>;
  /** Calls `go` in the next turn. */
  later(go: () => void): void;
}

interface TurnMeasureOptions {
  /** Milliseconds of a turn for all large works together. */
  readonly shareMs: number;
  /** Milliseconds of a clock that only goes forward. */
  readonly now?: () => number;
}

export function createTurnMeasure({ shareMs, now = () => performance.now() }: TurnMeasureOptions): TurnMeasure {
  let began: number | undefined;
  const begin = (): number => {
    began = now();
    // The turn after this one begins with what waits for its immediates, so this comes before all that is put off until then.
    setImmediate(() => {
      began = undefined;
    });
    return began;
  };
  const spent = (): boolean => now() - (began ?? begin()) >= shareMs;
  return {
    spent,
    breathe: async () => {
      if (spent()) await nextTurn();
    },
    later: (go) => void setImmediate(go),
  };
}

/** A fifth of what the event loop may be held: small requests, and collecting what they leave behind, need the rest. */
export const turn: TurnMeasure = createTurnMeasure({ shareMs: 10 });

/**
 * Does work of one kind that comes up during a turn of the event loop in a row, at the end of that turn. In a row it costs much less
 * than in between other work: the processor still has the code for it in its caches.
 * @returns puts work in the row; the work must not throw
 */
export function createRow(): (work: () => void) => void {
  let row: (() => void)[] = [];
  const doAll = (): void => {
    const works = row;
    row = [];
    for (const work of works) work();
  };
  return (work) => {
    if (row.length === 0) setImmediate(doAll);
    row.push(work);
  };
}
