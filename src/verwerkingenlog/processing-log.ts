/** Opens and maintains the processing log, and makes the entries of the service itself: what it did with personal data, and who read the log. */

import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type pg from 'pg';
import { pipelinedTransaction } from '../database/transaction.ts';
import { OIN } from '../lib/patterns.ts';
import { Problem } from '../lib/problem.ts';
import { createOneAtATime } from '../lib/scheduling.ts';
import type { Clock } from '../lib/time.ts';
import { consumerTerm, entryFromHeaders, type ProcessingContext } from '../plugins/processing-headers.ts';
import type { OwnEntry, ProcessingAuthor, ProcessingLog } from '../plugins/processing-log.ts';
import type { ProofWriter } from '../proof/proof-log.ts';
import type { ActieLog } from './actie-log.ts';
import { createAppender } from './append.ts';
import { createSerialChanges } from './changes.ts';
import { sealedWithinBudget } from './domain/encryption.ts';
import { type Aanroep, type Actie, actieOf, eersteVersie, newActieId } from './domain/verwerkingsactie.ts';
import { watchRetention } from './retention-runs.ts';
import {
  type Append,
  createAppendCounters,
  createLatestMoment,
  openVersionStore,
  type QueueForward,
  withMonths,
} from './store/append.ts';
import { forgetIdempotency } from './store/idempotency.ts';
import { watchKeys } from './store/keys.ts';
import { makeMonths } from './store/months.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The log of processing of personal data; present if any interface that processes it is served. */
    readonly processingLog: ProcessingLog;
    /** `processingLog` with the operations that only the processing log interface uses. */
    readonly actieLog: ActieLog;
  }
}

/** Opens the processing log for all interfaces that process personal data: `app.processingLog`. */
export const processingLog = fp(
  async (app: FastifyInstance, { forward }: { readonly forward?: QueueForward | undefined }) => {
    const log = await openProcessingLog(app, forward);
    app.decorate('processingLog', log);
    app.decorate('actieLog', log);
    // Without its keys the log serves nothing; a council feed beside it needs none.
    const vital = !app.settings.server.areas.includes('raadsfeed');
    app.readiness.push(...log.checks.map((check) => ({ vital, ...check })));
    app.addHook('onClose', log.close);
  },
  { name: 'processing-log', dependencies: ['service', 'operations', 'metrics', 'database', 'proof-writers'] },
);

/**
 * Opens the processing log, with its upkeep and retention.
 * @throws {ConfigError} when the configured keys are not those that the log was written with
 */
async function openProcessingLog(app: FastifyInstance, forward: QueueForward | undefined): Promise<ActieLog> {
  const { settings: config, clock, metrics } = app;
  const { appendPool: pool, logPool } = app.database;
  const watch = await watchKeys(pool, config, app.log);
  const { keys, requireAll: requireAllKeys, lockHashing } = watch;
  // One action about very many persons at a time in the whole process, appends and changes together.
  const large = createOneAtATime();
  const store = await openVersionStore(pool, forward);
  const forwards = forward !== undefined;
  const count = createAppendCounters(app.metrics);
  const { append, idle } = createAppender(app, { keys, requireAllKeys, lockHashing, store, count, forwards }, large);
  const upkeep = startUpkeep(app);
  const writer = app.proof('verwerkingen');
  const { makeOwn, appendOwn } = createOwnEntries(clock, config.verwerkingenlog, writer, { keys, store, count });
  return {
    keys,
    requireAllKeys,
    lockHashing,
    latestMoment: createLatestMoment(pool),
    store,
    forwards,
    append,
    count,
    changes: createSerialChanges(logPool, config.verwerkingenlog.changesWaiting, large),
    checks: [watch.check, watchRetention(pool, metrics, clock)],
    ...{ makeOwn, appendOwn },
    record: (recordPool, work, entry, author) =>
      withMonths({ pool, clock }, () =>
        pipelinedTransaction(recordPool, async (db) => {
          const own = await makeOwn(entry, author);
          const { result } = await work(db);
          const both = Promise.all([result, appendOwn(db, own)]).then(([value]) => value);
          // More than one statement, each after the answer of the one before it.
          if (!store.isOneStatement) await both;
          return { result: both };
        }),
      ),
    async close() {
      await idle();
      await upkeep.stop();
      await watch.stop();
    },
  };
}

export function createOwnEntries(
  clock: Clock,
  rules: OwnRules,
  writer: ProofWriter | undefined,
  { keys, store, count }: Pick<ActieLog, 'keys' | 'store' | 'count'>,
): Pick<ActieLog, 'makeOwn' | 'appendOwn'> {
  return {
    async makeOwn(entry, author) {
      const now = clock.now();
      const auteur = { door: author.subject, verzoekId: author.requestId };
      const actie = ownActie(entry, rules);
      const versie = eersteVersie(actie, newActieId(now), now, auteur, null, aanroepOf(author));
      const made = await sealedWithinBudget(writer, versie, keys);
      return { ...made, trace: author.trace };
    },
    async appendOwn(db, own) {
      for (const result of await store.add(db, [own])) count(result);
    },
  };
}

const UPKEEP_MS = 3_600_000;

/**
 * Creates partitions ahead and deletes old idempotency keys: at once, and every hour. A failure is logged and retried the next time; a month that is
 * missing nevertheless is created by the first append that needs it.
 */
function startUpkeep({ database, clock, log }: FastifyInstance): { stop: () => Promise<void> } {
  const pool = database.appendPool;
  const work = async (): Promise<void> => {
    try {
      await makeMonths(pool, clock.now());
      await forgetIdempotency(pool, clock.now());
    } catch (err) {
      log.warn({ err }, 'maintenance of the processing log failed; it will be retried');
    }
  };
  let running = work();
  const timer = setInterval(() => {
    running = running.then(work);
  }, UPKEEP_MS).unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

/** The activity that the register begins with, as its migration enters it. */
const DEFAULT_ACTIVITY = '7d9f3c52-6b0e-4a5d-8f4e-2c1a90b6d3e7';

interface OwnRules {
  /** Shortest term of an own entry. */
  readonly ownRetention: string;
  /** The activity of each kind; one that is missing has the default. */
  readonly ownActivities: ReadonlyMap<string, string>;
}

/**
 * An entry of the service itself as an action. The consumer cannot influence it: its processing is always new, so that it can be found, lifted and
 * retained like any other, and its term is never shorter than our own.
 */
function ownActie({ kind, consumer, confidential, ...done }: OwnEntry, rules: OwnRules): Actie {
  const hidden = confidential || consumer.vertrouwelijkheid === 'vertrouwelijk';
  return actieOf({
    ...entryFromHeaders(consumer),
    ...done,
    verwerkingId: randomUUID(),
    verwerkingsactiviteitId: rules.ownActivities.get(kind) ?? DEFAULT_ACTIVITY,
    vertrouwelijkheid: hidden ? 'vertrouwelijk' : 'normaal',
    bewaartermijn: consumerTerm(done.tijdstip, consumer.bewaartermijn, rules.ownRetention),
  });
}

/** The call of an own entry. Its trace id is stored as a UUID, so that it can be found by the bytes in LDV. */
function aanroepOf({ trace, fscTransactionId }: ProcessingAuthor): Aanroep {
  return {
    traceId: trace.traceId.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
    spanId: trace.spanId,
    ouderSpanId: trace.parentSpanId ?? null,
    fscTransactieId: fscTransactionId ?? null,
  };
}

/** Name of the action of reading the log. */
export const READING = 'Raadplegen verwerkingenlog';

/** The result of a reading, for the entry about it. */
export interface Reading<T> {
  /** May still be running: the entry is sent without waiting for it. */
  readonly result: T | Promise<T>;
  readonly persons: readonly { readonly soortObjectId: string; readonly objectId: string }[];
  /** Whether any of the actions that were read is confidential: then so is the fact that somebody read it. */
  readonly confidential: boolean;
}

export interface Reader {
  readonly context: ProcessingContext;
  readonly author: ProcessingAuthor;
  /** A description of the query that a citizen understands. */
  readonly handelingNaam: string;
  /** Fires when the client disconnects: reading then stops, and no entry is logged. */
  readonly signal: AbortSignal;
}

export type LoggedRead = <T>(reader: Reader, read: (db: pg.PoolClient) => Promise<Reading<T>>) => Promise<T>;

/** Reads the log and stores an entry about it in one transaction: without the entry nothing is answered. */
export function createLoggedRead({ settings, database, clock, actieLog: log }: FastifyInstance): LoggedRead {
  const { appendPool: pool, logPool } = database;
  const { logReads } = settings.verwerkingenlog;
  const { fscPeerId } = settings.tokens;
  const uitvoerder = fscPeerId !== undefined && OIN.test(fscPeerId) ? fscPeerId : undefined;

  /** The entry is sent behind the queries of the reading, and the commit behind the entry. */
  function attempt<T>(reader: Reader, read: (db: pg.PoolClient) => Promise<Reading<T>>): Promise<T> {
    const readAndLog = async (db: pg.PoolClient) => {
      const reading = await read(db).catch(async (error: unknown) => {
        // A missing record may have been stored with a key that this instance lacks.
        if (error instanceof Problem) await log.requireAllKeys(db);
        throw error;
      });
      // Awaited with the rest; until then a failure must not count as unhandled.
      const result = Promise.resolve(reading.result);
      result.catch(() => undefined);
      const complete = log.requireAllKeys(db);
      complete.catch(() => undefined);
      const entry = logReads ? log.appendOwn(db, await makeEntry(reader, reading)) : undefined;
      // A failed reading fails the entry too, but only with the end of the transaction: the reading has the reason.
      entry?.catch(() => undefined);
      const both = result.then(async (value) => {
        await complete;
        await entry;
        return value;
      });
      // More than one statement, each after the answer of the one before it.
      if (!log.store.isOneStatement) await both;
      return { result: both };
    };
    return pipelinedTransaction(logPool, readAndLog, reader.signal);
  }

  function makeEntry(reader: Reader, reading: Reading<unknown>): Promise<Append> {
    const entry: OwnEntry = {
      kind: 'log',
      actieNaam: READING,
      handelingNaam: reader.handelingNaam,
      consumer: reader.context,
      confidential: reading.confidential,
      uitvoerder,
      systeem: 'Verwerkingenlog',
      tijdstip: clock.now(),
      verwerkteObjecten: reading.persons.map(({ soortObjectId, objectId }) => ({
        soortObjectId,
        objectId,
        soortenGegevens: ['Verwerkingsacties'],
      })),
    };
    return log.makeOwn(entry, reader.author);
  }

  return (reader, read) => withMonths({ pool, clock }, () => attempt(reader, read));
}
