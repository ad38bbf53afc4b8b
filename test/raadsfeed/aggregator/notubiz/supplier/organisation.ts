import { assemblyOf, ORGANISATION, type Raw } from './answers.ts';

/** The supplier's data for one organisation. A test changes it as the organisation would. */
export class NotubizOrganisation {
  readonly id: number;
  /** Whether `/organisations` lists it, and whether `/organisations/{id}` has it. */
  listed = true;
  direct = true;
  labels: Readonly<Record<string, string>> = { 1: 'Titel', 3: 'Omschrijving', 50: 'Locatie' };
  readonly gremia: Raw[] = [{ id: 4972, title: 'raadscommissie Financiën' }];
  readonly meetings = new Map<string, Raw>();
  readonly assemblies = new Map<string, Raw>();
  readonly children = new Set<string>();
  readonly modules: Raw[] = [
    { id: 1, name: 'Ingekomen stukken', custom_name: '' },
    { id: 6, name: 'Moties', custom_name: 'Moties en amendementen' },
  ];
  /** Register items, by module. */
  readonly registers = new Map<string, Raw[]>();
  /** Members of a listed event that differ from the meeting's. */
  readonly listedAs = new Map<string, Raw>();
  /** Existing events that the list omits. */
  readonly unlisted = new Set<string>();

  constructor(id: number = ORGANISATION) {
    this.id = id;
  }

  addMeeting(meeting: Raw): this {
    this.meetings.set(String(meeting.id), meeting);
    return this;
  }

  addAssembly(meeting: Raw, children: readonly Raw[]): this {
    const id = String(meeting.id);
    this.addMeeting({ ...meeting, type: 'assembly' });
    this.assemblies.set(id, assemblyOf(meeting, children));
    for (const child of children) {
      this.addMeeting({ ...child, parent: { id: meeting.id, self: `api.notubiz.nl/events/${id}` } });
      this.children.add(String(child.id));
    }
    return this;
  }

  addRegisterItem(module: number, item: Raw): this {
    this.registers.set(String(module), [...(this.registers.get(String(module)) ?? []), item]);
    return this;
  }

  /** Replaces members of a meeting. */
  change(id: number, more: Raw): void {
    const known = this.meetings.get(String(id));
    if (known === undefined) throw new Error(`there is no meeting ${id}`);
    this.meetings.set(String(id), { ...known, ...more });
  }

  remove(id: number): void {
    this.meetings.delete(String(id));
    this.assemblies.delete(String(id));
  }

  /** The events of the list: without children, and with counts of their contents. */
  events(): Raw[] {
    return [...this.meetings]
      .filter(([id]) => !this.children.has(id) && !this.unlisted.has(id))
      .map(([id, meeting]) => ({ ...this.#event(id, meeting), ...this.listedAs.get(id) }));
  }

  registerItem(id: string): Raw | undefined {
    for (const items of this.registers.values()) {
      const found = items.find((item) => String(item.id) === id);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #event(id: string, meeting: Raw): Raw {
    const { documents: _documents, agenda_items: _agenda, module_items: _modules, ...rest } = meeting;
    const assembly = this.assemblies.get(id);
    const children = list(assembly?.meetings).map((child) => this.meetings.get(String(child.id)));
    const documents = [meeting, ...children].reduce((sum, one) => sum + countDocuments(one), 0);
    const data =
      assembly === undefined
        ? { self: `api.notubiz.nl/events/meetings/${id}`, agenda_item_count: countItems(meeting) }
        : { self: `api.notubiz.nl/events/assemblies/${id}`, meetings_count: children.length };
    return { ...rest, event_type_data: { ...data, document_count: documents } };
  }
}

function list(value: unknown): Raw[] {
  return Array.isArray(value) ? value : [];
}

function countItems(holder: Raw): number {
  return list(holder.agenda_items).reduce((sum, item) => sum + 1 + countItems(item), 0);
}

function countDocuments(holder: Raw | undefined): number {
  if (holder === undefined) return 0;
  return list(holder.documents).length + list(holder.agenda_items).reduce((sum, item) => sum + countDocuments(item), 0);
}
