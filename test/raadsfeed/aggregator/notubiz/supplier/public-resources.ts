import type { Raw } from './answers.ts';
import type { NotubizOrganisation } from './organisation.ts';

/** An organisation's publishable resources, straight from the rules: the keys that a feed should have. */
export function publicResources(organisation: NotubizOrganisation): string[] {
  const keys = new Set<string>();
  const secret = new Set<string>();
  const documents = (holder: Raw, visible: boolean): void => {
    for (const document of documentsOf(holder)) {
      const key = `Informatieobject/document-${String(document.id)}`;
      if (document.confidential === 1) secret.add(key);
      else if (visible) keys.add(key);
    }
  };
  const agenda = (holder: Raw, visible: boolean): void => {
    for (const item of list(holder.agenda_items)) {
      const shown = visible && isPublic(item);
      if (shown) keys.add(`Agendapunt/agendapunt-${String(item.id)}`);
      documents(item, shown);
      agenda(item, shown);
    }
  };
  for (const [id, meeting] of organisation.meetings) {
    const parent =
      typeof meeting.parent === 'object' && meeting.parent !== null && 'id' in meeting.parent ? meeting.parent.id : id;
    const listed = organisation.meetings.get(String(parent));
    const shown = isPublic(meeting) && listed !== undefined && isPublic(listed);
    if (shown) keys.add(`Vergadering/meeting-${id}`);
    documents(meeting, shown);
    agenda(meeting, shown);
  }
  for (const item of [...organisation.registers.values()].flat()) {
    documents(item, isPublic(item));
    if (isPublic(item) && documentsOf(item).length === 0) keys.add(`Informatieobject/registerstuk-${String(item.id)}`);
  }
  return [...keys].filter((key) => !secret.has(key)).toSorted();
}

function isPublic({ confidential, permission_group }: Raw): boolean {
  return confidential === 0 && permission_group === 'public';
}

function list(value: unknown): Raw[] {
  return Array.isArray(value) ? value : [];
}

function documentsOf(holder: Raw): Raw[] {
  const attributes = list(holder.attributes).flatMap(({ values }) => list(values).map(({ document }) => document));
  const { attachments } = holder;
  const attached =
    typeof attachments === 'object' && attachments !== null && 'document' in attachments ? attachments.document : [];
  return [
    ...list(holder.documents),
    ...list(attributes.filter((document) => document !== undefined)),
    ...list(attached),
  ];
}
