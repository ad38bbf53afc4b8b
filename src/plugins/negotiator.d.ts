/** What we use of `negotiator` 1.x, which has no types; those of others describe 0.6, without `preferred`. */
declare module 'negotiator' {
  export class Negotiator {
    constructor(request: { headers: Readonly<Record<string, string | undefined>> });
    /** Which of the available types the client accepts, the most wanted first. */
    mediaTypes(available: readonly string[]): string[];
    /** Which of the available encodings the client accepts; of those that it wants as much, ours come in the order of `preferred`. */
    encodings(available: readonly string[], options: { preferred: readonly string[] }): string[];
  }
}
