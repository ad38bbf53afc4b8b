/** An implementation with one fault, and the case that must notice it. */
export interface Mutant<Mutation> {
  /** The case that it must fail. */
  readonly kills: string;
  readonly what: string;
  readonly mutation: Mutation;
  /** It breaks something that every case relies on, and may fail any number of them. */
  readonly breaksTransport?: true;
}
