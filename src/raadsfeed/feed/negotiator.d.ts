/** `negotiator` 1.1: the published types lack `preferred`. */
declare module 'negotiator' {
  class Negotiator {
    constructor(request: { headers: Readonly<Record<string, string>> });
    /** Those of `available` that the client takes, best first; among equals in the order of `preferred`. */
    encodings(available: readonly string[], options?: { readonly preferred: readonly string[] }): string[];
  }
  export = Negotiator;
}
