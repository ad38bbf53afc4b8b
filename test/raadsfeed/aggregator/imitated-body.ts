/**
 * One body at an imitated supplier: its contents are described in the same way for every supplier, and so is what may be published of it.
 */
import type { SupplierOptions, SupplierScheme } from '../../../src/raadsfeed/aggregator/source.ts';
import { documentOf as goDocumentOf, itemOf as goItemOf, meetingOf as goMeetingOf, startGo } from './go/server.ts';
import {
  entryOf,
  guid,
  type IbabsServer,
  documentOf as ibabsDocumentOf,
  itemOf as ibabsItemOf,
  meetingOf as ibabsMeetingOf,
  siteOf,
} from './ibabs/server.ts';
import type { Imitation } from './imitation.ts';
import {
  agendaItemOf,
  documentOf as notubizDocumentOf,
  meetingOf as notubizMeetingOf,
} from './notubiz/supplier/answers.ts';
import { NotubizOrganisation } from './notubiz/supplier/organisation.ts';
import type { NotubizServer } from './notubiz/supplier/server.ts';
import { agendaOf, documentOf, pointOf, startParlaeus } from './parlaeus/server.ts';

/** A meeting in a test's terms, whatever the supplier. */
export interface KnownMeeting {
  readonly id: number;
  readonly day: string;
  readonly title: string;
  /** Confidential; for iBabs, which has no confidential meetings, a meeting of another body. */
  readonly isSecret: boolean;
  /** Numbers of its items; a document of each has the same number, the last one is confidential. Document 1 belongs to all items. */
  readonly items: readonly number[];
}

export interface ImitatedBody {
  readonly scheme: SupplierScheme;
  /** As in the address of a source. */
  readonly organisationId: string;
  readonly options: SupplierOptions;
  readonly hasRegisters: boolean;
  /** The supplier that serves it, and perhaps others. */
  readonly host: Pick<Imitation, 'base' | 'delay' | 'mostAtOnce' | 'close'> & { readonly calls: readonly unknown[] };
  readonly put: (meeting: KnownMeeting) => void;
  readonly remove: (id: number) => void;
  /** Fails at random, by a generator; without one it behaves. */
  readonly misbehave: (chance?: () => number) => void;
}

const BLOCKED = { status: 200, body: '<html>Toegang geweigerd</html>', headers: { 'content-type': 'text/html' } };
const FAILURES = ['half', 'reset', { status: 500, body: '' }, { status: 504, body: '' }, BLOCKED] as const;

/** A random failure of this call. */
function failureOf<F>(chance: () => number, failures: readonly F[]): F | undefined {
  return chance() < 0.15 ? failures[Math.floor(chance() * failures.length)] : undefined;
}

function openly(host: Imitation): Pick<ImitatedBody, 'host' | 'hasRegisters' | 'misbehave'> {
  return {
    host,
    hasRegisters: false,
    misbehave(chance) {
      host.rule = chance && (() => failureOf(chance, FAILURES));
    },
  };
}

/** @param perPage records per page of the second version */
export async function startGoBody(version: 'v1' | 'v2', perPage = 3): Promise<ImitatedBody> {
  const server = await startGo(version);
  server.perPage = perPage;
  return {
    ...openly(server),
    scheme: 'go',
    organisationId: server.address,
    options: { version },
    put({ id, day, title, isSecret, items }) {
      const agenda = items.map((item, i) => {
        const confidential = i === items.length - 1;
        return goItemOf(item, { documents: [goDocumentOf(item, { confidential }), goDocumentOf(1)] });
      });
      server.meetings.set(id, goMeetingOf(id, { date: day, description: title, items: agenda }));
      server.details.set(id, { confidential: isSecret });
    },
    remove: (id) => void server.meetings.delete(id),
  };
}

export async function startParlaeusBody(ridFile: string): Promise<ImitatedBody> {
  const server = await startParlaeus();
  let changes = 0;
  return {
    ...openly(server),
    scheme: 'parlaeus',
    organisationId: server.base,
    options: { ridFile },
    put({ id, day, title, isSecret, items }) {
      const points = items.map((item, i) => {
        const confidential = i === items.length - 1;
        return pointOf(`${item}`, { documents: [documentOf(`${item}`, { confidential }), documentOf('1')] });
      });
      changes += 1;
      const more = { date: day.replaceAll('-', ''), title, confidential: isSecret, points, last_change: `${changes}` };
      server.agendas.set(`${id}`, agendaOf(`${id}`, more));
    },
    remove: (id) => void server.agendas.delete(`${id}`),
  };
}

/** One organisation of NotuBiz. */
export function notubizBody(server: NotubizServer, id: number): ImitatedBody {
  const organisation = new NotubizOrganisation(id);
  server.add(organisation);
  let changes = 0;
  return {
    ...openly(server),
    scheme: 'notubiz',
    organisationId: `${id}`,
    options: {},
    put({ id: meeting, day, title, isSecret, items }) {
      const agenda_items = items.map((item, i) => {
        const confidential = i === items.length - 1 ? 1 : 0;
        return agendaItemOf(item, { documents: [notubizDocumentOf(item, { confidential }), notubizDocumentOf(1)] });
      });
      changes += 1;
      const last_modified = new Date(Date.UTC(2025, 0, 1, 0, 0, changes)).toISOString().slice(0, 19).replace('T', ' ');
      const more = { title, start: `${day} 19:30:00`, last_modified, agenda_items, confidential: isSecret ? 1 : 0 };
      const own = { organisation: { id, self: `api.notubiz.nl/organisations/${id}` } };
      organisation.addMeeting(notubizMeetingOf(meeting, { ...own, ...more }));
    },
    remove: (meeting) => organisation.remove(meeting),
  };
}

/** A site of two bodies; with registers, an entry for each meeting names its first item. */
export function ibabsBody(server: IbabsServer, siteName: string, hasRegisters: boolean): ImitatedBody {
  const meetings = new Map<number, ReturnType<typeof ibabsMeetingOf>>();
  const entries = new Map<number, ReturnType<typeof entryOf>>();
  const show = (): void => {
    const registers = [{ id: guid(8001), name: 'Moties', entries: [...entries.values()] }];
    server.sites.set(siteName, siteOf({ meetings: [...meetings.values()], registers: hasRegisters ? registers : [] }));
  };
  show();
  return {
    scheme: 'ibabs',
    organisationId: siteName,
    options: { notBodies: 'Hillegom' },
    hasRegisters,
    host: server,
    put({ id, day, title, isSecret, items }) {
      const MeetingItems = items.map((item, i) => {
        const Confidential = i === items.length - 1;
        const Documents = [ibabsDocumentOf(item, { Confidential }), ibabsDocumentOf(1)];
        return ibabsItemOf(item, i === 0 ? '1' : `1.${i}`, { Documents });
      });
      const MeetingtypeId = guid(isSecret ? 9002 : 9001);
      meetings.set(id, ibabsMeetingOf(id, day, { Explanation: title, MeetingtypeId, MeetingItems }));
      const [year, month, date] = day.split('-').map(Number);
      const values = { Onderwerp: title, Agendapunt: `Gemeenteraad ${date}-${month}-${year}\\n1 Punt` };
      if (isSecret) entries.delete(id);
      else entries.set(id, entryOf(entryNumber(id), values));
      show();
    },
    remove(id) {
      meetings.delete(id);
      entries.delete(id);
      show();
    },
    misbehave(chance) {
      const failures = [...FAILURES, { err: 'Execution Timeout Expired.' }];
      server.rule = chance && (() => failureOf(chance, failures));
    },
  };
}

/** The number of a meeting's register entry. */
export const entryNumber = (meeting: number): number => 50_000 + meeting;

/** The `bronidentificatie` of something with a number at the supplier. */
export function idOf({ scheme }: ImitatedBody, kind: string, n: number): string {
  return `${scheme === 'notubiz' ? '' : `${scheme}-`}${kind}-${scheme === 'ibabs' ? guid(n) : n}`;
}

/** The publishable resources, straight from the rules. */
export function expectedKeys(body: ImitatedBody, meetings: Iterable<KnownMeeting>): string[] {
  const keys = [...meetings]
    .filter(({ isSecret }) => !isSecret)
    .flatMap(({ id, items }) => [
      `Vergadering/${idOf(body, 'meeting', id)}`,
      ...items.map((item) => `Agendapunt/${idOf(body, 'agendapunt', item)}`),
      ...items.slice(0, -1).map((item) => `Informatieobject/${idOf(body, 'document', item)}`),
      `Informatieobject/${idOf(body, 'document', 1)}`,
      ...(body.hasRegisters ? [`Informatieobject/${idOf(body, 'registerstuk', entryNumber(id))}`] : []),
    ]);
  return [...new Set(keys)].toSorted();
}
