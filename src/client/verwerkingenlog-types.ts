/** Records of the processing log as they go over the line, by its contract. */
import type { components } from '../contracts/verwerkingenlog.ts';

type Schemas = components['schemas'];
/** Members that the log gives; what a body says of them is skipped. */
type GivenByLog = 'url' | 'actieId' | 'tijdstipRegistratie' | 'verwerktObjectId';

/** A person that was processed; `soortObjectId` is the kind of identification, such as `BSN`. */
export interface VerwerktObject extends Omit<Schemas['VerwerktObjectInvoer'], GivenByLog> {
  readonly objecttype: 'persoon';
}

/**
 * An action to be kept. `verwerkingId` relates the actions of one processing; `bewaartermijn` is an ISO 8601 duration such as `P10Y`;
 * `uitvoerder` is the OIN of the organisation that did it; `tijdstip` is RFC 3339 with an offset, answered as it was given.
 */
export interface NieuweVerwerkingsactie extends Omit<Schemas['VerwerkingsactieInvoer'], GivenByLog> {
  readonly vertrouwelijkheid: 'normaal' | 'vertrouwelijk';
  readonly verwerkteObjecten: readonly VerwerktObject[];
}

/** An action as the log keeps it. */
export type Verwerkingsactie = Schemas['Verwerkingsactie'];

/** Whether an answer is an action; the log's contract says the rest. */
export function isVerwerkingsactie(value: unknown): value is Verwerkingsactie {
  return (
    typeof value === 'object' &&
    value !== null &&
    'actieId' in value &&
    typeof value.actieId === 'string' &&
    'url' in value &&
    typeof value.url === 'string'
  );
}
