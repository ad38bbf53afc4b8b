/** An implementation that is wrong in one thing, and the case that must notice. */
export interface Mutant<Mutation> {
  /** The case that it must fail. */
  readonly kills: string;
  readonly what: string;
  readonly mutation: Mutation;
  /** It breaks what every case stands on, and may fail any number of them. */
  readonly breaksTransport?: true;
}
