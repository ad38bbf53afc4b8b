import { type Imitation, type ImitationCall, type Misbehaviour, startImitation } from '../../imitation.ts';
import { answer } from './answer.ts';
import type { Raw } from './answers.ts';
import { NotubizOrganisation } from './organisation.ts';

export type { Misbehaviour, Rule } from '../../imitation.ts';
export type NotubizCall = ImitationCall;

/** A supplier in the form of the NotuBiz API. */
export interface NotubizServer extends Imitation {
  readonly organisation: NotubizOrganisation;
  perPage: number;
  readonly add: (organisation: NotubizOrganisation) => void;
}

export async function startNotubiz(): Promise<NotubizServer> {
  const organisation = new NotubizOrganisation();
  const organisations = new Map([[String(organisation.id), organisation]]);
  const imitation = await startImitation((call) => answer(call, organisations, supplier.perPage));
  const supplier: NotubizServer = Object.assign(imitation, {
    organisation,
    perPage: 200,
    add: (other: NotubizOrganisation) => void organisations.set(String(other.id), other),
  });
  return supplier;
}

/** The supplier's answer for a wide window that it cannot serve. */
export const UNCAUGHT: Misbehaviour = {
  status: 404,
  body: { message: 'An uncaught error has occurred' } satisfies Raw,
};
/** Status 200 without contents. */
export const NO_RIGHTS: Misbehaviour = {
  status: 200,
  body: { message: 'No rights to see this meeting', error_code: 45624584670 } satisfies Raw,
};
