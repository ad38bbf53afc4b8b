/** NotuBiz: meetings, assemblies with their children, and register entries, all by their day. */
import { systemClock } from '../../../lib/time.ts';
import { createAdapter, type SourceAdapter } from '../supplier/read-listed-window.ts';
import type { WindowRequest } from '../supplier/source-adapter.ts';
import { keptForAnHour, type Reading, type Supplier } from '../supplier/supplier.ts';
import { NotubizClient, type NotubizClientOptions } from './api.ts';
import {
  type EntryDetail,
  findEntry,
  type ListedEntry,
  listEntries,
  mapRegisterEntry,
  readEntry,
  type Session,
} from './entries.ts';
import type { MappingContext } from './map.ts';
import {
  findMeeting,
  type ListedMeeting,
  listMeetings,
  type MeetingDetail,
  mapWholeMeeting,
  readListedMeeting,
} from './meetings.ts';
import { readReference } from './names.ts';

export interface NotubizAdapterOptions extends NotubizClientOptions, Pick<MappingContext, 'categories'> {}

/** One adapter serves all organisations, so that they share the limits of the supplier. */
export function createNotubizAdapter(options: NotubizAdapterOptions): SourceAdapter {
  return createAdapter(createNotubiz(new NotubizClient(options), options.categories), options.clock ?? systemClock);
}

function createNotubiz(
  client: NotubizClient,
  given: MappingContext['categories'],
): Supplier<ListedMeeting | ListedEntry, MeetingDetail | EntryDetail> {
  const categories = new Map([...given].map(([name, code]) => [name.toLowerCase(), code]));
  const namesOf = keptForAnHour((reading) => readReference({ client, ...reading }));
  const sessions = new WeakMap<WindowRequest, Session>();
  const sessionOf = ({ request }: Reading): Session => {
    const session = sessions.get(request);
    if (session === undefined) throw new TypeError('nothing was listed');
    return session;
  };

  return {
    hasRegisters: false,
    hasPreview: false,
    async list(reading) {
      const { request, issues, now } = reading;
      const reference = await namesOf(reading);
      // Without names nothing would be mapped correctly; the issues say why.
      if (reference === undefined) return { listed: [] };
      const context = { ...reference, source: request.source, base: client.base, now, categories };
      const shared = { referred: new Map(), registers: new Map(), shown: new Map() };
      const session = { client, issues, request, context, ...shared };
      sessions.set(request, session);
      return { listed: (await Promise.all([listMeetings(session), listEntries(session)])).flat() };
    },
    async read(listed, reading) {
      if (listed.outcome !== undefined) return listed.outcome;
      const session = sessionOf(reading);
      return await (listed.kind === 'entry' ? readEntry(session, listed) : readListedMeeting(session, listed));
    },
    async map(detail, listed, mapping) {
      const session = sessionOf(mapping);
      if (detail.kind === 'meeting' && listed.kind === 'meeting') {
        return mapWholeMeeting(session, listed, detail, mapping);
      }
      if (detail.kind === 'entry' && listed.kind === 'entry') return mapRegisterEntry(session, listed, detail);
      throw new TypeError(`${listed.key} was read as something else`);
    },
    async find({ key }, reading) {
      const session = sessionOf(reading);
      const meeting = /^meeting-(\d+)$/.exec(key)?.[1];
      if (meeting !== undefined) return await findMeeting(session, meeting);
      const [, register, entry] = /^register-(\d+)-(\d+)$/.exec(key) ?? [];
      if (register === undefined || entry === undefined) throw new TypeError(`${key} is not the key of an item`);
      return await findEntry(session, register, entry);
    },
    close: () => client.close(),
  };
}
