/** What the verifier writes: trouble with the issuer's keys, never a token. A pino logger is one. */
export type VerifierLog = { warn(fields: object, message: string): void };
