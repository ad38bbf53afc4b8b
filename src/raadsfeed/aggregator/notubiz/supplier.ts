/** NotuBiz: meetings, assemblies with their children, and register entries, all by their day. */
import { systemClock } from '../../../lib/time.ts';
import { createAdapter, type SourceAdapter } from '../supplier/read-listed-window.ts';
import { keptForAnHour, type Supplier } from '../supplier/supplier.ts';
import { NotubizClient, type NotubizClientOptions, readReference, type Session } from './api.ts';
import { findEntry, listEntries } from './entries.ts';
import { findMeeting, listMeetings } from './meetings.ts';

export interface NotubizAdapterOptions extends NotubizClientOptions, Pick<Session, 'categories'> {}

/** One adapter serves all organisations, so that they share the limits of the supplier. */
export function createNotubizAdapter(options: NotubizAdapterOptions): SourceAdapter {
  return createAdapter(createNotubiz(new NotubizClient(options), options.categories), options.clock ?? systemClock);
}

function createNotubiz(client: NotubizClient, given: Session['categories']): Supplier {
  const categories = new Map([...given].map(([name, code]) => [name.toLowerCase(), code]));
  const namesOf = keptForAnHour((reading) => readReference({ client, ...reading }));
  return {
    hasRegisters: false,
    hasPreview: false,
    async list(reading) {
      const { request, issues, now } = reading;
      const reference = await namesOf(reading);
      // Without names nothing would be mapped correctly; the issues say why.
      if (reference === undefined) return { listed: [] };
      const session: Session = {
        client,
        issues,
        request,
        now,
        categories,
        ...reference,
        referred: new Map(),
        registers: new Map(),
        shown: new Map(),
      };
      return {
        listed: (await Promise.all([listMeetings(session), listEntries(session)])).flat(),
        async find({ key }) {
          const meeting = /^meeting-(\d+)$/.exec(key)?.[1];
          if (meeting !== undefined) return await findMeeting(session, meeting);
          const [, register, entry] = /^register-(\d+)-(\d+)$/.exec(key) ?? [];
          if (register === undefined || entry === undefined) throw new TypeError(`${key} is not the key of an item`);
          return await findEntry(session, register, entry);
        },
      };
    },
    close: () => client.close(),
  };
}
