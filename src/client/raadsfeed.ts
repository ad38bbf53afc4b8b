/** Publishes to the council feed from another Node application, as `koppelvlak feed publish` does. */

import { createPool } from '../database/pool.ts';
import { createLogger, type Logger } from '../lib/log.ts';
import { systemClock } from '../lib/time.ts';
import { type Change, type PubliceerRegel, prepareChange } from '../raadsfeed/domain/change.ts';
import type { Outcome } from '../raadsfeed/store/publish.ts';
import { createLineValidator } from '../raadsfeed/writer/line-validator.ts';
import { BATCH_CHANGES, createPublisher, type Publisher } from '../raadsfeed/writer/publisher.ts';

export type { Outcome, PubliceerRegel };

const SEALING_KEY = /^[A-Za-z0-9+/]{256}$/;

export interface FeedPublisherOptions {
  /** Address of the service's database, with a login that is or may act as the role `koppelvlak_dienst`. */
  readonly databaseUrl: string;
  /** The sealing key of the feed's proof log, if there is one: the output of `koppelvlak proof key --sealing`. It cannot sign. */
  readonly sealingKey?: string;
  readonly log?: Logger;
}

/** A line cannot be published, so nothing of its call was. */
export class RefusedLineError extends Error {
  readonly code = 'ERR_REFUSED_LINE';
  /** Position of the line in the call, from 0. */
  readonly index: number;
  readonly faults: readonly string[];
  constructor(index: number, faults: readonly string[]) {
    super(`line ${index} is refused: ${faults.join('; ')}`);
    this.name = 'RefusedLineError';
    this.index = index;
    this.faults = faults;
  }
}

export interface FeedPublisher {
  /**
   * Publishes lines in order; each 1000 are one transaction, stored whole or not at all. When it returns, every reader of the feed can find them, and
   * redacted content is physically gone.
   * @throws {RefusedLineError} before anything is published
   */
  publish(lines: readonly unknown[]): Promise<Outcome[]>;
  close(): Promise<void>;
}

/**
 * The caller closes it. @throws {TypeError} when `sealingKey` is not one
 * @example
 * const feed = createFeedPublisher({ databaseUrl: 'postgres://dienst@db/koppelvlak', sealingKey });
 * await feed.publish([{ op: 'upsert', resourceType: 'Vergadering', data }]);
 */
export function createFeedPublisher(options: FeedPublisherOptions): FeedPublisher {
  const { databaseUrl: url, sealingKey, log = createLogger('warn') } = options;
  if (sealingKey !== undefined && !SEALING_KEY.test(sealingKey))
    throw new TypeError('a sealing key is the output of `koppelvlak proof key --sealing`');
  const pool = createPool({
    url,
    size: 2,
    connectTimeoutMs: 10_000,
    statementTimeoutMs: 60_000,
    pooler: 'none',
    role: 'koppelvlak_dienst',
    applicationName: 'koppelvlak client',
    log,
  });
  let publisher: Publisher | undefined;
  /** The database confirms once that the key is its own, before anything is sealed with it. */
  const openPublisher = async (): Promise<Publisher> => {
    if (sealingKey === undefined) return createPublisher({ pool, clock: systemClock });
    const { faultOfKey, parseSealingKey, sealingKeyOf } = await import('../proof/keys.ts');
    const { createProofWriter } = await import('../proof/writer.ts');
    const key = parseSealingKey(sealingKey);
    const fault = await faultOfKey(pool, key);
    if (fault !== undefined) throw new Error(`sealingKey ${fault.wrong}; allowed: ${fault.allowed}`);
    const writer = createProofWriter(sealingKeyOf(key, 'raadsfeed'), 'raadsfeed');
    return createPublisher({ pool, clock: systemClock, proof: (name) => (name === 'raadsfeed' ? writer : undefined) });
  };
  const validate = createLineValidator();
  const prepare = (line: unknown, index: number): Change => {
    const checked = validate(asJson(line, index));
    if ('faults' in checked) throw new RefusedLineError(index, checked.faults);
    return prepareChange(checked.line);
  };
  return {
    async publish(lines) {
      const changes = lines.map(prepare);
      publisher ??= await openPublisher();
      const outcomes: Outcome[] = [];
      for (let from = 0; from < changes.length; from += BATCH_CHANGES) {
        outcomes.push(...(await publisher.publish(changes.slice(from, from + BATCH_CHANGES))));
      }
      return outcomes;
    },
    close: () => pool.end(),
  };
}

/** As it would be in a file: the published form is the JSON text, and its hash has no `undefined` member. @throws {RefusedLineError} */
function asJson(line: unknown, index: number): unknown {
  let text: string | undefined;
  try {
    text = JSON.stringify(line);
  } catch (error) {
    throw new RefusedLineError(index, [`is not JSON: ${error instanceof Error ? error.message : String(error)}`]);
  }
  if (text === undefined) throw new RefusedLineError(index, ['is not JSON']);
  return JSON.parse(text);
}
