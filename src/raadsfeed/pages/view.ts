import type { Resource, ResourceType } from '../../lib/feed/resource.ts';
import { isRecord, type JsonObject } from '../../lib/json/json-value.ts';
import { readCurrent } from '../store/read-current.ts';
import type { FeedOrganisation } from '../store/state.ts';
import type { PagesContext } from './context.ts';
import type { History } from './history.ts';

export interface ResourceView {
  readonly context: PagesContext;
  readonly organisation: FeedOrganisation;
  readonly resource: Resource;
  readonly data: JsonObject;
  readonly history: History;
  /** Part of the agenda or the text, from 1. */
  readonly part: number;
  /** Beginning of a list, from 0. */
  readonly from: number;
}

/** A resource as the feed has it; `undefined` when it no longer exists. */
export async function readData(
  { pool }: PagesContext,
  resourceType: ResourceType,
  resource: Resource,
): Promise<JsonObject | undefined> {
  const { organisatiecode, bronidentificatie } = resource;
  const { found } = await readCurrent(pool, { organisatiecode, resourceType }, { bronidentificatie });
  const data: unknown = JSON.parse(found[0]?.dataText ?? 'null');
  return isRecord(data) ? data : undefined;
}
