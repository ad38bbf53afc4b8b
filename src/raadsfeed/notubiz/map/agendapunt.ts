import type { UpsertLine } from '../../aggregator/source-adapter.ts';
import type { AgendaItem } from '../answers/agenda-item.ts';
import { attributeText } from '../answers/attributes.ts';
import type { IssueSink } from '../issue-log.ts';
import { agendapuntId, meetingId } from './identity.ts';
import type { MappingContext } from './mapping-context.ts';
import { timeOf } from './moment-of.ts';
import { mapOrganisatie } from './organisatie.ts';
import { withoutAbsent } from './without-absent.ts';

export interface AgendaItemRelations {
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
