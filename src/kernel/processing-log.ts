/**
 * What area A needs of the processing log, without knowing area B: one entry for something done with personal data.
 * Field names are those of the national standard for logging of processing.
 */
export interface ProcessingEntry {
  readonly actieNaam: string;
  readonly handelingNaam?: string | undefined;
  readonly verwerkingNaam?: string | undefined;
  readonly verwerkingId?: string | undefined;
  readonly verwerkingsactiviteitId?: string | undefined;
  readonly verwerkingsactiviteitUrl?: string | undefined;
  readonly vertrouwelijkheid: 'normaal' | 'vertrouwelijk' | 'opgeheven';
  /** ISO 8601 duration. */
  readonly bewaartermijn?: string | undefined;
  readonly uitvoerder?: string | undefined;
  readonly systeem?: string | undefined;
  readonly gebruiker?: string | undefined;
  readonly gegevensbron?: string | undefined;
  readonly soortAfnemerId?: string | undefined;
  readonly afnemerId?: string | undefined;
  readonly verwerkingsactiviteitIdAfnemer?: string | undefined;
  readonly verwerkingsactiviteitUrlAfnemer?: string | undefined;
  readonly verwerkingIdAfnemer?: string | undefined;
  readonly tijdstip: Date;
  /** The persons whose data was processed; absent: not told one by one. */
  readonly verwerkteObjecten?: readonly ProcessedPerson[] | undefined;
}

/** A person whose data was processed. */
export interface ProcessedPerson {
  /** Kind of identification, such as `BSN`. */
  readonly soortObjectId: string;
  readonly objectId: string;
  readonly betrokkenheid?: string | undefined;
  /** Kinds of data. */
  readonly soortenGegevens?: readonly string[] | undefined;
}

/** Who made the entry: kept with it. */
export interface ProcessingAuthor {
  readonly subject: string;
  readonly requestId: string;
}

export interface ProcessingLog {
  /** Resolves when the entry is committed to disk; rejects when it is not, and then nothing may be delivered. */
  record(entry: ProcessingEntry, author: ProcessingAuthor): Promise<void>;
}
