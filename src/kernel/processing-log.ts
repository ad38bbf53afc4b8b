import type { components } from '../contracts/verwerkingenlog.ts';
import type { ProcessingContext } from './processing-headers.ts';

type Fields = Omit<
  components['schemas']['VerwerkingsactieInvoer'],
  'url' | 'actieId' | 'tijdstipRegistratie' | 'tijdstip' | 'vertrouwelijkheid' | 'verwerkteObjecten'
>;
type Told = { readonly [Field in keyof Fields]: Fields[Field] | undefined };

/**
 * What area A needs of the processing log, without knowing area B: one entry for something done with personal data.
 * Field names are those of the national standard for logging of processing.
 */
export interface ProcessingEntry extends Told {
  readonly actieNaam: string;
  readonly vertrouwelijkheid: components['schemas']['Vertrouwelijkheid'];
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

/** What the service itself does with personal data: it delivers it, or reads the log. */
export type OwnKind = 'shv' | 'vs' | 'log';

/**
 * An entry of the service itself. Nobody who asks for personal data decides what is kept of it: the log gives these entries their
 * processing, activity and term, and judges how confidential they are.
 */
export interface OwnEntry
  extends Pick<
    ProcessingEntry,
    'actieNaam' | 'handelingNaam' | 'uitvoerder' | 'systeem' | 'tijdstip' | 'verwerkteObjecten'
  > {
  readonly kind: OwnKind;
  /** Who asked, and for which processing. */
  readonly consumer: ProcessingContext;
  /** Whether what was asked for is confidential. */
  readonly confidential: boolean;
}

export interface ProcessingLog {
  /** Resolves when the entry is committed to disk; rejects when it is not, and then nothing may be delivered. */
  record(entry: OwnEntry, author: ProcessingAuthor): Promise<void>;
}
