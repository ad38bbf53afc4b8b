/** Requests of a suite and what came of them. */
import type { Mask } from './mask.ts';

/** A request, as cases write it down. */
export interface Ask {
  /** Address, in which `{name}` is a value of the subject. */
  readonly to: string;
  /** Default GET. */
  readonly method?: string;
  /** A list sends the header as often; undefined leaves out one that is usual. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Text and bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown;
  /** Name of the access token that goes along; without it the case is skipped. */
  readonly as?: string;
}

/** A request and its answer. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly sent: Readonly<Record<string, string>>;
  readonly sentBody: Buffer;
  readonly status: number;
  /** Names in lower case; one that came more than once is joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** After decompression. */
  readonly body: Buffer;
  /** As `jsonIn` reads the body. */
  readonly json: unknown;
}

/** An exchange as it is kept to be shown: with the beginning of what it carried, never half a character. */
export interface ShownExchange extends Omit<Exchange, 'sentBody' | 'body' | 'json'> {
  readonly sentText: string;
  readonly text: string;
}

/** What was read of a stream until enough had come or the time was over. */
export interface StreamReading extends Exchange {
  readonly text: string;
}

export interface Client {
  /** @throws {Inconclusive} when no complete answer came {Skipped} without the token; the signal's reason */
  send(ask: Ask): Promise<Exchange>;
  /** Reads a stream until `isEnough` of its text, or for `forMs`. @throws as `send` */
  readStream(ask: Ask, isEnough: (text: string) => boolean, forMs: number): Promise<StreamReading>;
  /** Every exchange so far. */
  readonly exchanges: readonly ShownExchange[];
  /** What is kept of an exchange to be shown. */
  readonly show: (exchange: Exchange) => ShownExchange;
  readonly mask: Mask;
  close(): Promise<void>;
}
