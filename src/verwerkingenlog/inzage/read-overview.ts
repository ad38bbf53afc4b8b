/** The part of the log that a citizen may see, read as the API reads it and logged like every other reading. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { OIN } from '../../lib/patterns.ts';
import { dayAfter, dutchDay, toUtc, withOffset } from '../../lib/time.ts';
import { requestClosedSignal } from '../../plugins/connections.ts';
import { traceOf } from '../../plugins/headers.ts';
import { isBsnKind, isSamePerson, type Versie } from '../domain/verwerkingsactie.ts';
import type { Activiteit } from '../domain/verwerkingsactiviteit.ts';
import type { Reader } from '../logged-read.ts';
import { hashesOf, preparePersonPage } from '../routes/person-page.ts';
import { readActiviteiten } from '../store/activiteiten.ts';
import type { Session } from './sessions.ts';
import type { Settings } from './site.ts';
import { AUTHOR, type Look, OWN_LOOK, readTimeline, type Timeline } from './store/citizens.ts';

interface OverviewOptions {
  readonly settings: Settings;
  /** Returns the address of the proof of an action; absent: no proofs are kept. */
  readonly proofAddress?: ((actieId: string) => string) | undefined;
}

/** Days are `2026-01-31`; absent: no limit at that end. */
export interface Period {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface Selection extends Period {
  readonly activity?: string | undefined;
  readonly cursor?: string | undefined;
  /** Without a period or an activity: only the newest year with entries. */
  readonly byYear: boolean;
  readonly limit: number;
}

export type Overview = Awaited<ReturnType<typeof readOverview>>;
export type Entry = ReturnType<typeof entryOf>;
export type Explanation = ReturnType<typeof explain>;

export interface Group {
  /** By name, else by number; `null` when neither the entries nor the activity name it. */
  readonly organisatie: string | null;
  readonly verwerkingsactiviteitId: string | null;
  readonly verwerkingsactiviteitUrl: string | null;
  /** `null` when the activity is not in the register, or confidential. */
  readonly activiteit: Explanation | null;
  readonly acties: Entry[];
}

/** Only actions that are not and never were confidential, as the API shows with `read:restricted`. */
const SHOWN = ['normaal'] as const;

/** The reader for the entry about a reading. Its author is never the citizen, whom the entry names as the person whose data were read. */
export function readerOf(request: FastifyRequest, reply: FastifyReply, handelingNaam: string): Reader {
  const author = { subject: AUTHOR, requestId: request.id, trace: traceOf(request) };
  return { context: {}, author, handelingNaam, signal: requestClosedSignal(reply) };
}

/**
 * Reads a page of the actions on a citizen's data.
 * @param address path of the next and previous page
 * @throws {Problem} 400 for an invalid selection
 */
export async function readOverview(
  { request, reply, address }: { request: FastifyRequest; reply: FastifyReply; address: string },
  { bsn }: Session,
  selection: Selection,
  { settings, proofAddress }: OverviewOptions,
) {
  const person = { soortObjectId: 'BSN', objectId: bsn };
  const { actieLog, database, verwerkingenlog } = request.server;
  const visible = { categorieen: SHOWN, per: 'actie' } as const;
  const reader = readerOf(request, reply, OWN_LOOK);
  const { page, period, timeline } = await verwerkingenlog.loggedRead(reader, async (db) => {
    const timeline = await readTimeline(db, { ...visible, hashes: hashesOf(person, actieLog.keys) });
    const period = periodOf(selection, timeline);
    const without = timeline.looks.filter(({ isOwn }) => isOwn).map(({ actieId }) => actieId);
    const query = {
      ...person,
      limit: selection.limit,
      beginDatum: period.from,
      eindDatum: period.to === undefined ? undefined : dayAfter(period.to),
      verwerkingsactiviteitId: selection.activity,
      cursor: selection.cursor,
    };
    const { result, ...reading } = await preparePersonPage(request, query, { ...visible, address, without })(db);
    const whole = Promise.resolve(result).then((page) => ({ page, period, timeline }));
    return { ...reading, result: whole };
  });
  const looked = new Set(timeline.looks.map(({ actieId }) => actieId));
  const versies = page.versies.filter(({ actieId }) => !looked.has(actieId));
  const ids = new Set(versies.flatMap(({ verwerkingsactiviteitId: id }) => (id === null ? [] : [id])));
  const register = await readActiviteiten(database.logPool, [...ids]);
  const nameOf = namer(settings);
  const toEntry = (versie: Versie) => entryOf(versie, bsn, nameOf, proofAddress);
  return {
    period,
    /** Years with entries, newest first; there may be earlier ones if `isCut`. */
    years: [...new Set(timeline.moments.map(yearOf))],
    isCut: timeline.isCut,
    /** Readings of the log in that period, newest first. The citizen's own are shown nowhere else. */
    looks: timeline.looks.filter(isWithin(period)),
    count: page.count,
    next: within(period, page.next),
    previous: within(period, page.previous),
    groups: groupsOf(versies, register, nameOf, toEntry),
    /** Readings by others on this page, which are in no group. */
    readings: page.versies.filter(({ actieId }) => looked.has(actieId)).map(toEntry),
  };
}

const yearOf = (tijdstip: string): string => dutchDay(new Date(tijdstip)).slice(0, 4);

function periodOf({ from, to, activity, byYear }: Selection, { moments }: Timeline): Period {
  const [newest] = moments;
  const isOpen = from === undefined && to === undefined && activity === undefined;
  if (!byYear || !isOpen || newest === undefined) return { from, to };
  return yearPeriod(yearOf(newest));
}

export function yearPeriod(year: string): { readonly from: string; readonly to: string } {
  return { from: `${year}-01-01`, to: `${year}-12-31` };
}

function isWithin({ from, to }: Period): (look: Look) => boolean {
  const moment = (day: string | undefined, absent: number): number =>
    day === undefined ? absent : Date.parse(toUtc(day) ?? '');
  const begin = moment(from, Number.NEGATIVE_INFINITY);
  const end = moment(to === undefined ? undefined : dayAfter(to), Number.POSITIVE_INFINITY);
  return ({ tijdstip }) => Date.parse(tijdstip) >= begin && Date.parse(tijdstip) < end;
}

/** The address of another page, with the period in it, because a later reading must not choose another year. */
function within({ from, to }: Period, address: string | null): string | null {
  if (address === null) return null;
  const [path = '', search = ''] = address.split('?', 2);
  const query = new URLSearchParams(search);
  if (from !== undefined) query.set('van', from);
  if (to !== undefined) query.set('tot', to);
  return `${path}?${query}`;
}

function groupsOf(
  versies: readonly Versie[],
  register: ReadonlyMap<string, Activiteit>,
  nameOf: NameOf,
  toEntry: (versie: Versie) => Entry,
): Group[] {
  const groups = new Map<string, Group>();
  for (const versie of versies) {
    const { uitvoerder, verwerkingsactiviteitId, verwerkingsactiviteitUrl } = versie;
    const known = register.get(verwerkingsactiviteitId ?? '');
    const activiteit = known?.vertrouwelijkheid === 'normaal' ? explain(known, nameOf) : null;
    const organisatie = uitvoerder === null ? (activiteit?.verantwoordelijkeOrganisatie ?? null) : nameOf(uitvoerder);
    const key = JSON.stringify([organisatie, verwerkingsactiviteitId ?? verwerkingsactiviteitUrl]);
    const shared = { organisatie, verwerkingsactiviteitId, verwerkingsactiviteitUrl, activiteit };
    const group = groups.get(key) ?? { ...shared, acties: [] };
    groups.set(key, group);
    group.acties.push(toEntry(versie));
  }
  // An organisation's activities are listed together, organisations with the newest first; those without a name come last.
  const byOrganisation = Map.groupBy(groups.values(), ({ organisatie }) => organisatie);
  const nameless = byOrganisation.get(null) ?? [];
  byOrganisation.delete(null);
  return [...byOrganisation.values(), nameless].flat();
}

/** The number in the register's initial activity, which stands for the operator of this service. */
const UNNAMED = '0'.repeat(20);

type NameOf = (oin: string) => string;

function namer({ organisation, organisationNames }: Settings): NameOf {
  return (oin) => (oin === UNNAMED ? organisation : (organisationNames.get(oin) ?? `organisatie met nummer ${oin}`));
}

function explain(activiteit: Activiteit, nameOf: NameOf) {
  const { naam, verantwoordelijkeOrganisatie, doel, grondslag } = activiteit;
  const { toelichtingGrondslag, bewaartermijn, herkomst, afnemendeCategorieOntvangers } = activiteit;
  return {
    naam,
    verantwoordelijkeOrganisatie: nameOf(verantwoordelijkeOrganisatie),
    doel,
    grondslag,
    toelichtingGrondslag,
    bewaartermijn,
    herkomst,
    afnemendeCategorieOntvangers,
  };
}

/** An action as the citizen sees it, on the page and in the download; unknown members are `null`. */
function entryOf(versie: Versie, bsn: string, nameOf: NameOf, proofAddress: OverviewOptions['proofAddress']) {
  const { actieId, actieNaam, handelingNaam, verwerkingNaam, uitvoerder, objecten, bewaartermijn } = versie;
  // A proof covers all that the log shows of an action, including the number of another person.
  const bewijs = namesAnother(versie, bsn) ? undefined : proofAddress?.(actieId);
  return {
    actieId,
    tijdstip: withOffset(versie.tijdstip, versie.tijdstipOffset),
    actieNaam,
    handelingNaam,
    verwerkingNaam,
    uitvoerder,
    ontvanger: recipientOf(versie, bsn, nameOf),
    rol: distinct(objecten.map(({ betrokkenheid }) => betrokkenheid)),
    soortenGegevens: distinct(objecten.flatMap(({ soortenGegevens }) => soortenGegevens ?? [])),
    bewaartermijn,
    ...(bewijs === undefined ? {} : { bewijs }),
  };
}

/** Whether an action names another person, by number, as receiver of the data; this citizen may not see that number. */
export function namesAnother({ soortAfnemerId, afnemerId }: Versie, bsn: string): boolean {
  if (afnemerId === null || !isBsnKind(soortAfnemerId)) return false;
  return !isSamePerson({ soortObjectId: 'BSN', objectId: afnemerId }, { soortObjectId: 'BSN', objectId: bsn });
}

function recipientOf(versie: Versie, bsn: string, nameOf: NameOf): string | null {
  const { soortAfnemerId, afnemerId } = versie;
  if (afnemerId === null) return null;
  if (namesAnother(versie, bsn)) return 'een andere persoon';
  if (isBsnKind(soortAfnemerId)) return 'u zelf';
  if (OIN.test(afnemerId)) return nameOf(afnemerId);
  return soortAfnemerId === null ? afnemerId : `${soortAfnemerId} ${afnemerId}`;
}

function distinct(texts: readonly (string | null)[]): string[] {
  return [...new Set(texts.filter((text) => text !== null))];
}
