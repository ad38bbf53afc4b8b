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

export interface TurnMeasureOptions {
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

/** As `items.map`, for so many that one turn is too short for them. */
export async function mapInTurns<T, R>(items: readonly T[], make: (item: T) => R): Promise<R[]> {
  const made: R[] = [];
  for (const item of items) {
    if (turn.spent()) await turn.breathe();
    made.push(make(item));
  }
  return made;
}
