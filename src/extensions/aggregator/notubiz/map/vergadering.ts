import type { UpsertLine } from '../../supplier/source-adapter.ts';
import type { IssueSink } from '../issue-log.ts';
import type { AgendaItem, Meeting } from '../parse/meeting.ts';
import { momentOf, timeOf } from '../parse/moment.ts';
import { type Attributes, attributeText, fixUrl } from '../parse/values.ts';
import type { Names } from '../read/organisation.ts';
import { agendapuntId, type MappingContext, mapOrganisatie, meetingId, meetingPage, withoutAbsent } from './context.ts';

/** What a meeting's own answer does not say. All of it is published too. */
interface MeetingRelations {
  /** Id of the assembly that it is a part of. */
  readonly parent: string | undefined;
  /** Ids of its children, when it is an assembly. */
  readonly children: readonly string[] | undefined;
  /** Ids of its agenda items, nested ones too, in their order. */
  readonly agendaItems: readonly string[];
}

interface MappedMeeting {
  readonly record: UpsertLine;
  /** Dutch day on which it is; `undefined` when the supplier gives none. */
  readonly day: string | undefined;
  /** Moment at which `gepland` becomes `gehouden`; `null` when that will not happen any more. */
  readonly endsAt: string | null;
}

/** Maps a meeting or an assembly to a Vergadering. */
export function mapVergadering(
  meeting: Meeting,
  relations: MeetingRelations,
  context: MappingContext,
  issue: IssueSink,
): MappedMeeting {
  const { source, gremia } = context;
  const [planning] = meeting.plannings;
  const start = momentOf(planning?.start, 'start_date', issue);
  const end = endOf(start?.utc, timeOf(planning?.end, 'end_date', issue), issue);
  const status = statusOf(meeting.canceled, end ?? start?.utc, start?.day, context.now);
  const title = labelledText(meeting.attributes, 'Titel', '1', context.labels, issue);
  const data = {
    bronidentificatie: meetingId(meeting.id),
    dossiertype: 'vergadering',
    organisatie: mapOrganisatie(source),
    naam: title ?? (start === undefined ? 'Vergadering' : `Vergadering ${start.day}`),
    ...withoutAbsent({
      gewijzigdop: timeOf(meeting.lastModified, 'last_modified', issue),
      webpaginalink: meetingPage(source, meeting.id) ?? ownPage(meeting.url, issue),
      aanvang: start?.utc,
      einde: end,
      vergaderdatum: start?.day,
      locatie: labelledText(meeting.attributes, 'Locatie', '50', context.labels, issue),
      vergadertoelichting: labelledText(meeting.attributes, 'Omschrijving', '3', context.labels, issue),
      vergaderstatus: status.name,
      vergaderingstype: meeting.body,
      georganiseerddoorgremium: gremiumOf(meeting.gremiumId, gremia, issue),
      hoofdvergadering: relations.parent === undefined ? undefined : reference(meetingId(relations.parent)),
      deelvergaderingen: relations.children?.map((id) => reference(meetingId(id))),
    }),
    agendapunten: relations.agendaItems.map((id) => reference(agendapuntId(id))),
  };
  return { record: { op: 'upsert', resourceType: 'Vergadering', data }, day: start?.day, endsAt: status.changesAt };
}

function reference(bronidentificatie: string): { bronidentificatie: string } {
  return { bronidentificatie };
}

/** An end belongs to a start, and comes after it. */
function endOf(start: string | undefined, end: string | undefined, issue: IssueSink): string | undefined {
  if (end === undefined) return undefined;
  if (start === undefined) {
    issue('unusable-value', 'end_date: an end without a start');
    return undefined;
  }
  if (end >= start) return end;
  issue('unusable-value', 'end_date: before the start');
  return undefined;
}

function statusOf(
  canceled: boolean,
  moment: string | undefined,
  day: string | undefined,
  now: Date,
): { name: string | undefined; changesAt: string | null } {
  if (canceled) return { name: 'geannuleerd', changesAt: null };
  const changesAt = moment ?? (day === undefined ? undefined : `${day}T23:00:00Z`);
  if (changesAt === undefined) return { name: undefined, changesAt: null };
  return Date.parse(changesAt) > now.getTime() ? { name: 'gepland', changesAt } : { name: 'gehouden', changesAt: null };
}

function ownPage(url: string | undefined, issue: IssueSink): string | undefined {
  if (url === undefined) return undefined;
  const fixed = fixUrl(url);
  if (fixed === undefined) issue('unusable-value', `url cannot be fixed: ${url.slice(0, 100)}`);
  return fixed;
}

function gremiumOf(
  id: string | undefined,
  gremia: MappingContext['gremia'],
  issue: IssueSink,
): { gremiumidentificatie: string; gremiumnaam: string } | undefined {
  if (id === undefined) return undefined;
  const name = gremia.get(id);
  if (name === undefined || name === '') {
    // Both members belong to it, or it is left out.
    issue('unknown-gremium', `gremium ${id} has no name`);
    return undefined;
  }
  return { gremiumidentificatie: id, gremiumnaam: name };
}

interface AgendaItemRelations {
  readonly meeting: string;
  readonly parent: string | undefined;
  /** Ids of the items nested directly in it that are published too. */
  readonly children: readonly string[];
}

/** Maps an agenda item that may be published to an Agendapunt. */
export function mapAgendapunt(
  item: AgendaItem,
  relations: AgendaItemRelations,
  context: MappingContext,
  issue: IssueSink,
): UpsertLine {
  const about: IssueSink = (what, detail) => issue(what, `agenda item ${item.id}: ${detail}`);
  const naam = attributeText(item.attributes, '1', about) ?? item.titlePrefix ?? 'Agendapunt';
  const time = (id: string): string | undefined => timeOf(item.attributes.get(id), `attribute ${id}`, about);
  const { parent, children } = relations;
  const data = {
    bronidentificatie: agendapuntId(item.id),
    dossiertype: 'agendapunt',
    organisatie: mapOrganisatie(context.source),
    agendapuntnaam: naam,
    vergadering: { bronidentificatie: meetingId(relations.meeting) },
    ...withoutAbsent({
      gewijzigdop: timeOf(item.lastModified, 'last_modified', about),
      omschrijving: attributeText(item.attributes, '3', about),
      geplandestarttijd: time('82'),
      geplandeeindtijd: time('83'),
      starttijd: timeOf(item.start, 'start_date', about),
      eindtijd: timeOf(item.end, 'end_date', about),
      volgnummer: item.order,
      geplandvolgnummer: item.titlePrefix,
      tussenkop: item.subheading ? naam : undefined,
      hoofdagendapunt: parent === undefined ? undefined : { bronidentificatie: agendapuntId(parent) },
      subagendapunten:
        children.length === 0 ? undefined : children.map((id) => ({ bronidentificatie: agendapuntId(id) })),
    }),
    indicatiebesloten: item.hidden,
  };
  return { op: 'upsert', resourceType: 'Agendapunt', data };
}

/**
 * The attribute that the organisation labels so. Where no attribute has the label, the one with the usual id, unless the
 * organisation calls that something else.
 */
function labelledText(
  attributes: Attributes,
  label: string,
  usualId: string,
  labels: Names | undefined,
  issue: IssueSink,
): string | undefined {
  const ids = [...(labels ?? [])].filter(([, name]) => name.toLowerCase() === label.toLowerCase()).map(([id]) => id);
  if (ids.length === 0) return attributeText(attributes, usualId, issue);
  return ids.map((id) => attributeText(attributes, id, issue)).find((value) => value !== undefined);
}
