import { randomUUID } from 'node:crypto';
import { Counter } from 'prom-client';
import { longerDuration, shorterDuration } from '../kernel/duration.ts';
import { createOneAtATime } from '../kernel/one-at-a-time.ts';
import type { Platform } from '../kernel/platform.ts';
import { entryFromHeaders } from '../kernel/processing-headers.ts';
import type { OwnEntry, OwnKind, ProcessingEntry, ProcessingLog } from '../kernel/processing-log.ts';
import type { ReadinessCheck, ReadinessResult } from '../kernel/readiness.ts';
import { type AppendActie, createAppendActie } from './append.ts';
import { createSerialChanges, type SerialChanges } from './changes.ts';
import type { IdentityKeys } from './domain/identity-keys.ts';
import { type Actie, moment } from './domain/verwerkingsactie.ts';
import { startRetention } from './retention-schedule.ts';
import { readActiviteit } from './store/activiteiten.ts';
import { type Appended, forgetIdempotency } from './store/append.ts';
import { openIdentityKeys } from './store/keys.ts';
import { MONTHS_AHEAD, makeMonths } from './store/months.ts';

/** The activity that the register begins with (migration 0011). */
const DEFAULT_ACTIVITY = '7d9f3c52-6b0e-4a5d-8f4e-2c1a90b6d3e7';

/** As long as a consumer may ask an entry about itself to be kept. */
const LONGEST_ASKED = 'P20Y';

/** The processing log as area B itself uses it. */
export interface LogOfActies extends ProcessingLog {
  readonly keys: IdentityKeys;
  /** @see AppendActie.append */
  append: AppendActie['append'];
  /** Where what exists is changed. */
  readonly changes: SerialChanges;
  /** Counts what was appended, for who writes in a transaction of his own. */
  count(result: Appended): void;
  /** What operators should know of it. */
  readonly checks: readonly ReadinessCheck[];
  close(): Promise<void>;
}

/**
 * Opens the processing log: months are made ahead and old idempotency keys forgotten as long as it is open.
 * @throws {ConfigError} when the configured keys are not those that the log was written with
 */
export async function openProcessingLog(platform: Platform): Promise<LogOfActies> {
  const keys = await openIdentityKeys(platform.pool, platform.config.verwerkingenlog.key, 'write');
  if (keys.current === null) {
    platform.log.warn('no VERWERKINGENLOG_KEY: the processing log keeps persons’ identifiers as they come');
  }
  const rules = platform.config.verwerkingenlog;
  const count = countAppends(platform);
  // Of actions about very many persons the process works on one at a time, whoever asks for it.
  const large = createOneAtATime();
  const { append, idle } = createAppendActie(platform, keys, large, count);
  const maintenance = startMaintenance(platform);
  const retention = startRetention(platform);
  return {
    keys,
    changes: createSerialChanges(platform, large),
    append,
    count,
    checks: [retention.check, { name: 'own activities', vital: false, check: () => checkActivities(platform) }],
    async record(entry, { subject, requestId }) {
      await append(ownActie(entry, rules), { door: subject, verzoekId: requestId }, { isOwn: true });
    },
    async close() {
      await idle();
      await retention.stop();
      await maintenance.stop();
    },
  };
}

/** What of the configuration own entries go by. */
interface OwnRules {
  /** Shortest term of an own entry. */
  readonly ownRetention: string;
  /** The activity of each kind; one that is missing has the default. */
  readonly ownActivities: ReadonlyMap<string, string>;
}

/**
 * An entry of the service itself as an action. Who asks for personal data decides nothing about it: its processing is always new, so that
 * it can be found, lifted and kept like any other, and its term is never shorter than our own.
 */
export function ownActie({ kind, consumer, confidential, ...done }: OwnEntry, rules: OwnRules): Actie {
  const hidden = confidential || consumer.vertrouwelijkheid === 'vertrouwelijk';
  const asked = consumer.bewaartermijn ?? rules.ownRetention;
  return actieOf({
    ...entryFromHeaders(consumer),
    ...done,
    verwerkingId: randomUUID(),
    verwerkingsactiviteitId: ownActivity(kind, rules),
    vertrouwelijkheid: hidden ? 'vertrouwelijk' : 'normaal',
    bewaartermijn: longerDuration(
      done.tijdstip,
      rules.ownRetention,
      shorterDuration(done.tijdstip, asked, LONGEST_ASKED),
    ),
  });
}

function ownActivity(kind: OwnKind, { ownActivities }: OwnRules): string {
  return ownActivities.get(kind) ?? DEFAULT_ACTIVITY;
}

/** Own entries name activities that somebody can look up. One that is not in the register stops no delivery, but should be put there. */
async function checkActivities({ pool, config }: Platform): Promise<ReadinessResult> {
  const { verwerkingenlog } = config;
  const wanted = new Set((['shv', 'vs', 'log'] as const).map((kind) => ownActivity(kind, verwerkingenlog)));
  const found = await Promise.all([...wanted].map(async (id) => ({ id, known: await readActiviteit(pool, id) })));
  const missing = found.filter(({ known }) => known === undefined).map(({ id }) => id);
  if (missing.length === 0) return { ok: true };
  return { ok: true, warning: `not in the register: ${missing.join(', ')}` };
}

/** An entry as an action: what it does not say is `null`. */
export function actieOf(entry: ProcessingEntry): Actie {
  return {
    actieNaam: entry.actieNaam,
    handelingNaam: entry.handelingNaam ?? null,
    verwerkingNaam: entry.verwerkingNaam ?? null,
    verwerkingId: entry.verwerkingId ?? null,
    verwerkingsactiviteitId: entry.verwerkingsactiviteitId ?? null,
    verwerkingsactiviteitUrl: entry.verwerkingsactiviteitUrl ?? null,
    vertrouwelijkheid: entry.vertrouwelijkheid,
    bewaartermijn: entry.bewaartermijn ?? null,
    uitvoerder: entry.uitvoerder ?? null,
    systeem: entry.systeem ?? null,
    gebruiker: entry.gebruiker ?? null,
    gegevensbron: entry.gegevensbron ?? null,
    soortAfnemerId: entry.soortAfnemerId ?? null,
    afnemerId: entry.afnemerId ?? null,
    verwerkingsactiviteitIdAfnemer: entry.verwerkingsactiviteitIdAfnemer ?? null,
    verwerkingsactiviteitUrlAfnemer: entry.verwerkingsactiviteitUrlAfnemer ?? null,
    verwerkingIdAfnemer: entry.verwerkingIdAfnemer ?? null,
    tijdstip: moment(entry.tijdstip),
    tijdstipOffset: null,
    verwerkteObjecten: (entry.verwerkteObjecten ?? []).map((person) => ({
      soortObjectId: person.soortObjectId,
      objectId: person.objectId,
      betrokkenheid: person.betrokkenheid ?? null,
      soortenGegevens: person.soortenGegevens ?? null,
    })),
  };
}

function countAppends({ metrics }: Platform): (result: Appended) => void {
  const appends = new Counter({
    name: 'verwerkingenlog_appends_total',
    help: 'Versions that were added to the log',
    registers: [metrics],
  });
  const unknown = new Counter({
    name: 'verwerkingenlog_unknown_activity_total',
    help: 'Actions that name a processing activity that is not in the register',
    registers: [metrics],
  });
  return ({ kept, unknownActivity }) => {
    if (kept) appends.inc();
    if (unknownActivity) unknown.inc();
  };
}

const EVERY_MS = 3_600_000;

/**
 * Makes partitions ahead and forgets old idempotency keys: at once, and every hour. A failure is logged and tried again the next time;
 * a month that is missing all the same is made by the first append that needs it.
 */
function startMaintenance({ pool, clock, log }: Platform): { stop: () => Promise<void> } {
  const work = async (): Promise<void> => {
    try {
      await makeMonths(pool, clock.now(), MONTHS_AHEAD);
      await forgetIdempotency(pool, clock.now());
    } catch (err) {
      log.warn({ err }, 'the upkeep of the processing log failed and will be tried again');
    }
  };
  let running = work();
  const timer = setInterval(() => {
    running = running.then(work);
  }, EVERY_MS).unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
