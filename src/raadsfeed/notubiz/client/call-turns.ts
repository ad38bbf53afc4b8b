/**
 * Turns for calls to one supplier, shared by everything that calls it: instances of a service, and commands beside them. Without
 * them the limits hold for one process.
 */
export interface CallTurns {
  /** Takes a turn, if one is free and the supplier did not ask to be left alone. */
  take(): Promise<CallTurn>;
  /** Nobody gets a turn for this long (milliseconds). Never throws. */
  closeFor(wait: number): Promise<void>;
  /** Stops keeping turns alive. */
  close(): void;
}

export type CallTurn =
  /** Never throws: a turn that cannot be given back runs out by itself. */
  | { readonly kind: 'taken'; readonly giveBack: () => Promise<void> }
  /** All of them are taken. */
  | { readonly kind: 'busy' }
  /** The supplier asked to be left alone, for so many milliseconds more. */
  | { readonly kind: 'closed'; readonly wait: number };
