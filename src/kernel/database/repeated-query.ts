/**
 * One short statement, asked thousands of times a second. Through the pool most of its cost is the driver's: taking and giving back a
 * connection, building the messages, building rows. Here a connection is kept while the questions follow each other, and the messages
 * are the same bytes each time.
 */
import type pg from 'pg';
import { serialize } from 'pg-protocol';
import type { Pool } from './pool.ts';
import { UnnamedClient } from './unnamed-client.ts';

/** The connection goes back to the pool when nothing was asked for this time, in milliseconds; and at once when somebody waits for one. */
const IDLE_MS = 1000;
/** It goes back after this time in any case, in milliseconds: the pool renews connections, and only looks at those that come back. */
const HOLD_MS = 60_000;

/** A statement without parameters whose answer is one row with one text. */
export interface RepeatedStatement {
  readonly name: string;
  readonly text: string;
}

export interface RepeatedQuery {
  /**
   * Asks once. One question at a time: the next when this one was answered.
   * @returns the text, `undefined` when there is no row
   * @throws {Error} what the driver throws; the next question has another connection
   */
  ask(): Promise<string | undefined>;
  /** Gives the connection back, once the question that is under way was answered. */
  close(): void;
}

interface Held {
  readonly client: pg.PoolClient;
  readonly since: number;
}

export function createRepeatedQuery(pool: Pool, { name, text }: RepeatedStatement): RepeatedQuery {
  const prepared = new WeakSet<pg.PoolClient>();
  const parse = serialize.parse({ name, text });
  const run = (statement: string): Buffer =>
    Buffer.concat([serialize.bind({ statement }), serialize.execute(), serialize.sync()]);
  const again = run(name);
  const first = Buffer.concat([parse, again]);
  // Behind a transaction pooler the next question may meet another server process, which knows no name.
  const unnamed = Buffer.concat([serialize.parse({ text }), run('')]);
  let held: Held | undefined;
  let asking = false;
  let closed = false;

  const giveBack = (error?: Error): void => {
    const client = held?.client;
    held = undefined;
    client?.off('end', giveBackLost);
    client?.release(error);
  };
  const giveBackLost = (): void => giveBack(new Error('the connection was lost'));
  const idle = setTimeout(() => {
    if (!asking) giveBack();
  }, IDLE_MS);
  idle.unref();

  const takeHeld = (): pg.PoolClient | undefined => {
    if (held !== undefined && performance.now() - held.since > HOLD_MS) giveBack();
    return held?.client;
  };
  const take = async (): Promise<pg.PoolClient> => {
    held = { client: await pool.connect(), since: performance.now() };
    held.client.once('end', giveBackLost);
    return held.client;
  };
  const bytesFor = (client: pg.PoolClient): Buffer => {
    if (client instanceof UnnamedClient) return unnamed;
    return prepared.has(client) ? again : first;
  };

  return {
    async ask() {
      if (asking) throw new Error('the statement is being asked already');
      asking = true;
      try {
        // With a connection at hand the question is on its way before anything else is done in this turn.
        const client = takeHeld() ?? (await take());
        const value = await new Promise<string | undefined>((resolve, reject) => {
          client.query(new Question(bytesFor(client), resolve, reject));
        });
        prepared.add(client);
        return value;
      } catch (error) {
        giveBack(error instanceof Error ? error : new Error(String(error)));
        throw error;
      } finally {
        asking = false;
        if (closed || pool.waitingCount > 0) giveBack();
        else idle.refresh();
      }
    },
    close() {
      closed = true;
      clearTimeout(idle);
      if (!asking) giveBack();
    },
  };
}

/** What the driver calls back while the answer comes; see `Query` of `pg`. */
class Question implements pg.Submittable {
  readonly #bytes: Buffer;
  #value: string | undefined;
  /** The driver wraps it when it keeps a time limit of its own. */
  callback: (error: Error | null) => void;

  constructor(bytes: Buffer, resolve: (value: string | undefined) => void, reject: (error: Error) => void) {
    this.#bytes = bytes;
    this.callback = (error) => (error === null ? resolve(this.#value) : reject(error));
  }

  submit(connection: pg.Connection): void {
    connection.stream.write(this.#bytes);
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    this.#value = fields[0] ?? undefined;
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback(null);
  }

  handleError(error: Error): void {
    this.callback(error);
  }
}
