import type { WindowRequest } from '../../aggregator/source-adapter.ts';
import type { RegisterItem } from '../answers/register-item.ts';
import type { NotubizClient } from '../client/notubiz-client.ts';
import type { IssueLog } from '../issue-log.ts';
import type { MappingContext } from '../map/mapping-context.ts';

/** What the parts of one reading share. */
export interface ReadingSession {
  readonly client: NotubizClient;
  readonly request: WindowRequest;
  readonly issues: IssueLog;
  readonly context: MappingContext;
  /** Register items that were asked for, by path: many agenda items refer to the same one. */
  readonly items: Map<string, Promise<ItemOutcome>>;
  /** Names of the registers, by id, as soon as they are read. */
  readonly registers: Map<string, string>;
}

export type ItemOutcome =
  | { readonly kind: 'read'; readonly item: RegisterItem }
  | { readonly kind: 'refused' | 'failed' };
