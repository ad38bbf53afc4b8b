import type { components } from '../../contracts/raadsfeed.ts';
import type { Resource } from './resource.ts';
import type { ResourceType } from './resource-type.ts';

export const VERWIJDERREDENEN = [
  'ingetrokken',
  'correctie',
  'niet_langer_openbaar',
  'persoonsgegevens',
  'overig',
] as const satisfies readonly components['schemas']['Verwijderreden'][];
export type Verwijderreden = (typeof VERWIJDERREDENEN)[number];

/** Where an aggregator has a record from. */
export interface Herkomst {
  readonly feedUrl: string;
  readonly sequenceNumber: number;
}

interface Common {
  readonly resourceType: ResourceType;
  readonly resource: Resource;
  readonly gewijzigdOp?: string | undefined;
  readonly herkomst?: Herkomst | undefined;
  /** Own identifier of an aggregator, beside the identity. */
  readonly aggregatorId?: string | undefined;
  /** Members of a source's record that we do not know: they go through unchanged. */
  readonly other?: Readonly<Record<string, unknown>> | undefined;
}

/** A resource that was made or changed, ready to be written. */
export interface Upsert extends Common {
  readonly op: 'upsert';
  /** `data` as it will be served for ever. */
  readonly dataText: string;
  readonly contentHash: string;
  /** As the source published it, when it makes its hashes otherwise: it is passed on, and `contentHash` tells whether anything changed. */
  readonly sourceHash?: string | undefined;
  /** Name of the organisation, for the service document. */
  readonly organisatienaam: string;
}

/** A resource that was removed, or whose content must disappear everywhere. */
export interface Removal extends Common {
  readonly op: 'delete' | 'redact';
  readonly verwijderreden: Verwijderreden;
  readonly toelichting?: string | undefined;
  /** Of a redaction that came from another feed: the numbers there (of `herkomst.feedUrl`) whose content must go. */
  readonly sourceNumbers?: readonly number[] | undefined;
}

export type Change = Upsert | Removal;
