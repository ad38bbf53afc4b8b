/** The parts of `negotiator` 1.x that we use. It has no types, and those of others describe 0.6, without `preferred`. */
declare module 'negotiator' {
  export class Negotiator {
    constructor(request: { headers: Readonly<Record<string, string | undefined>> });
    mediaTypes(available: readonly string[]): string[];
    /** The available encodings that the client accepts; equally preferred ones come in the order of `preferred`. */
    encodings(available: readonly string[], options: { preferred: readonly string[] }): string[];
  }
}
