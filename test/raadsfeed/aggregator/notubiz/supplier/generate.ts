import { agendaItemOf, documentOf, meetingOf, moduleItemReference, type Raw, registerItemOf } from './answers.ts';
import { NotubizOrganisation } from './organisation.ts';

/** A repeatable random generator (mulberry32). */
export function chanceOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface GenerateOptions {
  readonly seed: number;
  /** Events in the year; some of them are assemblies with children. */
  readonly events: number;
  readonly year?: number;
}

/** An organisation with everything that the supplier offers: documents in all places, some of them in several, some not public. */
export function generateOrganisation({ seed, events, year = 2025 }: GenerateOptions): NotubizOrganisation {
  const chance = chanceOf(seed);
  const organisation = new NotubizOrganisation();
  let next = seed * 100_000;
  const id = (): number => {
    next += 1;
    return next;
  };
  const pick = (max: number): number => Math.floor(chance() * max);
  const marks = (): Raw => (chance() < 0.1 ? { confidential: 1 } : {});
  const documents: Raw[] = [];
  const document = (): Raw => {
    const known = documents[pick(documents.length * 4)];
    if (known !== undefined) return known;
    const made = documentOf(id(), { ...marks(), version: 1 + pick(3) });
    documents.push(made);
    return made;
  };
  const some = <T>(max: number, make: () => T): T[] => Array.from({ length: pick(max + 1) }, make);
  const day = (): string => new Date(Date.UTC(year, 0, 1 + pick(365))).toISOString().slice(0, 10);
  const registerItem = (): number => {
    const item = registerItemOf(id(), {
      ...marks(),
      date: day(),
      main: some(1, document),
      attached: some(2, document),
    });
    organisation.addRegisterItem(chance() < 0.5 ? 1 : 6, item);
    return Number(item.id);
  };
  const agenda = (depth: number): Raw[] =>
    some(4, () =>
      agendaItemOf(id(), {
        ...marks(),
        documents: some(2, document),
        module_items: chance() < 0.2 ? [moduleItemReference(registerItem())] : [],
        agenda_items: depth > 0 && chance() < 0.4 ? agenda(depth - 1) : [],
      }),
    );
  const meeting = (start: string, more: Raw = {}): Raw =>
    meetingOf(id(), { ...more, start, documents: some(2, document), agenda_items: agenda(2) });
  for (let made = 0; made < events; made += 1) {
    const start = `${day()} 19:30:00`;
    const hidden = chance() < 0.1 ? { permission_group: 'members' } : {};
    if (chance() < 0.3)
      organisation.addAssembly(
        meeting(start, hidden),
        some(3, () => meeting(start, marks())),
      );
    else organisation.addMeeting(meeting(start, hidden));
  }
  for (let made = 0; made < events / 2; made += 1) registerItem();
  return organisation;
}
