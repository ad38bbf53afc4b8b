import type { Mask } from './mask.ts';

export interface Ask {
  /** Address, in which `{name}` stands for a value of the subject. */
  readonly to: string;
  /** Default GET. */
  readonly method?: string;
  /** A list repeats the header; undefined omits a default one. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Text and bytes are sent unchanged, anything else as JSON. */
  readonly body?: unknown;
  /** Name of the access token to send; without that token the case is skipped. */
  readonly as?: string | undefined;
}

export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly sent: Readonly<Record<string, string>>;
  readonly sentBody: Buffer;
  readonly status: number;
  /** Names in lower case; values of a repeated header are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** After decompression. */
  readonly body: Buffer;
  /** Parsed by `jsonIn`. */
  readonly json: unknown;
}

/** An exchange as kept for display: with the beginning of its bodies, never half a character. */
export interface ShownExchange extends Omit<Exchange, 'sentBody' | 'body' | 'json'> {
  readonly sentText: string;
  readonly text: string;
}

/** The part of a stream that was read until there was enough or the time was up. */
export interface StreamReading extends Exchange {
  readonly text: string;
}

export interface Client {
  /** @throws {Inconclusive} when no complete answer came {Skipped} without the token; the signal's reason */
  send(ask: Ask): Promise<Exchange>;
  /**
   * Reads a stream until `isEnough` accepts its text, or for `forMs`.
   * @throws as `send`
   */
  readStream(ask: Ask, isEnough: (text: string) => boolean, forMs: number): Promise<StreamReading>;
  readonly exchanges: readonly ShownExchange[];
  readonly show: (exchange: Exchange) => ShownExchange;
  readonly mask: Mask;
  close(): Promise<void>;
}
