import type { Readable, Writable } from 'node:stream';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The parts of its process that a command uses; `process` itself is one. */
export interface Terminal {
  readonly env: Environment;
  /** Overrides of constants of the configuration, by group and name; only tests have them. */
  readonly overrides?: Readonly<Record<string, object>>;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean };
  exitCode?: number | string | null | undefined;
  exit(code: number): void;
  once(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): this;
  off(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): this;
}
