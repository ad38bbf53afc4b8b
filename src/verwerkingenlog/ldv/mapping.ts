/** The mapping between an LDV log line and a verwerkingsactie, in both directions. */
import { hash } from 'node:crypto';
import { UUID_DIGITS } from '../../lib/patterns.ts';
import { moment } from '../../lib/time.ts';
import { isOrganisation } from '../domain/encryption.ts';
import { type Actie, actieOf, type Versie, type VerwerktObject, verwerktObjectId } from '../domain/verwerkingsactie.ts';
import { cut, withoutIdentifiers } from './masking.ts';
import {
  type AttributeValue,
  activityOf,
  DPL,
  dateOf,
  NS_PER_MS,
  type Span,
  subjectOf,
  textOf,
  UNKNOWN_KIND,
} from './span.ts';
import { LOGBOOKS, readLdvOf } from './stored-line.ts';

/** Characters of a text in an action; a longer one is shortened there, and whole in the LDV line. */
export const MAX_TEXT = 242;
export const MAX_URL = 2042;
const UUID_AT_END = new RegExp(`(?:^|[:=#/])(${UUID_DIGITS})/?$`, 'i');
const URI = /^[a-z][a-z0-9+.-]*:\S+$/i;
const OIN_IN_TEXT = /(?<!\d)\d{20}(?!\d)/;
const NIL_UUID = '00000000-0000-0000-0000-000000000000';

interface Draft {
  traceId: string;
  name: string;
  start: bigint;
  end: bigint;
  readonly resource: Map<string, AttributeValue>;
  readonly attributes: Map<string, AttributeValue>;
}

interface Row {
  /** The value that an action takes from it. A span that lacks it gives `null`, or an empty list. */
  readonly toActie: (span: Span) => Partial<Actie>;
  /** Puts it into a span; what an action lacks is left out. @param base address of the mount of area B */
  readonly toSpan: (draft: Draft, versie: Versie, base: string) => void;
}

/** The other members of a span are kept beside the action; the other members of an action are below. */
const MAPPING: Readonly<Record<string, Row>> = {
  trace_id: {
    toActie: ({ traceId }) => ({ verwerkingId: uuidOf(traceId) }),
    toSpan: (draft, versie) => {
      draft.traceId = traceIdOf(versie);
    },
  },
  name: {
    toActie: (span) => ({ actieNaam: plainText(span.name, span) }),
    toSpan: (draft, { actieNaam }) => {
      draft.name = actieNaam ?? '';
    },
  },
  start_time: {
    toActie: ({ start }) => ({ tijdstip: moment(dateOf(start)), tijdstipOffset: null }),
    toSpan: (draft, { tijdstip }) => {
      draft.start = BigInt(Date.parse(tijdstip)) * NS_PER_MS;
      if (draft.end < draft.start) draft.end = draft.start;
    },
  },
  [DPL.activity]: {
    toActie: (span) => {
      const uri = activityOf(span);
      return {
        verwerkingsactiviteitUrl: uri !== undefined && URI.test(uri) ? withoutIdentifiers(uri, span) : null,
        verwerkingsactiviteitId: uri === undefined ? null : activityIdIn(uri),
      };
    },
    toSpan: ({ attributes }, { verwerkingsactiviteitUrl: url, verwerkingsactiviteitId: id }, base) => {
      setText(attributes, DPL.activity, url ?? (id === null ? null : `${base}/verwerkingsactiviteiten/${id}`));
    },
  },
  [`${DPL.subject}, ${DPL.subjectType}`]: {
    toActie: (span) => {
      const subject = subjectOf(span);
      if (subject === undefined) return { verwerkteObjecten: [] };
      return { verwerkteObjecten: [{ ...subject, betrokkenheid: null, soortenGegevens: null }] };
    },
    toSpan: ({ attributes }, { objecten }) => setPerson(attributes, onlyOne(objecten)),
  },
  [DPL.processor]: {
    toActie: ({ attributes }) => {
      const oin = OIN_IN_TEXT.exec(textOf(attributes, DPL.processor) ?? '')?.[0] ?? null;
      return { afnemerId: oin, soortAfnemerId: oin === null ? null : 'OIN' };
    },
    // No address follows from an OIN.
    toSpan: ({ attributes }) => setText(attributes, DPL.processor, null),
  },
  'resource service.name, service.version': {
    toActie: (span) => {
      const parts = [textOf(span.resource, 'service.name'), textOf(span.resource, 'service.version')];
      const systeem = parts.filter((part) => part !== undefined && part !== '').join(' ');
      return { systeem: systeem === '' ? null : plainText(systeem, span) };
    },
    toSpan: ({ resource }, { systeem }) => {
      setText(resource, 'service.name', systeem);
      setText(resource, 'service.version', null);
    },
  },
};

const ROWS = Object.values(MAPPING);

/** Attributes for members of an action that LDV lacks; `gebruiker` is never sent, because LDV has no users. */
const OWN = 'koppelvlak.verwerkingsactie.';
const OWN_MEMBERS = [
  'handelingNaam',
  'gegevensbron',
  'verwerkingIdAfnemer',
  'verwerkingsactiviteitIdAfnemer',
  'verwerkingsactiviteitUrlAfnemer',
] as const satisfies readonly (keyof Versie)[];
/** For a line of LDV these come from the register or the client, not from the line itself. */
const REGISTER_MEMBERS = ['verwerkingNaam', 'bewaartermijn', 'uitvoerder'] as const satisfies readonly (keyof Versie)[];

/** The members that come from the register and the client's token. */
export type LineContext = Pick<Actie, 'vertrouwelijkheid' | 'bewaartermijn' | 'verwerkingNaam' | 'uitvoerder'>;

export function actieOfSpan(span: Span, context: LineContext): Actie {
  const actie = { ...EMPTY, ...context };
  for (const { toActie } of ROWS) Object.assign(actie, toActie(span));
  return actie;
}

const EMPTY: Actie = actieOf({ actieNaam: '', vertrouwelijkheid: 'normaal', tijdstip: new Date(0) });

/**
 * One line, or for several persons one for the action and one below it for each. An action that came through LDV gives that line, with later changes.
 * @param versie its identifiers decrypted @param base address of the mount of area B, which names activities without an address
 */
export function spansOf(versie: Versie, base: string): Span[] {
  const kept = readLdvOf(versie)?.span;
  const draft: Draft =
    kept === undefined
      ? { traceId: '', name: '', start: 0n, end: 0n, resource: new Map(), attributes: new Map() }
      : { ...kept, resource: new Map(kept.resource), attributes: new Map(kept.attributes) };
  for (const { toActie, toSpan } of ROWS) {
    if (kept === undefined || !isStill(toActie(kept), versie)) toSpan(draft, versie, base);
  }
  for (const member of OWN_MEMBERS) setText(draft.attributes, `${OWN}${member}`, versie[member]);
  if (kept === undefined) {
    for (const member of REGISTER_MEMBERS) setText(draft.attributes, `${OWN}${member}`, versie[member]);
    if (isOrganisation(versie.soortAfnemerId, versie.afnemerId ?? ''))
      setText(draft.attributes, `${OWN}afnemerId`, versie.afnemerId);
  }
  const { actieId, objecten, traceId, ouderSpanId } = versie;
  const only = onlyOne(objecten);
  if (only !== undefined) setOwn(draft.attributes, only);
  const spanId = kept?.spanId ?? spanIdOf(actieId, only?.nummer);
  // An entry of the service itself is in the trace of the call that it is about, below the caller's span: both logs can be read together.
  if (traceId !== null) draft.traceId = traceId.replaceAll('-', '');
  const parentSpanId = (traceId === null ? null : ouderSpanId) ?? kept?.parentSpanId;
  const whole: Span = {
    ...draft,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    status: kept?.status ?? 'Unset',
  };
  if (objecten.length < 2) return [whole];
  const children = objecten.map((object): Span => {
    const attributes = new Map(draft.attributes);
    setPerson(attributes, object);
    setOwn(attributes, object);
    return { ...whole, spanId: spanIdOf(actieId, object.nummer), parentSpanId: spanId, attributes };
  });
  return [whole, ...children];
}

/** Several persons become a span each. */
function onlyOne<T>(objects: readonly T[]): T | undefined {
  return objects.length === 1 ? objects[0] : undefined;
}

function setPerson(attributes: Map<string, AttributeValue>, person: VerwerktObject | undefined): void {
  const kind = person?.soortObjectId;
  setText(attributes, DPL.subject, person?.objectId ?? null);
  setText(attributes, DPL.subjectType, kind === undefined || kind === UNKNOWN_KIND ? null : kind);
}

/** The data of a person that LDV has no place for. */
function setOwn(attributes: Map<string, AttributeValue>, { betrokkenheid, soortenGegevens }: VerwerktObject): void {
  setText(attributes, `${OWN}betrokkenheid`, betrokkenheid);
  if (soortenGegevens !== null) attributes.set(`${OWN}verwerkteSoortenGegevens`, soortenGegevens);
}

function isStill({ verwerkteObjecten, ...fields }: Partial<Actie>, versie: Versie): boolean {
  const now: Readonly<Record<string, unknown>> = { ...versie };
  const personsIn = (objects: readonly VerwerktObject[]): string =>
    JSON.stringify(objects.map(({ soortObjectId, objectId }) => [soortObjectId, objectId]));
  return (
    Object.entries(fields).every(([member, value]) => now[member] === value) &&
    (verwerkteObjecten === undefined || personsIn(verwerkteObjecten) === personsIn(versie.objecten))
  );
}

function hashDigits(text: string, digits: number): string {
  return hash('sha256', text, 'hex').slice(0, digits);
}

/** The id of the span of an action's person, or without a number of the action itself. */
export function spanIdOf(actieId: string, nummer?: number): string {
  return hashDigits(`ldv-span:${actieId}/${nummer === undefined ? '' : verwerktObjectId(actieId, nummer)}`, 16);
}

export function traceIdOf({ actieId, verwerkingId }: Pick<Versie, 'actieId' | 'verwerkingId'>): string {
  // W3C: all zeros is not a trace.
  if (verwerkingId === null || verwerkingId === NIL_UUID) return hashDigits(`ldv-trace:${actieId}`, 32);
  return verwerkingId.replaceAll('-', '');
}

export function uuidOf(traceId: string): string {
  return traceId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** The UUID at the end of an activity's URI identifies it in the register. */
export function activityIdIn(uri: string): string | null {
  return UUID_AT_END.exec(uri)?.[1]?.toLowerCase() ?? null;
}

function setText(attributes: Map<string, AttributeValue>, name: string, value: string | null): void {
  if (value === null) attributes.delete(name);
  else attributes.set(name, value);
}

/** A text for a member of an action, which is stored in plain text. */
function plainText(text: string, span: Span): string {
  return cut(withoutIdentifiers(text, span), MAX_TEXT);
}

export function logbooksOf({ resource }: Pick<Span, 'resource'>): readonly string[] {
  const value = resource.get(LOGBOOKS);
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** The line as it is forwarded: it has passed this logbook too. @param own `PUBLIC_BASE_URL` */
export function forwarded(span: Span, own: string): Span {
  return { ...span, resource: new Map([...span.resource, [LOGBOOKS, [...logbooksOf(span), own]]]) };
}

/** A line of a sender that is not a logbook: its claims about logbooks are ignored, or it could keep its lines from one. */
export function withoutLogbooks(span: Span): Span {
  if (!span.resource.has(LOGBOOKS)) return span;
  return { ...span, resource: new Map([...span.resource].filter(([name]) => name !== LOGBOOKS)) };
}
