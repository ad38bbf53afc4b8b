/** The terms that DiWoo uses from the value lists of TOOI and of the Publications Office of the EU (as in `diwoo-metadata-lijsten.xsd` 0.9.8). */
import { extname } from 'node:path';

const THESAURUS = 'https://identifier.overheid.nl/tooi/def/thes/kern/';

/** The information categories; the first is `infocat001` in the names of sitemaps. */
const CATEGORIES = [
  { code: 'c_139c6280', label: 'wetten en algemeen verbindende voorschriften' },
  { code: 'c_aab6bfc7', label: 'overige besluiten van algemene strekking' },
  { code: 'c_759721e2', label: 'ontwerpen van wet- en regelgeving met adviesaanvraag' },
  { code: 'c_40a05794', label: 'organisatie en werkwijze' },
  { code: 'c_89ee6784', label: 'bereikbaarheidsgegevens' },
  { code: 'c_8c840238', label: 'bij vertegenwoordigende organen ingekomen stukken' },
  { code: 'c_c76862ab', label: 'vergaderstukken Staten-Generaal' },
  { code: 'c_db4862c3', label: 'vergaderstukken decentrale overheden' },
  { code: 'c_3a248e3a', label: 'agenda’s en besluitenlijsten bestuurscolleges' },
  { code: 'c_99a836c7', label: 'adviezen' },
  { code: 'c_8fc2335c', label: 'convenanten' },
  { code: 'c_c6cd1213', label: 'jaarplannen en jaarverslagen' },
  { code: 'c_cf268088', label: 'subsidieverplichtingen anders dan met beschikking' },
  { code: 'c_3baef532', label: 'Woo-verzoeken en -besluiten' },
  { code: 'c_fdaee95e', label: 'onderzoeksrapporten' },
  { code: 'c_46a81018', label: 'beschikkingen' },
  { code: 'c_a870c43d', label: 'klachtoordelen' },
  { code: 'c_816e508d', label: 'inspanningsverplichting art 3.1 Woo' },
];

export interface Term {
  readonly resource: string;
  readonly label: string;
}

/** The number of a resource's category, by code or by address; `undefined` when it is not in the list. */
export function categoryNumber(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  const code = value.startsWith(THESAURUS) ? value.slice(THESAURUS.length) : value;
  const at = CATEGORIES.findIndex((category) => category.code === code);
  return at < 0 ? undefined : at + 1;
}

export function categoryTerm(number: number): Term | undefined {
  const found = CATEGORIES[number - 1];
  return found === undefined ? undefined : { resource: THESAURUS + found.code, label: found.label };
}

/** Handling of a document: of DiWoo's three kinds, the feed has a day only for receipt. */
export const RECEIPT: Term = { resource: `${THESAURUS}c_dfcee535`, label: 'ontvangst' };

/** The address of an organisation. @param code as in the feed: `gm0363`, `pv27`, `ws0155` */
export function organisationAddress(code: string): string {
  const kind = code.startsWith('gm') ? 'gemeente' : code.startsWith('pv') ? 'provincie' : 'waterschap';
  return `https://identifier.overheid.nl/tooi/id/${kind}/${code}`;
}

const FILE_TYPES = 'http://publications.europa.eu/resource/authority/file-type/';

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  PDF: ['application/pdf'],
  DOCX: ['application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  DOC: ['application/msword'],
  XLSX: ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  XLS: ['application/vnd.ms-excel'],
  PPTX: ['application/vnd.openxmlformats-officedocument.presentationml.presentation'],
  PPT: ['application/vnd.ms-powerpoint'],
  PPSX: ['application/vnd.openxmlformats-officedocument.presentationml.slideshow'],
  PPS: [],
  ODT: ['application/vnd.oasis.opendocument.text'],
  ODS: ['application/vnd.oasis.opendocument.spreadsheet'],
  ODP: ['application/vnd.oasis.opendocument.presentation'],
  ODF: ['application/vnd.oasis.opendocument.formula'],
  RTF: ['application/rtf', 'text/rtf'],
  TXT: ['text/plain'],
  CSV: ['text/csv'],
  HTML: ['text/html'],
  ZIP: ['application/zip', 'application/x-zip-compressed'],
};

/** The file type of a media type, else of the file's name; `undefined` when the list has none: the document is then offered without. */
export function fileType(mediaType: unknown, file: URL): string | undefined {
  const essence = typeof mediaType === 'string' ? mediaType.split(';', 1)[0]?.trim().toLowerCase() : undefined;
  const byMedia = Object.keys(FORMATS).find((name) => FORMATS[name]?.some((one) => one === essence));
  if (byMedia !== undefined) return byMedia;
  const extension = extname(file.pathname).slice(1).toUpperCase();
  return Object.hasOwn(FORMATS, extension) ? extension : undefined;
}

export function fileTypeTerm(name: string): Term {
  return { resource: FILE_TYPES + name, label: name };
}
