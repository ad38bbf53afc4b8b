import type { Verwijderreden } from './change.ts';
import type { Resource } from './resource.ts';
import type { ResourceType } from './resource-type.ts';

/** Members of a resource that the writer itself looks at; the contract knows all of them. */
export interface ResourceData {
  readonly bronidentificatie: string;
  readonly gewijzigdop?: string;
  readonly organisatie: { readonly gemeente?: string; readonly provincie?: string; readonly waterschap?: string } & {
    readonly naam: string;
  };
}

/** One line that a source holder publishes with: `PubliceerRegel` in the contract. */
export type PubliceerRegel =
  | { readonly op: 'upsert'; readonly resourceType: ResourceType; readonly data: ResourceData }
  | {
      readonly op: 'delete' | 'redact';
      readonly resourceType: ResourceType;
      readonly resource: Resource;
      readonly verwijderreden: Verwijderreden;
      readonly toelichting?: string;
    };

/** The organisation that a resource says it is of. */
export function organisatiecodeOf({ organisatie }: ResourceData): string {
  return organisatie.gemeente ?? organisatie.provincie ?? organisatie.waterschap ?? '';
}
