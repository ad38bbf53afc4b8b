/** Whether and how a document is offered. Other parties' feeds may hold members of any type, so each is checked where it is read. */
import { cutText } from '../../lib/cut-text.ts';
import { type Resource, readReference } from '../../lib/feed/resource.ts';
import type { JsonObject } from '../../lib/json/json-value.ts';
import { stripControls } from '../../lib/template.ts';
import { isDay } from '../../lib/time.ts';
import { categoryNumber, fileType } from '../woo-value-lists.ts';

/** Reasons to leave out a current document: those that follow from the document itself, and the last two. */
export type Reason =
  | 'no-file'
  | 'not-https'
  | 'bad-address'
  | 'unknown-category'
  | 'no-date'
  | 'closed-items-only'
  | 'same-address';

/** Shortest and longest address that a sitemap may hold (sitemaps.org 0.9); the longest in bytes as written. */
const MIN_LOC = 12;
const MAX_LOC_BYTES = 2048;
const MAX_TITLE = 500;
const MAX_ITEMS = 500;

/** The data of a document in the index; days are `YYYY-MM-DD`. @param organisatiecode of the document, assumed for references without one */
export function toOffer(organisatiecode: string, data: JsonObject) {
  const file = fileOf(data.bestandsurl);
  const address = file instanceof URL ? file : undefined;
  const categorie = categoryNumber(data.wooinformatiecategorie);
  const submittedOn = dayOf(data.datumingediend);
  const unusable: Reason | undefined =
    categorie === undefined ? 'unknown-category' : submittedOn === undefined ? 'no-date' : undefined;
  return {
    loc: address && addressText(address),
    categorie,
    titel: (typeof data.titel === 'string' && cleanTitle(data.titel)) || 'Document zonder titel',
    // The day of submission is the first on which the document is known to have existed.
    creatiedatum: dayOf(data.creatiedatum) ?? submittedOn,
    submittedOn,
    formaat: address && fileType(data.formaat, address),
    reason: file instanceof URL ? unusable : file,
    items: itemsOf(organisatiecode, data.agendapunten),
  };
}

/** The address of the file in its normal form, or why it cannot be offered. */
function fileOf(value: unknown): URL | Reason {
  if (typeof value !== 'string' || value.trim() === '') return 'no-file';
  if (value.length > 4 * MAX_LOC_BYTES || !URL.canParse(value)) return 'bad-address';
  const address = new URL(value);
  if (address.protocol !== 'https:') return 'not-https';
  // A password in an address must not be published.
  if (address.username !== '' || address.password !== '') return 'bad-address';
  const href = addressText(address);
  const written = href.replaceAll('&', '&amp;').replaceAll("'", '&#39;');
  return href.length < MIN_LOC || Buffer.byteLength(written) > MAX_LOC_BYTES ? 'bad-address' : address;
}

/** An address in the form of RFC 3986: `URL` leaves some characters that RFC 3986 does not allow. */
function addressText({ origin, pathname, search }: URL): string {
  return (
    origin +
    `${pathname}${search}`
      .replace(/[^\w\-.~:/?@!$&'()*+,;=%]/g, (character) => encodeURIComponent(character))
      .replace(/%(?![0-9a-f]{2})/gi, '%25')
  );
}

function cleanTitle(text: string): string {
  return cutText(
    stripControls(text.slice(0, 4 * MAX_TITLE))
      .replace(/\s+/g, ' ')
      .trim(),
    MAX_TITLE,
  );
}

/** The day of a date or moment, as the source wrote it; `undefined` when the calendar lacks it. */
function dayOf(value: unknown): string | undefined {
  const day = typeof value === 'string' && value.length <= 40 ? /^(\d{4}-\d\d-\d\d)(T|$)/.exec(value)?.[1] : undefined;
  return day !== undefined && isDay(day) && day >= '1500' ? day : undefined;
}

function itemsOf(own: string, references: unknown): Resource[] {
  const found = Array.isArray(references)
    ? references.slice(0, MAX_ITEMS).flatMap((one) => readReference(one, own) ?? [])
    : [];
  return [...new Map(found.map((one) => [`${one.organisatiecode} ${one.bronidentificatie}`, one])).values()];
}

/** `parent` is the item that it lies below, of the same organisation. */
export function toItemState(
  organisatiecode: string,
  data: JsonObject,
): { readonly isClosed: boolean; readonly parent: string | undefined } {
  const { bronidentificatie: parent } = readReference(data.hoofdagendapunt, organisatiecode) ?? {};
  return { isClosed: data.indicatiebesloten === true, parent };
}
