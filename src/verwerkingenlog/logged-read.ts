import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { pipelinedTransaction, type Sent } from '../database/transaction.ts';
import { OIN } from '../lib/patterns.ts';
import { Problem } from '../lib/problem.ts';
import { callerOf } from '../plugins/auth.ts';
import { requestClosedSignal } from '../plugins/connections.ts';
import { fscTransaction, traceOf } from '../plugins/headers.ts';
import type { ProcessingContext } from '../plugins/processing-headers.ts';
import type { OwnEntry, ProcessingAuthor } from '../plugins/processing-log.ts';
import { withMonths } from './store/append.ts';

export const READING = 'Raadplegen verwerkingenlog';

export interface Reading<T> {
  /** May still be running: the entry is sent without waiting for it. */
  readonly result: T | Promise<T>;
  readonly persons: readonly { readonly soortObjectId: string; readonly objectId: string }[];
  /** An action that was read is confidential: then so is the fact that somebody read it. */
  readonly confidential: boolean;
}

export interface Reader {
  readonly context: ProcessingContext;
  readonly author: ProcessingAuthor;
  /** Citizens read it. */
  readonly handelingNaam: string;
  /** Fires when the client disconnects: reading then stops, and no entry is logged. */
  readonly signal: AbortSignal;
}

export function readerOf(request: FastifyRequest, reply: FastifyReply, handelingNaam: string): Reader {
  return {
    context: request.server.verwerkingenlog.consumerOf(request),
    author: {
      subject: callerOf(request).subject,
      requestId: request.id,
      trace: traceOf(request),
      ...fscTransaction(request),
    },
    handelingNaam,
    signal: requestClosedSignal(reply),
  };
}

export type LoggedRead = <T>(reader: Reader, read: (db: pg.PoolClient) => Promise<Reading<T>>) => Promise<T>;

/** Reads the log and stores an entry about it in one transaction: without the entry nothing is answered. */
export function createLoggedRead({ settings, database, clock, actieLog }: FastifyInstance): LoggedRead {
  const { appendPool: pool, logPool } = database;
  const { logReads } = settings.verwerkingenlog;
  const { fscPeerId } = settings.tokens;
  const uitvoerder = fscPeerId !== undefined && OIN.test(fscPeerId) ? fscPeerId : undefined;

  const entryOf = (reader: Reader, { persons, confidential }: Reading<unknown>): OwnEntry => ({
    kind: 'log',
    actieNaam: READING,
    handelingNaam: reader.handelingNaam,
    consumer: reader.context,
    confidential,
    uitvoerder,
    systeem: 'Verwerkingenlog',
    tijdstip: clock.now(),
    verwerkteObjecten: persons.map(({ soortObjectId, objectId }) => ({
      soortObjectId,
      objectId,
      soortenGegevens: ['Verwerkingsacties'],
    })),
  });

  /** The entry is sent behind the queries of the reading, and the commit behind the entry. */
  async function readAndLog<T>(
    db: pg.PoolClient,
    reader: Reader,
    read: (db: pg.PoolClient) => Promise<Reading<T>>,
  ): Promise<Sent<T>> {
    const reading = await read(db).catch(async (error: unknown) => {
      // A missing record may have been stored with a log key that this instance lacks.
      if (error instanceof Problem) await actieLog.keyWatch.requireAll(db);
      throw error;
    });
    const complete = actieLog.keyWatch.requireAll(db);
    // Awaited with the reading; until then a failure must not count as unhandled.
    complete.catch(() => undefined);
    const result = Promise.resolve(reading.result).then(async (value) => {
      await complete;
      return value;
    });
    return logReads ? actieLog.sendOwn(db, result, entryOf(reader, reading), reader.author) : { result };
  }

  return (reader, read) =>
    withMonths({ pool, clock }, () =>
      pipelinedTransaction(logPool, (db) => readAndLog(db, reader, read), reader.signal),
    );
}
