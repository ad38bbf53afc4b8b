/** Plans a switch of organisations to another source or version of an interface. Identities stay: shared resources are not published again. */
import { askPage, NO_PROGRESS, notePage, readSnapshotPage } from '../../lib/feed/read-page.ts';
import { isResourceType, readResource } from '../../lib/feed/resource.ts';
import { FeedFault, readServiceDocument } from '../../lib/feed/service-document.ts';
import { isMassDelete } from '../domain/change.ts';
import { readStateOf } from '../store/state.ts';
import { type Dependencies, type DependencyNeeds, withDependencies } from './dependencies.ts';
import { lastQuarter } from './read-now.ts';
import type { Source, SupplierVersion } from './source.ts';
import { readOwnedOrganisations } from './store/organisations.ts';
import { readItemsIn } from './store/source-items.ts';
import { changeVersion, takeOverOrganisations } from './store/sources.ts';
import { supplierSource } from './supplier/read-supplier.ts';
import { type KnownItem, partKey } from './supplier/source-adapter.ts';

const PAGE = 1000;

/** @throws {OutboundError} {FeedFault} {Error} when the new source has none of the organisations */
export async function planSwitch(needs: DependencyNeeds, from: Source, to: string, signal: AbortSignal) {
  const { pool } = needs.database;
  const owned = (await readOwnedOrganisations(pool, from.id)).map(({ organisatiecode }) => organisatiecode);
  const offered = await withDependencies(needs, (deps) => readIdentities(deps, to, owned, signal));
  if (offered.size === 0) throw new Error(`${to} names none of ${owned.join(', ')} in its service document`);
  const organisations = await Promise.all(
    [...offered].map(async ([organisatiecode, keys]) => {
      const held = (await readStateOf(pool, organisatiecode)).map((one) => partKey({ ...one, ...one.resource }));
      return { organisatiecode, ...compareIdentities(new Set(held), keys) };
    }),
  );
  const codes = [...offered.keys()];
  return {
    organisations,
    carryOut: (allowMassDelete: boolean) => takeOverOrganisations(pool, { from: from.id, to, codes, allowMassDelete }),
  };
}

async function readIdentities(
  { client, maxSnapshotRecords }: Dependencies,
  to: string,
  codes: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Set<string>>> {
  const how = { redirects: 'same-host', signal } as const;
  const answer = await client.getJson({ url: to, ...how });
  const { organisaties, snapshotUrl: url } = readServiceDocument(answer.changed && answer.json, answer.url);
  const named = organisaties.filter(({ organisatiecode }) => codes.includes(organisatiecode));
  const found = new Map(named.map(({ organisatiecode }) => [organisatiecode, new Set<string>()]));
  let cursor: string | null = null;
  let feedCursor: string | null = null;
  for (let progress = NO_PROGRESS; found.size > 0; ) {
    const page = await askPage(client, { url, cursor, limit: PAGE, ...how });
    const read = readSnapshotPage(page.changed && page.json, { cursor, feedCursor }, (code, message) => {
      throw new FeedFault(code, message);
    });
    for (const { record } of read.records) {
      const { resourceType } = record;
      const resource = readResource(record);
      if (resource === undefined || !isResourceType(resourceType)) continue;
      found.get(resource.organisatiecode)?.add(partKey({ resourceType, ...resource }));
    }
    if (read.cursor === null) break;
    progress = notePage(progress, read.cursor, read.records, maxSnapshotRecords);
    ({ cursor, feedCursor } = read);
  }
  return found;
}

/** Reads the last quarter by another version, to compare. @throws {Error} when that version cannot be read */
export async function planVersion(needs: DependencyNeeds, from: Source, version: SupplierVersion, signal: AbortSignal) {
  const { pool } = needs.database;
  const window = lastQuarter(from.tot, needs.clock.now());
  const known = await readItemsIn(pool, from.id, window);
  const changed = { ...from, options: { ...from.options, version } };
  const { complete, items, issues } = await withDependencies(needs, async ({ adapters }) => {
    const { adapter, source } = supplierSource(changed, adapters);
    return await adapter.readWindow({ source, window, depth: 'full', known: [], signal });
  });
  const fault = issues.find(({ blocking }) => blocking);
  if (!complete) throw new Error(`${from.adres} cannot be read by ${version}: ${fault?.detail ?? 'not complete'}`);
  const keysOf = (found: readonly KnownItem[]) => new Set(found.flatMap(({ parts }) => parts.map(partKey)));
  const [organisatiecode = ''] = from.organisatiecodes;
  return {
    organisations: [{ organisatiecode, ...compareIdentities(keysOf(known), keysOf(items)) }],
    carryOut: () => changeVersion(pool, from.adres, version),
  };
}

/** By `<resourceType>/<bronidentificatie>`; of the `same` only the origin changes. A mass delete needs an operator's consent. */
export function compareIdentities(held: ReadonlySet<string>, offered: ReadonlySet<string>) {
  const deleted = [...held].filter((key) => !offered.has(key)).toSorted();
  return {
    same: held.size - deleted.length,
    deleted,
    added: [...offered].filter((key) => !held.has(key)).toSorted(),
    isMassDelete: isMassDelete(deleted.length, held.size),
  };
}
