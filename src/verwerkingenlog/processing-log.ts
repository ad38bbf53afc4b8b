import { Counter } from 'prom-client';
import type { Platform } from '../kernel/platform.ts';
import type { ProcessingEntry, ProcessingLog } from '../kernel/processing-log.ts';
import type { ReadinessCheck } from '../kernel/readiness.ts';
import { createAppendActie } from './append-actie.ts';
import { createIdentityKeys, type IdentityKeys } from './domain/identity-keys.ts';
import { type Actie, type Auteur, moment, type Versie } from './domain/verwerkingsactie.ts';
import { startMaintenance } from './maintenance.ts';
import { startRetention } from './retention-schedule.ts';
import type { Appended } from './store/append-versies.ts';

/** The processing log as area B itself uses it. */
export interface LogOfActies extends ProcessingLog {
  readonly keys: IdentityKeys;
  /** @see AppendActie.append */
  append(actie: Actie, auteur: Auteur, idempotencyKey?: string): Promise<Versie>;
  /** Counts what was appended, for who writes in a transaction of his own. */
  count(result: Appended): void;
  /** What operators should know of it. */
  readonly checks: readonly ReadinessCheck[];
  close(): Promise<void>;
}

/** Opens the processing log: months are made ahead and old idempotency keys forgotten as long as it is open. */
export function createProcessingLog(platform: Platform): LogOfActies {
  const keys = createIdentityKeys(platform.config.verwerkingenlog.key);
  if (keys.current === null) {
    platform.log.warn('no VERWERKINGENLOG_KEY: the processing log keeps persons’ identifiers as they come');
  }
  const count = countAppends(platform);
  const { append, idle } = createAppendActie(platform, keys, count);
  const maintenance = startMaintenance(platform);
  const retention = startRetention(platform);
  return {
    keys,
    append,
    count,
    checks: [retention.check],
    async record(entry, { subject, requestId }) {
      await append(actieOf(entry), { door: subject, verzoekId: requestId });
    },
    async close() {
      await idle();
      await retention.stop();
      await maintenance.stop();
    },
  };
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
