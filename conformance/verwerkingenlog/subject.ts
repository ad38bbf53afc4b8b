/** A run's state for a processing log: the actions that it wrote with its own identifiers, and the contract deviations that it saw. */
import { hash, randomUUID } from 'node:crypto';
import type { JsonObject } from '../../src/lib/json/json-value.ts';
import type { PROCESSING_LOG_SCOPES } from '../../src/lib/processing-log-scopes.ts';
import { Inconclusive, Skipped, type Undoing } from '../case.ts';
import type { Tokens } from '../commands/token-file.ts';
import { walkContract } from '../contract.ts';
import type { Client } from '../exchange.ts';

export type Scope = (typeof PROCESSING_LOG_SCOPES)[number];

/** Identifier type of this run, which no person has. */
export const KIND = 'conformance';

export type LogSubject = ReturnType<typeof readLogSubject>;

/**
 * @param base address of the log, such as `https://log.example/verwerkingenlog/v1`
 * @param oin of the caller, for a log that requires the header
 */
export function readLogSubject(base: string, client: Client, tokens: Tokens, oin?: string) {
  const root = base.replace(/(?<!\/)\/+$/, '');
  const contract = walkContract('verwerkingenlog.yaml');
  const written = new Map<string, Scope>();
  return {
    client,
    contract,
    fault: contract.fault,
    /** Addresses of actions written and not yet deleted, each with the scope that deletes it. */
    written,
    tokens,
    base: root,
    values: { base: root },
    /** Identifies this run in its data: eight hexadecimal digits. */
    run: randomUUID().slice(0, 8),
    activity: randomUUID(),
    /** Actions that cases share, by name. */
    kept: new Map<string, Promise<JsonObject>>(),
    /** Headers with which a caller states the processing for which it reads. */
    processingHeaders: {
      ...(oin === undefined ? {} : { OIN: oin }),
      VerwerkingId: randomUUID(),
      Vertrouwelijkheid: 'normaal',
      Bewaartermijn: 'P1D',
    },
    async undo({ client: late }: Undoing) {
      const failures: string[] = [];
      for (const [to, as] of written) {
        try {
          const { status } = await late.send({ to, method: 'DELETE', as });
          if (status >= 300) failures.push(`status ${status}`);
        } catch (error) {
          if (!(error instanceof Inconclusive || error instanceof Skipped)) throw error;
          failures.push(error.message);
        }
      }
      if (written.size === 0) return undefined;
      const left = failures.length === 0 ? '' : `; not deleted: ${failures.length} (${failures.at(-1)})`;
      return `deleted ${written.size - failures.length} of the run's actions${left}`;
    },
  };
}

/** Told to the tester before the first request. */
export function whatIsWritten({ run, activity }: LogSubject): string {
  return [
    `writes about fifty actions and deletes them at the end: about persons cf-${run}-… (${KIND}), of the processing`,
    `"Conformancetest ${run}", with activity ${activity}. A log keeps deleted actions, and logs each reading.`,
  ].join('\n');
}

/** The person of a case, with an identifier that nobody has. */
export function personOf({ run }: Pick<LogSubject, 'run'>, name: string): string {
  return `cf-${run}-${hash('sha256', name, 'hex').slice(0, 8)}`;
}

/** An action about one person with every field, changed as a case needs; `undefined` omits a field. */
export function wholeActie(subject: LogSubject, name: string, wishes: JsonObject = {}): JsonObject {
  const { run, activity } = subject;
  return {
    actieNaam: 'Conformancetest',
    handelingNaam: 'Proef',
    verwerkingNaam: `Conformancetest ${run}`,
    verwerkingId: randomUUID(),
    verwerkingsactiviteitId: activity,
    verwerkingsactiviteitUrl: `https://conformance.example/${activity}`,
    vertrouwelijkheid: 'normaal',
    bewaartermijn: 'P1D',
    uitvoerder: '00000099000000001000',
    systeem: 'Systeem van de test',
    gebruiker: 'gebruiker-van-de-test',
    gegevensbron: 'Bron van de test',
    soortAfnemerId: 'OIN',
    afnemerId: '00000099000000002000',
    verwerkingsactiviteitIdAfnemer: randomUUID(),
    verwerkingsactiviteitUrlAfnemer: 'https://conformance.example/afnemer',
    verwerkingIdAfnemer: randomUUID(),
    tijdstip: daysAgo(3),
    verwerkteObjecten: [objectOf(personOf(subject, name))],
    ...wishes,
  };
}

export function objectOf(objectId: string, wishes: JsonObject = {}): JsonObject {
  return {
    objecttype: 'persoon',
    soortObjectId: KIND,
    objectId,
    betrokkenheid: 'Proefpersoon',
    verwerkteSoortenGegevens: [{ soortGegeven: 'Naam' }],
    ...wishes,
  };
}

/** A time in UTC with whole seconds. */
export function daysAgo(days: number): string {
  return `${new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 19)}Z`;
}
