import type { Db } from '../../../kernel/database/transaction.ts';
import { RESOURCE_TYPES } from '../../domain/resource.ts';
import { partKey } from '../part-key.ts';
import type { Part, WindowReading } from '../source-adapter.ts';
import { countResources, readCurrentDocuments } from '../store/current-documents.ts';
import { readMeetingsOf, readPartsElsewhere, readPlaces, readPlacesIn } from '../store/places.ts';
import type { FeedState } from '../window-changes.ts';

/** What the feed and the memory of a source hold, as far as it matters to a reading. */
export async function readFeedState(
  db: Db,
  { sourceId, organisatiecode }: { readonly sourceId: number; readonly organisatiecode: string },
  reading: WindowReading,
): Promise<Omit<FeedState, 'deletedBefore' | 'allowMassDelete'>> {
  const inWindow = await readPlacesIn(db, sourceId, reading.window);
  const names = reading.places.map(({ place }) => place);
  const found = new Set(inWindow.map(({ place }) => place));
  const known = [...inWindow, ...(await readPlaces(db, sourceId, names)).filter(({ place }) => !found.has(place))];
  const parts = [...reading.places, ...known].flatMap((place) => place.parts);
  const own = [...new Set([...names, ...known.map(({ place }) => place)])];
  const wanted = [...parts, ...reading.hidden.map(toPart)];
  const elsewhere = await readPartsElsewhere(db, sourceId, wanted, own);
  const documents = wanted.filter(({ resourceType }) => resourceType === 'Informatieobject');
  return {
    organisatiecode,
    known,
    elsewhere: Map.groupBy(elsewhere, partKey),
    documents: await readCurrentDocuments(db, organisatiecode, distinct(documents)),
    agendapunten: await readMeetingsOf(db, sourceId, mentioned([...parts, ...elsewhere])),
    total: await countResources(db, organisatiecode),
  };
}

/** The other way round as `partKey`. */
function toPart(key: string): Part {
  const slash = key.indexOf('/');
  const resourceType = RESOURCE_TYPES.find((type) => type === key.slice(0, slash));
  if (resourceType === undefined) throw new TypeError(`${key} is not a key`);
  return { resourceType, bronidentificatie: key.slice(slash + 1) };
}

function distinct(parts: readonly Part[]): string[] {
  return [...new Set(parts.map(({ bronidentificatie }) => bronidentificatie))];
}

function mentioned(parts: readonly Part[]): string[] {
  return [...new Set(parts.flatMap(({ agendapunten = [] }) => agendapunten))];
}
