import type { Change, Herkomst } from './change.ts';
import { contentHash } from './content-hash.ts';
import { organisatiecodeOf, type PubliceerRegel } from './publiceer-regel.ts';

/** What an aggregator adds to a line. */
export interface Origin {
  readonly herkomst: Herkomst;
  /** As the source gave it; absent: from `data`. */
  readonly gewijzigdOp?: string | undefined;
  readonly aggregatorId?: string | undefined;
  /** Members of the source's record that we do not know. */
  readonly other?: Readonly<Record<string, unknown>> | undefined;
  /** As the source published it, when it makes its hashes otherwise. */
  readonly sourceHash?: string | undefined;
  /** Of a redaction: `geredigeerdeSequenceNumbers` of the source. */
  readonly sourceNumbers?: readonly number[] | undefined;
}

/**
 * Makes a valid line ready to be written: identity, text and hash.
 * @throws {TypeError} when `data` has no canonical form
 */
export function prepareChange(line: PubliceerRegel, origin?: Origin): Change {
  const { op, resourceType } = line;
  if (op === 'upsert') {
    const { data } = line;
    const { sourceNumbers: _, ...shared } = origin ?? {};
    return {
      op,
      resourceType,
      resource: { organisatiecode: organisatiecodeOf(data), bronidentificatie: data.bronidentificatie },
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
