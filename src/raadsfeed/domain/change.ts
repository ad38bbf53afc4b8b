import { contentHash, type Verwijderreden } from '../../lib/feed/record.ts';
import type { NamedResource, Resource, ResourceType } from '../../lib/feed/resource.ts';

export interface Herkomst {
  readonly feedUrl: string;
  readonly sequenceNumber: number;
}

interface Common extends NamedResource {
  readonly gewijzigdOp?: string | undefined;
  readonly herkomst?: Herkomst | undefined;
  /** Members of a source's record that we do not know: they go through unchanged. */
  readonly other?: Readonly<Record<string, unknown>> | undefined;
}

interface Upsert extends Common {
  readonly op: 'upsert';
  /** `data` as it will always be served. */
  readonly dataText: string;
  readonly contentHash: string;
  /** As the source published it, if it makes its hashes in another way: it is passed on, and `contentHash` decides whether anything changed. */
  readonly sourceHash?: string | undefined;
  readonly organisatienaam: string;
}

export interface Removal extends Common {
  readonly op: 'delete' | 'redact';
  readonly verwijderreden: Verwijderreden;
  readonly toelichting?: string | undefined;
  /** For a redaction from another feed: the numbers there (of `herkomst.feedUrl`) whose content must go. */
  readonly sourceNumbers?: readonly number[] | undefined;
}

export type Change = Upsert | Removal;

/** The members of a resource that the writer itself reads; the contract has all of them. */
export interface ResourceData {
  readonly bronidentificatie: string;
  readonly gewijzigdop?: string;
  readonly organisatie: { readonly [K in 'gemeente' | 'provincie' | 'waterschap']?: string } & {
    readonly naam: string;
  };
}

/** One line that a source holder publishes with: `PubliceerRegel` in `openapi/validation/raadsfeed.yaml`. */
export type PubliceerRegel =
  | { readonly op: 'upsert'; readonly resourceType: ResourceType; readonly data: ResourceData }
  | (NamedResource & {
      readonly op: 'delete' | 'redact';
      readonly verwijderreden: Verwijderreden;
      readonly toelichting?: string;
    });

export function resourceOf(line: PubliceerRegel): Resource {
  if (line.op !== 'upsert') return line.resource;
  const { bronidentificatie, organisatie } = line.data;
  const { gemeente, provincie, waterschap } = organisatie;
  return { organisatiecode: gemeente ?? provincie ?? waterschap ?? '', bronidentificatie };
}

/** The members that an aggregator adds to a line. Without `gewijzigdOp` that of `data` is used. */
export interface Origin
  extends Omit<Common, keyof NamedResource>,
    Pick<Upsert, 'sourceHash'>,
    Pick<Removal, 'sourceNumbers'> {
  readonly herkomst: Herkomst;
}

/** Makes a valid line ready to be written: identity, text and hash. @throws {TypeError} when `data` has no canonical form */
export function prepareChange(line: PubliceerRegel, origin?: Origin): Change {
  const { op, resourceType } = line;
  if (op === 'upsert') {
    const { data } = line;
    const { sourceNumbers: _, ...shared } = origin ?? {};
    return {
      op,
      resourceType,
      resource: resourceOf(line),
      organisatienaam: data.organisatie.naam,
      dataText: JSON.stringify(data),
      contentHash: contentHash(data),
      ...shared,
      gewijzigdOp: origin?.gewijzigdOp ?? data.gewijzigdop,
    };
  }
  const { resource, verwijderreden, toelichting } = line;
  const { sourceHash: _, ...shared } = origin ?? {};
  return { op, resourceType, resource, verwijderreden, toelichting, ...shared };
}

/** An organisation with fewer resources may still lose one. */
const COUNTED_AT_LEAST = 10;

/** Whether a comparison would delete more than a tenth of what an organisation has, which needs the consent of an operator. */
export function isMassDelete(deleted: number, total: number): boolean {
  return deleted * 10 > Math.max(total, COUNTED_AT_LEAST);
}
