/** What the index keeps of a resource. Feeds of others may hold members of any kind, so each is checked where it is read. */

import { normaliseOrganisatiecode } from '../../../lib/feed-client/organisatiecode.ts';
import { isRecord, type JsonObject } from '../../../lib/json/json-value.ts';
import type { Resource, ResourceType } from '../../../raadsfeed/domain/resource.ts';
import { fold } from './fold.ts';

/** A reference of a resource to another one. */
export interface EntryReference {
  readonly organisatiecode: string;
  readonly resourceType: ResourceType;
  readonly bronidentificatie: string;
  readonly rol: string;
}

export interface Entry {
  readonly titel: string;
  /** ISO 8601. */
  readonly datum: string | undefined;
  readonly soort: string | undefined;
  readonly vergadering: string | undefined;
  readonly gremium: string | undefined;
  readonly gremiumnaam: string | undefined;
  /** The members that lists show. */
  readonly kort: JsonObject;
  /** Folded texts by weight: what it is called, who it concerns, what it says. */
  readonly words: readonly [string, string, string];
  readonly references: readonly EntryReference[];
}

/** Longest texts that the index keeps, in characters; the feed has the whole. */
const TITLE = 500;
const NAME = 200;
const WORDS = 20_000;
const REFERENCES = 500;

export function toEntry(resourceType: ResourceType, resource: Resource, data: JsonObject): Entry {
  if (resourceType === 'Vergadering') return meetingEntry(resource, data);
  return resourceType === 'Agendapunt' ? itemEntry(resource, data) : documentEntry(resource, data);
}

function meetingEntry({ organisatiecode }: Resource, data: JsonObject): Entry {
  const body = isRecord(data.georganiseerddoorgremium) ? data.georganiseerddoorgremium : {};
  const gremiumnaam = textOf(body.gremiumnaam, NAME);
  const kort = pick(data, [
    'aanvang',
    'einde',
    'geplandeaanvang',
    'geplandeeinde',
    'vergaderdatum',
    'geplandedatum',
    'locatie',
    'vergaderstatus',
  ]);
  return {
    titel: textOf(data.naam, TITLE) ?? 'Vergadering zonder naam',
    datum: meetingDate(data),
    soort: textOf(data.vergaderingstype, NAME),
    vergadering: undefined,
    gremium: textOf(body.gremiumidentificatie, NAME),
    gremiumnaam,
    kort,
    words: words(
      [data.naam],
      [gremiumnaam, data.locatie, data.vergaderingstype, data.vergaderstatus],
      [data.vergadertoelichting],
    ),
    references: referencesOf(organisatiecode, 'Vergadering', [data.hoofdvergadering], 'hoofdvergadering'),
  };
}

function itemEntry(_resource: Resource, data: JsonObject): Entry {
  const parent = isRecord(data.hoofdagendapunt) ? textOf(data.hoofdagendapunt.bronidentificatie, TITLE) : undefined;
  const members = [
    'volgnummer',
    'geplandvolgnummer',
    'tussenkop',
    'starttijd',
    'eindtijd',
    'geplandestarttijd',
    'locatie',
  ];
  const flags = ['indicatiehamerstuk', 'indicatiebehandeld', 'indicatiebesloten'].filter((name) => data[name] === true);
  return {
    titel: textOf(data.agendapuntnaam, TITLE) ?? 'Agendapunt zonder naam',
    datum: momentOf(data.starttijd) ?? momentOf(data.geplandestarttijd),
    soort: undefined,
    vergadering: isRecord(data.vergadering) ? textOf(data.vergadering.bronidentificatie, TITLE) : undefined,
    ...{ gremium: undefined, gremiumnaam: undefined },
    kort: {
      ...pick(data, members),
      ...Object.fromEntries(flags.map((flag) => [flag, true])),
      ...(parent === undefined ? {} : { hoofd: parent }),
      ...(textOf(data.omschrijving, 300) === undefined ? {} : { omschrijving: textOf(data.omschrijving, 300) }),
    },
    words: words([data.agendapuntnaam], [data.tussenkop, data.locatie], [data.omschrijving, data.overig]),
    references: [],
  };
}

function documentEntry({ organisatiecode }: Resource, data: JsonObject): Entry {
  const related = isRecord(data.gerelateerdinformatieobject) ? data.gerelateerdinformatieobject : {};
  const meetings = referencesOf(organisatiecode, 'Vergadering', data.vergaderingen, '');
  const [first] = meetings;
  return {
    titel: textOf(data.titel, TITLE) ?? 'Document zonder titel',
    datum: momentOf(data.datumingediend),
    soort: textOf(data.informatieobjecttype, NAME),
    vergadering: first?.organisatiecode === organisatiecode ? first.bronidentificatie : undefined,
    ...{ gremium: undefined, gremiumnaam: undefined },
    kort: {
      ...pick(data, ['bestandsurl', 'formaat', 'datumingediend']),
      ...(Number.isSafeInteger(data.omvang) ? { omvang: data.omvang } : {}),
    },
    words: words([data.titel], [data.auteur, data.informatieobjecttype, data.bronorganisatie], [data.omschrijving]),
    references: [
      ...meetings,
      ...referencesOf(organisatiecode, 'Agendapunt', data.agendapunten, ''),
      ...referencesOf(organisatiecode, 'Informatieobject', [related.informatieobject], textOf(related.rol, NAME) ?? ''),
    ],
  };
}

/** When a meeting is: as it went, else as it was planned. */
export function meetingDate(data: JsonObject): string | undefined {
  const { aanvang, geplandeaanvang, vergaderdatum, geplandedatum } = data;
  return momentOf(aanvang) ?? momentOf(geplandeaanvang) ?? momentOf(vergaderdatum) ?? momentOf(geplandedatum);
}

/** A moment as ISO 8601 in UTC; a day is its noon, which is the same day in Amsterdam. */
function momentOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 40) return undefined;
  const date = new Date(/^\d{4}-\d\d-\d\d$/.test(value) ? `${value}T12:00:00Z` : value);
  // A year that Postgres and calendars can hold.
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() < 1800 || date.getUTCFullYear() > 2500
    ? undefined
    : date.toISOString();
}

/** Text that can be kept: not empty, without the character that Postgres refuses. */
function textOf(value: unknown, length: number): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.replaceAll('\0', '').toWellFormed().trim().slice(0, length).toWellFormed();
  return text === '' ? undefined : text;
}

function pick(data: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.flatMap((name) => {
      // An address is kept whole or not at all.
      const text = textOf(data[name], name === 'bestandsurl' ? 4000 : NAME);
      return text === undefined || (name === 'bestandsurl' && text.length >= 4000) ? [] : [[name, text]];
    }),
  );
}

function words(title: readonly unknown[], about: readonly unknown[], text: readonly unknown[]): Entry['words'] {
  const joined = (values: readonly unknown[]): string =>
    fold(
      values
        .flatMap((value) => textOf(value, WORDS) ?? [])
        .join(' ')
        .slice(0, WORDS),
    );
  return [joined(title), joined(about), joined(text)];
}

function referencesOf(own: string, resourceType: ResourceType, references: unknown, rol: string): EntryReference[] {
  if (!Array.isArray(references)) return [];
  return references.slice(0, REFERENCES).flatMap((reference: unknown) => {
    const bronidentificatie = isRecord(reference) ? textOf(reference.bronidentificatie, 4000) : undefined;
    if (!isRecord(reference) || bronidentificatie === undefined) return [];
    const code =
      typeof reference.organisatiecode === 'string' ? normaliseOrganisatiecode(reference.organisatiecode) : own;
    return code === undefined ? [] : [{ organisatiecode: code, resourceType, bronidentificatie, rol }];
  });
}
