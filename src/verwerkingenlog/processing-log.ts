/** Opens and maintains the processing log, and adds the entries of the service itself. The entry about a reading of the log is in `logged-read.ts`. */

import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { Pool } from '../database/pool.ts';
import { type Db, pipelinedTransaction, type Sent } from '../database/transaction.ts';
import type { ReadinessCheck } from '../lib/operations.ts';
import { createOneAtATime } from '../lib/scheduling.ts';
import type { Clock } from '../lib/time.ts';
import { consumerTerm, entryFromHeaders } from '../plugins/processing-headers.ts';
import type { OwnEntry, ProcessingAuthor, ProcessingLog } from '../plugins/processing-log.ts';
import type { ProofWriter } from '../proof/proof-log.ts';
import { createAppender } from './append.ts';
import { createSerialChanges } from './changes.ts';
import { type IdentityKeys, toStoreWithinBudget } from './domain/encryption.ts';
import { type Aanroep, type Actie, actieOf, eersteVersie, newActieId } from './domain/verwerkingsactie.ts';
import { watchRetention } from './retention-runs.ts';
import {
  type Appended,
  createAppendCounters,
  createLatestMoment,
  type LatestMoment,
  type NewVersion,
  type QueueForward,
  type VersionStore,
  withMonths,
} from './store/append.ts';
import { openVersionStore } from './store/append-by-table.ts';
import { forgetIdempotency } from './store/idempotency.ts';
import { watchKeys } from './store/keys.ts';
import { makeMonths } from './store/months.ts';

interface ActieLog extends ProcessingLog {
  readonly keys: IdentityKeys;
  readonly keyWatch: Awaited<ReturnType<typeof watchKeys>>;
  readonly latestMoment: LatestMoment;
  readonly store: VersionStore;
  /** Whether new versions are queued for another logbook. */
  readonly forwards: boolean;
  readonly append: ReturnType<typeof createAppender>['append'];
  count(result: Appended): void;
  /** An entry of the service itself, to be added in a transaction. */
  makeOwn(entry: OwnEntry, author: ProcessingAuthor): Promise<NewVersion>;
  /** @throws {DatabaseError} also when its month has no partition yet: see `withMonths` */
  appendOwn(db: Db, own: NewVersion): Promise<void>;
  readonly changes: ReturnType<typeof createSerialChanges>;
  readonly checks: readonly ReadinessCheck[];
  close(): Promise<void>;
}

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
    const actieLog = await openProcessingLog(app, forward);
    app.decorate('processingLog', actieLog);
    app.decorate('actieLog', actieLog);
    // Without its keys the log serves nothing; a council feed beside it needs none.
    const vital = !app.settings.server.areas.includes('raadsfeed');
    app.readiness.push(...actieLog.checks.map((check) => ({ vital, ...check })));
    app.addHook('onClose', actieLog.close);
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
  const keyWatch = await watchKeys(pool, config, app.log);
  const { keys } = keyWatch;
  // One action about very many persons at a time in the whole process, appends and changes together.
  const large = createOneAtATime();
  const store = await openVersionStore(pool, forward);
  const forwards = forward !== undefined;
  const count = createAppendCounters(app.metrics);
  const { append, idle } = createAppender(app, { keys, keyWatch, store, count, forwards }, large);
  const upkeep = startUpkeep(app);
  const writer = app.proof('verwerkingen');
  const { makeOwn, appendOwn } = createOwnEntries(clock, config.verwerkingenlog, writer, { keys, store, count });

  function record<T>(
    recordPool: Pool,
    work: (db: Db) => Promise<Sent<T>>,
    entry: OwnEntry,
    author: ProcessingAuthor,
  ): Promise<T> {
    const attempt = async (db: Db): Promise<Sent<T>> => {
      const own = await makeOwn(entry, author);
      const { result } = await work(db);
      const both = Promise.all([result, appendOwn(db, own)]).then(([value]) => value);
      // `add` may send several statements; all must be answered before the commit is sent.
      if (!store.isOneStatement) await both;
      return { result: both };
    };
    return withMonths({ pool, clock }, () => pipelinedTransaction(recordPool, attempt));
  }

  return {
    keys,
    keyWatch,
    latestMoment: createLatestMoment(pool),
    store,
    forwards,
    append,
    count,
    changes: createSerialChanges(logPool, config.verwerkingenlog.changesWaiting, large),
    checks: [keyWatch.check, watchRetention(pool, metrics, clock)],
    ...{ makeOwn, appendOwn, record },
    async close() {
      await idle();
      await upkeep.stop();
      await keyWatch.stop();
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
      const made = await toStoreWithinBudget(writer, versie, keys);
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
function startUpkeep({ database, clock, log: logger }: FastifyInstance): { stop: () => Promise<void> } {
  const pool = database.appendPool;
  const work = async (): Promise<void> => {
    try {
      await makeMonths(pool, clock.now());
      await forgetIdempotency(pool, clock.now());
    } catch (err) {
      logger.warn({ err }, 'maintenance of the processing log failed; it will be retried');
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
