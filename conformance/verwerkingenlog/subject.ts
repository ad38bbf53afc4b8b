/** What a run knows of a processing log: the actions that it wrote under identifiers of its own, and what it saw of the contract. */
import { hash, randomUUID } from 'node:crypto';
import type { JsonObject } from '../../src/lib/json/json-value.ts';
import type { PROCESSING_LOG_SCOPES } from '../../src/lib/processing-log-scopes.ts';
import { Inconclusive, Skipped, type SuiteSubject } from '../case.ts';
import type { Tokens } from '../commands/token-file.ts';
import { readContract } from '../contract.ts';
import { type ContractWalk, type Departure, walkContract } from '../contract-walk.ts';
import type { Client, Exchange } from '../exchange.ts';
import { objectsIn } from '../json-members.ts';

export const CONTRACT = 'verwerkingenlog.yaml';

export type Scope = (typeof PROCESSING_LOG_SCOPES)[number];

/** Kind of the identifiers of this run: no person has one. */
export const KIND = 'conformance';

/** An answer that the contract does not have. */
export interface SeenDeparture extends Departure {
  readonly at: Exchange;
}

export interface LogSubject extends SuiteSubject {
  readonly base: string;
  readonly tokens: Tokens;
  /** Names this run in what it writes: eight hexadecimal digits. */
  readonly run: string;
  /** The processing activity of everything that it writes. */
  readonly activity: string;
  readonly contract: ContractWalk;
  readonly departures: SeenDeparture[];
  /** Actions that cases share, by name. */
  readonly kept: Map<string, Promise<JsonObject>>;
  /** Addresses of what was written and not yet deleted, each with the scope that deletes it. */
  readonly written: Map<string, Scope>;
  /** Headers with which a consumer says for which processing it reads. */
  readonly processingHeaders: Readonly<Record<string, string>>;
}

interface LogNeeds {
  readonly tokens: Tokens;
  /** OIN of the caller, for a log that requires the header. */
  readonly oin?: string | undefined;
}

/** @param base address of the log, such as `https://log.example/verwerkingenlog/v1` */
export async function readLogSubject(base: string, client: Client, needs: LogNeeds): Promise<LogSubject> {
  const { tokens, oin } = needs;
  const root = base.replace(/(?<!\/)\/+$/, '');
  const fault = readContract(CONTRACT);
  const written = new Map<string, Scope>();
  return {
    ...{ client, fault, written, tokens, base: root, values: { base: root } },
    run: randomUUID().slice(0, 8),
    activity: randomUUID(),
    contract: walkContract(CONTRACT, fault),
    departures: [],
    kept: new Map(),
    processingHeaders: {
      ...(oin === undefined ? {} : { OIN: oin }),
      ...{ VerwerkingId: randomUUID(), Vertrouwelijkheid: 'normaal', Bewaartermijn: 'P1D' },
    },
    async undo({ client: late }) {
      let undone = 0;
      let reason = '';
      for (const [to, as] of written) {
        try {
          const { status } = await late.send({ to, method: 'DELETE', as });
          if (status < 300) undone += 1;
          else reason = `status ${status}`;
        } catch (error) {
          if (!(error instanceof Inconclusive || error instanceof Skipped)) throw error;
          reason = error.message;
        }
      }
      if (written.size === 0) return undefined;
      const left = written.size - undone;
      return `deleted ${undone} of what the run wrote${left === 0 ? '' : `; not deleted: ${left} (${reason})`}`;
    },
  };
}

/** What the person who tests is told before the first request. */
export function whatIsWritten({ run, activity }: LogSubject): string {
  return [
    `writes about fifty actions, and deletes them in the end: of persons cf-${run}-… (${KIND}), of the processing`,
    `"Conformancetest ${run}", under the activity ${activity}. A log keeps what was deleted, and logs each reading.`,
  ].join('\n');
}

/** The person of a case, with an identifier that nobody has. */
export function personOf({ run }: Pick<LogSubject, 'run'>, name: string): string {
  return `cf-${run}-${hash('sha256', name, 'hex').slice(0, 8)}`;
}

/** An action about one person with every field, and what a case wants otherwise; `undefined` leaves a field out. */
export function wholeActie({ run, activity }: LogSubject, person: string, wishes: JsonObject = {}): JsonObject {
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
    verwerkteObjecten: [objectOf(person)],
    ...wishes,
  };
}

export function objectOf(objectId: string, wishes: JsonObject = {}): JsonObject {
  return {
    ...{ objecttype: 'persoon', soortObjectId: KIND, objectId, betrokkenheid: 'Proefpersoon' },
    verwerkteSoortenGegevens: [{ soortGegeven: 'Naam' }],
    ...wishes,
  };
}

/** A moment in UTC with whole seconds. @param minutes later than that */
export function daysAgo(days: number, minutes = 0): string {
  return `${new Date(Date.now() - days * 86_400_000 + minutes * 60_000).toISOString().slice(0, 19)}Z`;
}

/** The actions of a list that this run wrote: reading is logged too, so others may be among them. */
export function ownActies({ run }: LogSubject, json: unknown): readonly JsonObject[] {
  return objectsIn(json, 'results').filter(({ verwerkingNaam }) => verwerkingNaam === `Conformancetest ${run}`);
}
