/** The Parlaeus answers that are used, and the resources made from them; see `docs/aggregator.md`. */
import type { IssueSink } from '../supplier/issue-log.ts';
import { mediaTypeIn, mediaTypeOf } from '../supplier/media-type.ts';
import { type FoundDocument, type FoundItem, mapMeeting } from '../supplier/meeting.ts';
import {
  ANY,
  createReader,
  FLAG,
  HTML,
  listOf,
  NAME,
  objectOf,
  TEXT,
  textLike,
  type ValueOf,
} from '../supplier/read-answer.ts';
import type { MappedItem, Reading } from '../supplier/supplier.ts';
import { dutchMoment, fixUrl } from '../supplier/values.ts';

const PREFIX = 'parlaeus';
export const meetingId = (agid: string): string => `${PREFIX}-meeting-${agid}`;

const ID = textLike(/^[\w.-]{1,80}$/);
const MARK = { confidential: FLAG };
const DOCUMENT = objectOf({ dcid: ID }, { link: TEXT, title: NAME, type: NAME, ...MARK });
const POINT = objectOf(
  { apid: ID, documents: listOf(DOCUMENT) },
  { number: NAME, title: NAME, text: HTML, level: ANY, decision: HTML, ...MARK },
);
const AGENDA = objectOf(
  { agid: ID, points: listOf(POINT) },
  {
    cmid: TEXT,
    title: NAME,
    description: HTML,
    location: NAME,
    date: ANY,
    time: ANY,
    endtime: ANY,
    cancelled: ANY,
    ...MARK,
    documents: listOf(DOCUMENT),
  },
);
const LISTED = objectOf({ agid: ID }, { date: ANY, time: ANY, last_change: ANY });
const BODY = objectOf({ cmid: ID }, { committeename: NAME, name: NAME });

export type Agenda = ValueOf<typeof AGENDA>;
export const readAgenda = createReader(AGENDA);
const readList = createReader(objectOf({ list: listOf(LISTED) }));
const readBodies = createReader(objectOf({ list: listOf(BODY) }));

/** The entries of `agenda_list`, which do not name the body of a meeting. */
export function readListed(list: readonly unknown[], issue: IssueSink) {
  const listed = readList({ list }, issue)?.list ?? [];
  return listed.map(({ agid, date, time, last_change: change }) => {
    const day = dutchMoment(date, time, `agenda ${agid}: date`, issue)?.day;
    // No recording shows its form: it is only compared with its former value.
    if (change !== undefined) issue('unconfirmed-form', `last_change is ${typeof change}`);
    const stamp = typeof change === 'string' || typeof change === 'number' ? String(change) : undefined;
    return { key: meetingId(agid), agid, day, stamp, naam: `${day ?? 'no day'} ${agid}`, hidden: false };
  });
}

export function namesOf(answer: unknown, issue: IssueSink): ReadonlyMap<string, string> {
  const bodies = readBodies(answer, issue)?.list ?? [];
  return new Map(bodies.map(({ cmid, committeename, name }) => [cmid, committeename ?? name ?? '']));
}

export function mapAgenda(agenda: Agenda, bodies: ReadonlyMap<string, string>, reading: Reading): MappedItem {
  const { agid, cmid, title, date, time, endtime, cancelled } = agenda;
  const { request, issues } = reading;
  const { source } = request;
  const issue = issues.at(meetingId(agid));
  const start = dutchMoment(date, time, 'date', issue);
  const end = isNone(endtime) ? undefined : dutchMoment(start?.day, endtime, 'endtime', issue)?.utc;
  const gremiumnaam = bodies.get(cmid ?? '') || undefined;
  const meeting = {
    bronidentificatie: meetingId(agid),
    isCancelled: cancelled === undefined ? undefined : !isNone(cancelled),
    names: [title, gremiumnaam],
    start,
    end,
    naam: title,
    members: {
      locatie: agenda.location,
      vergadertoelichting: agenda.description,
      webpaginalink:
        source.portaal && `${source.portaal.replace(/(?<!\/)\/+$/, '')}/user/agenda/action=view/ag=${agid}`,
    },
    gremium: { id: cmid, naam: gremiumnaam },
    documents: (agenda.documents ?? []).map((document) => mapDocument(document, issue)),
    items: mapPoints(agenda.points, issue, issues.at('agenda_detail')),
  };
  const bodyNames = [title, gremiumnaam].filter((name) => name !== undefined);
  return { ...mapMeeting(meeting, reading, { issue, base: source.organisationId }), bodies: bodyNames };
}

/** `0`, a number or a text, means none; `cancelled` was once the number of a body. */
function isNone(value: unknown): boolean {
  return value === undefined || value === false || String(value) === '0';
}

function mapPoints(points: Agenda['points'], issue: IssueSink, form: IssueSink): FoundItem[] {
  const parents = parentsOf(points, form);
  return points.map((point, i) => ({
    bronidentificatie: pointId(point.apid),
    isHidden: point.confidential === true,
    parent: parents[i],
    agendapuntnaam: point.title ?? point.number ?? 'Agendapunt',
    members: {
      omschrijving: [point.text, point.decision].filter((text) => text !== undefined).join('\n\n') || undefined,
      geplandvolgnummer: point.number,
    },
    documents: point.documents.map((document) => mapDocument(document, issue)),
  }));
}

const pointId = (apid: string): string => `${PREFIX}-agendapunt-${apid}`;

/** The parent of each item: the last one before it with a lower level. Levels that are not whole numbers make the agenda flat. */
function parentsOf(points: Agenda['points'], issue: IssueSink): readonly (string | undefined)[] {
  const levels = points.map(({ level }) => (/^\d{1,3}$/.test(String(level)) ? Number(level) : undefined));
  const given = points.map(({ level }) => level).filter((level) => level !== undefined);
  if (given.length > 0) {
    const whole = levels.every((level) => level !== undefined);
    issue('unconfirmed-form', whole ? 'level is a whole number' : 'level is not a whole number: not nested');
    if (!whole) return points.map(() => undefined);
  }
  const above: { readonly id: string; readonly level: number }[] = [];
  return points.map(({ apid }, i) => {
    const level = levels[i] ?? 0;
    while ((above.at(-1)?.level ?? -1) >= level) above.pop();
    const parent = above.at(-1)?.id;
    above.push({ id: pointId(apid), level });
    return parent;
  });
}

type ParlaeusDocument = ValueOf<typeof DOCUMENT>;

function mapDocument(document: ParlaeusDocument, issue: IssueSink): FoundDocument {
  const { dcid, link, title, type } = document;
  const about: IssueSink = (what, detail) => issue(what, `document ${dcid}: ${detail}`);
  const bestandsurl = fixLink(link, about);
  const isFileType = type !== undefined && mediaTypeOf(`.${type}`) !== undefined;
  if (title === undefined) about('unusable-value', 'has no title');
  return {
    bronidentificatie: `${PREFIX}-document-${dcid}`,
    isHidden: document.confidential === true,
    titel: title ?? `Document ${dcid}`,
    members: {
      bestandsurl,
      formaat: mediaTypeIn([isFileType ? `.${type}` : undefined, title], bestandsurl),
      informatieobjecttype: isFileType ? undefined : type,
    },
  };
}

/** A host repeated in front of the address; its colon may be missing. */
const GLUED = /^(?:https?:?\/+)?[\w-]+(?:\.[\w-]+)*(?::\d{1,5})?(?=https?:?\/\/)/i;
const MAX_GLUED = 5;

/**
 * Some links repeat the host, and some of those lost the colon: `https://x.parlaeus.nlhttps//x.parlaeus.nl/…`. A scheme elsewhere is part of the
 * link. Issues do not show links, which may name something confidential.
 */
function fixLink(link: string | undefined, issue: IssueSink): string | undefined {
  if (link === undefined) return undefined;
  let own = link;
  for (let times = 0; times < MAX_GLUED; times += 1) own = own.replace(GLUED, '');
  const fixed = own.replace(/^(https?):?\/+/i, '$1://');
  if (fixed !== link) issue('unusable-value', own === link ? 'link has a damaged scheme' : 'link repeats its host');
  const address = fixUrl(fixed);
  if (address === undefined) issue('unusable-value', 'link cannot be fixed');
  return address;
}
