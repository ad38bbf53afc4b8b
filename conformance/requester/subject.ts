/** A run's observations of a requester: its requests to each supplier, and whether it accepted the answer. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Model } from '../../src/lib/exchange-model/model.ts';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { askingChapters, type Finding, Inconclusive, Skipped, type SuiteSubject } from '../case.ts';
import { readContract } from '../contract.ts';
import type { Client } from '../exchange.ts';
import { type DrivenProgram, ProtocolError } from '../protocol.ts';
import type { Trust } from '../signature/message.ts';
import type { RunKeys } from './keys.ts';
import { QUARTER, SCENARIO_NAMES, SCENARIOS, type ScenarioName } from './scenarios.ts';
import type { ReceivedRequest, Suppliers } from './suppliers.ts';

/** The outcome of a requester's exchange with a supplier. */
export interface Played {
  readonly requests: readonly ReceivedRequest[];
  readonly accepted: boolean;
  /** According to the requester itself; undefined when it did not say. */
  readonly records: number | undefined;
  /** Its own reason for refusing. */
  readonly refused: string | undefined;
}

interface RequesterNeeds {
  readonly client: Client;
  readonly model: Model;
  readonly keys: RunKeys;
  readonly suppliers: Suppliers;
  readonly trust: Trust;
  readonly token: string;
  /** Absent: the requester was pointed at the suppliers by hand and has sent its requests. */
  readonly program?: DrivenProgram | undefined;
}

export interface RequesterSubject extends SuiteSubject, RequesterNeeds {
  /**
   * Makes it send requests to a supplier, once.
   * @throws {Skipped} when it did not {Inconclusive} when it violates the protocol
   */
  readonly play: (name: ScenarioName) => Promise<Played>;
  /**
   * The same again.
   * @throws as `play`; {Skipped} when it is not driven
   */
  readonly playAgain: (name: ScenarioName) => Promise<Played>;
  /** Every request so far; triggers the first if there is none. */
  readonly requests: () => Promise<readonly ReceivedRequest[]>;
}

/** The prerequisite of all refusals. */
export const TAKES_GOOD = 'R-ACC-01';
export const requesterChapter = askingChapters<RequesterSubject>(TAKES_GOOD);

export const judged = (scenario: ScenarioName, judge: (played: Played, subject: RequesterSubject) => Finding) => ({
  check: async (subject: RequesterSubject) => judge(await subject.play(scenario), subject),
});

export function requesterSubject(needs: RequesterNeeds): RequesterSubject {
  const { suppliers, program } = needs;
  const plays = new Map<ScenarioName, Promise<Played>>();
  const playAgain = (name: ScenarioName): Promise<Played> =>
    program === undefined ? Promise.reject(new Skipped('it is not driven by --command')) : drive(program, name, needs);
  const play = (name: ScenarioName): Promise<Played> => {
    const known = plays.get(name) ?? (program === undefined ? watched(name, suppliers) : playAgain(name));
    plays.set(name, known);
    return known;
  };
  return {
    ...needs,
    play,
    playAgain,
    async requests() {
      await play('pages');
      return suppliers.received;
    },
    values: {},
    fault: readContract('gegevens.yaml'),
    answered: () => suppliers.received.length,
  };
}

/** The request that a scenario expects, with the model's name for the organisation. */
export function orderOf(name: ScenarioName, { mapping }: Model): Readonly<Record<string, string | number>> {
  const { organisation, ...order }: Readonly<Record<string, string | number>> = SCENARIOS[name].order ?? QUARTER;
  return organisation === undefined ? order : { ...order, [mapping.organisatieLeden[0]]: organisation };
}

async function drive(program: DrivenProgram, name: ScenarioName, needs: RequesterNeeds): Promise<Played> {
  const { model, suppliers, keys, token } = needs;
  const before = suppliers.received.length;
  try {
    const said = await program.ask({
      do: 'request',
      url: suppliers.addressOf(name),
      variant: model.variant,
      model: model.mapping.versie,
      body: orderOf(name, model),
      token,
      key: keys.requester.key,
      chain: keys.requester.chain,
      trust: keys.root,
    });
    const requests = suppliers.received.slice(before).filter(({ scenario }) => scenario === name);
    const { accepted, refused, records } = said;
    if ((accepted === true) === (typeof refused === 'string'))
      throw new Inconclusive('the program answered neither `"accepted": true` nor `"refused": "…"`');
    return {
      requests,
      accepted: accepted === true,
      records: typeof records === 'number' ? records : undefined,
      refused: typeof refused === 'string' ? refused.slice(0, 300) : undefined,
    };
  } catch (error) {
    if (error instanceof ProtocolError) throw new Inconclusive(error.message, { cause: error });
    throw error;
  }
}

/** Infers the outcome from the next request: a requester that accepts a page requests the next one, until the last. */
async function watched(name: ScenarioName, { received }: Suppliers): Promise<Played> {
  const { paged, proof = 2 } = SCENARIOS[name];
  const requests = received.filter(({ scenario }) => scenario === name);
  if (requests.length === 0) throw new Skipped('it sent this supplier no request');
  if (paged === false) throw new Skipped('whether it accepts a single-page answer is only visible with --command');
  const accepted = requests.some(({ json }) => isRecord(json) && Number(json.page ?? 1) >= proof);
  return { requests, accepted, records: undefined, refused: undefined };
}

/**
 * Waits until every supplier has had requests and no more arrive, or until the time is up.
 * @throws the signal's reason
 */
export async function waitForRequests(
  { received }: Suppliers,
  { waitMs, quietMs, signal }: { readonly waitMs: number; readonly quietMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const end = Date.now() + waitMs;
  for (;;) {
    const asked = new Set(received.map(({ scenario }) => scenario));
    const isQuiet = Date.now() - (received.at(-1)?.at ?? Date.now()) > quietMs;
    if (Date.now() >= end || (isQuiet && asked.size === SCENARIO_NAMES.length)) return;
    await wait(Math.min(quietMs, 500), undefined, { signal });
  }
}
