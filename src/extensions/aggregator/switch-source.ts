/** Switches organisations from one source to another. Identities stay: what both have is not published again. */

import type { Pool } from '../../database/pool.ts';
import { transaction } from '../../database/transaction.ts';
import { askPage, FeedFault, readServiceDocument } from '../../lib/feed-client/client.ts';
import { normaliseOrganisatiecode } from '../../lib/feed-client/organisatiecode.ts';
import { NO_PROGRESS, notePage, readSnapshotPage } from '../../lib/feed-client/page.ts';
import { isRecord } from '../../lib/json/json-value.ts';
import { isMassDelete } from '../../raadsfeed/domain/mass-delete.ts';
import { isResourceType } from '../../raadsfeed/domain/resource.ts';
import {
  type AggregatorDependencies,
  closeDependencies,
  type DependencyNeeds,
  openDependencies,
} from './dependencies.ts';
import { partKey } from './resource-key.ts';
import type { Source } from './source.ts';
import { readOwnedOrganisations } from './store/organisations.ts';
import { readStateKeys, takeOverOrganisations } from './store/sources.ts';

interface OrganisationSwitch extends IdentityComparison {
  readonly organisatiecode: string;
}

interface SwitchPlan {
  readonly organisations: readonly OrganisationSwitch[];
  /** More than a tenth of an organisation would be deleted: that needs an operator's consent. */
  readonly isMassDelete: boolean;
}

const PAGE = 1000;

/**
 * What a switch would do, by reading the snapshot of the new source.
 * @throws {OutboundError} {FeedFault} {Error} when the new source has none of the organisations
 */
export async function planSwitch(
  needs: DependencyNeeds,
  from: Source,
  to: string,
  signal: AbortSignal,
): Promise<SwitchPlan> {
  const deps = openDependencies(needs);
  try {
    const owned = await readOwnedOrganisations(needs.pool, from.id);
    const codes = owned.map(({ organisatiecode }) => organisatiecode);
    const offered = await readIdentities(deps, to, new Set(codes), signal);
    if (offered.size === 0) throw new Error(`${to} names none of ${codes.join(', ')} in its service document`);
    const organisations: OrganisationSwitch[] = [];
    for (const [organisatiecode, keys] of offered) {
      const held = await readStateKeys(needs.pool, organisatiecode);
      organisations.push({ organisatiecode, ...compareIdentities(held, keys) });
    }
    return { organisations, isMassDelete: organisations.some(({ isMassDelete }) => isMassDelete) };
  } finally {
    await closeDependencies(deps);
  }
}

/** Switches: the organisations of the plan are taken from the new source, which is compared with what the feed has. */
export async function carryOutSwitch(
  pool: Pool,
  { from, to, plan, allowMassDelete }: { from: Source; to: string; plan: SwitchPlan; allowMassDelete: boolean },
): Promise<void> {
  const codes = plan.organisations.map(({ organisatiecode }) => organisatiecode);
  await transaction(pool, (client) => takeOverOrganisations(client, { from: from.id, to, codes, allowMassDelete }));
}

async function readIdentities(
  deps: AggregatorDependencies,
  to: string,
  codes: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Map<string, Set<string>>> {
  const answer = await deps.client.getJson({ url: to, signal, redirects: 'same-host' });
  const document = readServiceDocument(answer.changed ? answer.json : undefined, answer.url);
  const found = new Map<string, Set<string>>();
  for (const { organisatiecode } of document.organisaties) {
    if (codes.has(organisatiecode)) found.set(organisatiecode, new Set());
  }
  let progress = NO_PROGRESS;
  for (let cursor: string | null = null, feedCursor: string | null = null; found.size > 0; ) {
    const request = { url: document.snapshotUrl, cursor, limit: PAGE, redirects: 'same-host', signal } as const;
    const page = await askPage(deps.client, request);
    const read = readSnapshotPage(page.changed ? page.json : undefined, { cursor, feedCursor }, (code, message) => {
      throw new FeedFault(code, message);
    });
    for (const { record } of read.records) addIdentity(record, found);
    if (read.cursor === null) break;
    progress = notePage(progress, {
      cursor: read.cursor,
      numbers: read.records.map(({ sequenceNumber }) => sequenceNumber),
      isSnapshot: true,
      maxRecords: deps.maxSnapshotRecords,
    });
    ({ cursor, feedCursor } = read);
  }
  return found;
}

function addIdentity(record: unknown, found: ReadonlyMap<string, Set<string>>): void {
  if (!isRecord(record) || !isRecord(record.resource) || !isResourceType(record.resourceType)) return;
  const { organisatiecode, bronidentificatie } = record.resource;
  if (typeof organisatiecode !== 'string' || typeof bronidentificatie !== 'string') return;
  const code = normaliseOrganisatiecode(organisatiecode);
  if (code === undefined) return;
  found.get(code)?.add(partKey({ resourceType: record.resourceType, bronidentificatie }));
}

/** What a change of source would do to the feed of an organisation. */
interface IdentityComparison {
  /** Keys that both have: with the same content only their origin changes. */
  readonly same: number;
  /** Keys that the feed has and the new source does not: they would be deleted. */
  readonly deleted: readonly string[];
  /** Keys that only the new source has. */
  readonly added: readonly string[];
  /** Whether more than a tenth would be deleted: that needs an operator's consent. */
  readonly isMassDelete: boolean;
}

/** Compares the feed with another source of the same organisation, by `<resourceType>/<bronidentificatie>`. */
export function compareIdentities(held: ReadonlySet<string>, offered: ReadonlySet<string>): IdentityComparison {
  const deleted = [...held].filter((key) => !offered.has(key)).toSorted();
  return {
    same: held.size - deleted.length,
    deleted,
    added: [...offered].filter((key) => !held.has(key)).toSorted(),
    isMassDelete: isMassDelete(deleted.length, held.size),
  };
}
