/** Records of the processing log as they go over the line. @see openapi/verwerkingenlog.yaml */

/** A person that was processed. */
export interface VerwerktObject {
  readonly objecttype: 'persoon';
  /** Kind of identification, such as `BSN`. */
  readonly soortObjectId: string;
  readonly objectId: string;
  readonly betrokkenheid?: string | null;
  readonly verwerkteSoortenGegevens?: readonly { readonly soortGegeven: string }[] | null;
}

/** An action to be kept. */
export interface NieuweVerwerkingsactie {
  readonly actieNaam?: string | null;
  readonly handelingNaam?: string | null;
  readonly verwerkingNaam?: string | null;
  /** UUID that relates the actions of one processing. */
  readonly verwerkingId?: string | null;
  readonly verwerkingsactiviteitId?: string | null;
  readonly verwerkingsactiviteitUrl?: string | null;
  readonly vertrouwelijkheid: 'normaal' | 'vertrouwelijk';
  /** ISO 8601 duration, such as `P10Y`. */
  readonly bewaartermijn?: string | null;
  /** OIN of the organisation that did it. */
  readonly uitvoerder?: string | null;
  readonly systeem?: string | null;
  readonly gebruiker?: string | null;
  readonly gegevensbron?: string | null;
  /** Kind of identification of who received the data, usually `OIN` or `BSN`. */
  readonly soortAfnemerId?: string | null;
  readonly afnemerId?: string | null;
  readonly verwerkingsactiviteitIdAfnemer?: string | null;
  readonly verwerkingsactiviteitUrlAfnemer?: string | null;
  readonly verwerkingIdAfnemer?: string | null;
  /** When it was done: RFC 3339 with an offset, which is answered as it was given. */
  readonly tijdstip: string;
  readonly verwerkteObjecten: readonly VerwerktObject[];
}

/** An action as the log keeps it. */
export interface Verwerkingsactie extends Omit<NieuweVerwerkingsactie, 'vertrouwelijkheid'> {
  readonly url: string;
  readonly actieId: string;
  readonly tijdstipRegistratie: string;
  readonly vertrouwelijkheid: 'normaal' | 'vertrouwelijk' | 'opgeheven';
}

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
