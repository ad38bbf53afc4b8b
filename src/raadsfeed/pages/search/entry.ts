/** The entry of a resource in the index. Other parties' feeds may hold members of any type, so each is checked where it is read. */
import { cutText } from '../../../lib/cut-text.ts';
import { type Resource, type ResourceType, readReference } from '../../../lib/feed/resource.ts';
import { isRecord, type JsonObject } from '../../../lib/json/json-value.ts';
import { DATE } from '../../../lib/time.ts';
import { datesIn, fold } from './fold.ts';

export type Entry = ReturnType<typeof toEntry>;

/** Longest texts that the index keeps, in characters; the feed has the whole. */
const TITLE = 500;
const NAME = 200;
const ADDRESS = 4000;
const WORDS = 20_000;

const MEMBERS = {
  Vergadering: {
    title: 'naam',
    unnamed: 'Vergadering zonder naam',
    soort: 'vergaderingstype',
    about: ['locatie', 'vergaderingstype', 'vergaderstatus'],
    text: ['vergadertoelichting'],
  },
  Agendapunt: {
    title: 'agendapuntnaam',
    unnamed: 'Agendapunt zonder naam',
    soort: undefined,
    about: ['tussenkop', 'locatie'],
    text: ['omschrijving', 'overig'],
  },
  Informatieobject: {
    title: 'titel',
    unnamed: 'Document zonder titel',
    soort: 'informatieobjecttype',
    about: ['auteur', 'informatieobjecttype', 'bronorganisatie'],
    text: ['omschrijving'],
  },
} as const;

const SHOWN = [
  ...['aanvang', 'einde', 'geplandeaanvang', 'geplandeeinde', 'vergaderdatum', 'geplandedatum', 'vergaderstatus'],
  ...['volgnummer', 'geplandvolgnummer', 'tussenkop', 'starttijd', 'eindtijd', 'geplandestarttijd', 'locatie'],
  ...['formaat', 'datumingediend'],
];
const FLAGS = ['indicatiehamerstuk', 'indicatiebehandeld', 'indicatiebesloten'];

export function toEntry(resourceType: ResourceType, { organisatiecode }: Resource, data: JsonObject) {
  const { title, unnamed, soort, about, text } = MEMBERS[resourceType];
  const body = resourceType === 'Vergadering' ? objectIn(data, 'georganiseerddoorgremium') : {};
  const gremiumnaam = textOf(body.gremiumnaam, NAME);
  const references = referencesOf(resourceType, organisatiecode, data);
  const first = references.find((reference) => reference.resourceType === 'Vergadering');
  const ofDocument = first?.organisatiecode === organisatiecode ? first.bronidentificatie : undefined;
  const values = (names: readonly string[]): unknown[] => names.map((name) => data[name]);
  return {
    titel: textOf(data[title], TITLE) ?? unnamed,
    datum:
      resourceType === 'Vergadering'
        ? meetingDate(data)
        : (momentOf(data.starttijd) ?? momentOf(data.geplandestarttijd) ?? momentOf(data.datumingediend)),
    soort: soort && textOf(data[soort], NAME),
    vergadering: {
      Vergadering: undefined,
      Agendapunt: textOf(objectIn(data, 'vergadering').bronidentificatie, TITLE),
      Informatieobject: ofDocument,
    }[resourceType],
    gremium: bodyKey(body),
    gremiumnaam,
    /** The members that lists show; written as JSON, without those that are undefined. */
    summary: {
      ...Object.fromEntries(SHOWN.map((name) => [name, textOf(data[name], NAME)])),
      ...Object.fromEntries(FLAGS.map((name) => [name, data[name] === true || undefined])),
      hoofd: textOf(objectIn(data, 'hoofdagendapunt').bronidentificatie, TITLE),
      omschrijving: resourceType === 'Agendapunt' ? textOf(data.omschrijving, 300) : undefined,
      bestandsurl: addressOf(data.bestandsurl),
      omvang: Number.isSafeInteger(data.omvang) ? data.omvang : undefined,
    },
    /** Words in the form of the index: of its title, its other texts, and the name of its body. */
    words: [wordsOf([data[title]]), wordsOf(values([...about, ...text])), wordsOf([gremiumnaam])],
    references,
  };
}

function referencesOf(resourceType: ResourceType, own: string, data: JsonObject) {
  const read = (resourceType: ResourceType, references: unknown, rol = '') =>
    (Array.isArray(references) ? references : []).flatMap((reference: unknown) => {
      const resource = readReference(reference, own);
      return resource === undefined ? [] : [{ ...resource, resourceType, rol }];
    });
  if (resourceType === 'Agendapunt') return [];
  if (resourceType === 'Vergadering') return read('Vergadering', [data.hoofdvergadering], 'hoofdvergadering');
  const related = objectIn(data, 'gerelateerdinformatieobject');
  return [
    ...read('Vergadering', data.vergaderingen),
    ...read('Agendapunt', data.agendapunten),
    ...read('Informatieobject', [related.informatieobject], textOf(related.rol, NAME)),
  ];
}

/** The actual start of a meeting, else the planned one. */
export function meetingDate(data: JsonObject): string | undefined {
  const { aanvang, geplandeaanvang, vergaderdatum, geplandedatum } = data;
  return momentOf(aanvang) ?? momentOf(geplandeaanvang) ?? momentOf(vergaderdatum) ?? momentOf(geplandedatum);
}

/** A moment as ISO 8601 in UTC; a day becomes its noon, which is the same day in Amsterdam. */
function momentOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 40) return undefined;
  const date = new Date(DATE.test(value) ? `${value}T12:00:00Z` : value);
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() < 1800 || date.getUTCFullYear() > 2500
    ? undefined
    : date.toISOString();
}

/** The identification of a body in the index and in addresses; cut if no address could hold it. */
export const bodyKey = ({ gremiumidentificatie }: JsonObject): string | undefined => textOf(gremiumidentificatie, NAME);

const objectIn = (data: JsonObject, name: string): JsonObject => (isRecord(data[name]) ? data[name] : {});

/** Text that Postgres accepts; `undefined` when it is empty. */
function textOf(value: unknown, length: number): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = cutText(value.replaceAll('\0', '').toWellFormed().trim(), length);
  return text === '' ? undefined : text;
}

/** An address is stored whole or not at all. */
function addressOf(value: unknown): string | undefined {
  const text = textOf(value, ADDRESS);
  return text !== undefined && text.length < ADDRESS ? text : undefined;
}

function wordsOf(values: readonly unknown[]): string {
  const text = cutText(values.flatMap((value) => textOf(value, WORDS) ?? []).join(' ; '), WORDS);
  // Folding can turn one letter into eighteen: cut again, to what Postgres accepts.
  return [cutText(fold(text), WORDS), ...datesIn(text).map((date) => `@${date}`)].join(' ').trim();
}
