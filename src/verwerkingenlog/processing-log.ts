import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { type Db, pipelinedTransaction, type Sent } from '../database/transaction.ts';
import { createOneAtATime } from '../lib/scheduling.ts';
import { type Clock, moment } from '../lib/time.ts';
import { consumerTerm, entryFromHeaders } from '../plugins/processing-headers.ts';
import type { OwnEntry, ProcessingAuthor, ProcessingLog } from '../plugins/processing-log.ts';
import { repeatWork } from '../plugins/repeated-work.ts';
import type { ProofWriter } from '../proof/proof-log.ts';
import type { Config } from '../settings/config.ts';
import { createAppendCounters, createAppender } from './append.ts';
import { createSerialChanges } from './changes.ts';
import { type IdentityKeys, toStoreWithinBudget } from './domain/encryption.ts';
import { type Aanroep, type Actie, actieOf, eersteVersie, newActieId } from './domain/verwerkingsactie.ts';
import { watchRetention } from './retention-runs.ts';
import {
  type Appended,
  createLatestMoment,
  type LatestMoment,
  openVersionStore,
  type QueueForward,
  type VersionStore,
  withMonths,
} from './store/append.ts';
import { forgetIdempotency } from './store/idempotency.ts';
import { watchKeys } from './store/keys.ts';
import { makeMonths } from './store/months.ts';

interface ActieLog extends ProcessingLog {
  readonly keys: IdentityKeys;
  readonly keyWatch: Awaited<ReturnType<typeof watchKeys>>;
  readonly latestMoment: LatestMoment;
  readonly store: VersionStore;
  /** New versions are queued for another logbook. */
  readonly forwards: boolean;
  readonly append: ReturnType<typeof createAppender>['append'];
  count(result: Appended): void;
  /**
   * Sends an entry of the service itself behind work in the transaction of `db`; the commit may follow at once.
   * @throws {DatabaseError} also when its month has no partition yet: see `withMonths`
   */
  sendOwn<T>(db: Db, work: Promise<T>, entry: OwnEntry, author: ProcessingAuthor): Promise<Sent<T>>;
  readonly changes: ReturnType<typeof createSerialChanges>;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Present if any interface that processes personal data is served. */
    readonly processingLog: ProcessingLog;
    /** `processingLog` with the operations that only the processing log interface uses. */
    readonly actieLog: ActieLog;
  }
}

const UPKEEP_MS = 3_600_000;

/** `app.processingLog`, for all areas that process personal data. @throws {ConfigError} when the keys are not those that the log was written with */
export const processingLog = fp(
  async (app: FastifyInstance, { forward }: { readonly forward?: QueueForward | undefined }) => {
    const { settings: config, clock, metrics } = app;
    const { appendPool: pool, logPool } = app.database;
    const keyWatch = await watchKeys(pool, config, app.log);
    const { keys } = keyWatch;
    // One action about very many persons at a time in the whole process, appends and changes together.
    const large = createOneAtATime();
    const store = await openVersionStore(pool, forward);
    const forwards = forward !== undefined;
    const count = createAppendCounters(metrics);
    const { append, idle } = createAppender(app, { keys, keyWatch, store, count, forwards }, large);
    const addOwn = createOwnEntries(clock, config.verwerkingenlog, app.proof('verwerkingen'), { keys, store, count });

    async function sendOwn<T>(db: Db, work: Promise<T>, entry: OwnEntry, author: ProcessingAuthor): Promise<Sent<T>> {
      // Both are awaited below; until then a failure must not count as unhandled.
      work.catch(() => undefined);
      const { result: added } = await addOwn(db, entry, author);
      added.catch(() => undefined);
      // Failed work fails the entry too, but only with the end of the transaction: the work has the reason.
      const result = work.then(async (value) => {
        await added;
        return value;
      });
      // All of several statements must be answered before the commit is sent.
      if (!store.isOneStatement) await result;
      return { result };
    }

    const actieLog: ActieLog = {
      keys,
      keyWatch,
      latestMoment: createLatestMoment(pool),
      store,
      forwards,
      append,
      count,
      sendOwn,
      changes: createSerialChanges(logPool, config.verwerkingenlog.changesWaiting, large),
      record: (recordPool, work, entry, author) =>
        withMonths({ pool, clock }, () =>
          pipelinedTransaction(recordPool, async (db) => sendOwn(db, (await work(db)).result, entry, author)),
        ),
    };
    app.decorate('processingLog', actieLog);
    app.decorate('actieLog', actieLog);
    // Without its keys the log serves nothing; a council feed beside it needs none.
    const vital = !config.server.areas.includes('raadsfeed');
    app.readiness.push({ vital, ...keyWatch.check }, watchRetention(pool, metrics, clock));
    repeatWork(app, {
      everyMs: UPKEEP_MS,
      failure: 'maintenance of the processing log failed; it will be retried',
      step: async () => {
        // Ahead; a month that is missing nevertheless is created by the first append that needs it.
        await makeMonths(pool, clock.now());
        await forgetIdempotency(pool, clock.now());
        return 'done';
      },
    });
    app.addHook('onClose', async () => {
      await idle();
      await keyWatch.stop();
    });
  },
  { name: 'processing-log', dependencies: ['service', 'operations', 'metrics', 'database', 'proof-writers'] },
);

/** The result adds an entry of the service itself in the transaction of `db`, and resolves when it was sent. */
export function createOwnEntries(
  clock: Clock,
  rules: OwnRules,
  writer: ProofWriter | undefined,
  { keys, store, count }: Pick<ActieLog, 'keys' | 'store' | 'count'>,
): (db: Db, entry: OwnEntry, author: ProcessingAuthor) => Promise<Sent<void>> {
  return async (db, entry, author) => {
    const now = clock.now();
    const auteur = { door: author.subject, verzoekId: author.requestId };
    const versie = eersteVersie(ownActie(entry, rules), newActieId(now), moment(now), auteur, null, aanroepOf(author));
    const own = { ...(await toStoreWithinBudget(writer, versie, keys)), trace: author.trace };
    return { result: store.add(db, [own]).then((added) => added.forEach(count)) };
  };
}

/** The activity that the register begins with, as its migration enters it. */
const DEFAULT_ACTIVITY = '7d9f3c52-6b0e-4a5d-8f4e-2c1a90b6d3e7';

type OwnRules = Pick<Config['verwerkingenlog'], 'ownRetention' | 'ownActivities'>;

/** The consumer cannot influence it: its processing is always new, so that it can be found, lifted and retained like any other. */
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

/** The trace id is stored as a UUID, so that it can be found by the bytes in LDV. */
function aanroepOf({ trace, fscTransactionId }: ProcessingAuthor): Aanroep {
  return {
    traceId: trace.traceId.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
    spanId: trace.spanId,
    ouderSpanId: trace.parentSpanId ?? null,
    fscTransactieId: fscTransactionId ?? null,
  };
}
