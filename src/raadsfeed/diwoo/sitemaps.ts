/** The sitemaps that the national harvester reads: an index per category, and below it the documents of each organisation. */
import type { Db } from '../../database/transaction.ts';
import { mapWithinBudget } from '../../lib/scheduling.ts';
import { type Html, html } from '../../lib/template.ts';
import { categoryTerm, fileTypeTerm, organisationAddress, RECEIPT, type Term } from '../woo-value-lists.ts';

const SITEMAP = 'http://www.sitemaps.org/schemas/sitemap/0.9';
const DIWOO = 'https://standaarden.overheid.nl/diwoo/metadata/';
const SCHEMAS = [...[SITEMAP, `${SITEMAP}/sitemap.xsd`], ...[DIWOO, `${DIWOO}0.9.8/xsd/diwoo/diwoo-metadata.xsd`]].join(
  ' ',
);

export const WOO = '/woo';

const inName = (categorie: number): string => `infocat${String(categorie).padStart(3, '0')}`;

/** The name is fixed: the harvester reads only indexes with this name. */
export const indexAddresses = (baseUrl: string, categories: readonly number[]): string[] =>
  categories.map((categorie) => `${baseUrl}${WOO}/sitemapindex-diwoo-${inName(categorie)}.xml`);

export interface SitemapName {
  readonly organisatiecode: string;
  readonly categorie: number;
  readonly page: number;
}

const sitemapPath = ({ organisatiecode, categorie, page }: SitemapName): string =>
  `${WOO}/sitemap-diwoo-${inName(categorie)}-${organisatiecode}-${page}.xml`;

type ReadFile = (db: Db, baseUrl: string) => Promise<string | undefined>;

/**
 * How the file with this name below `/woo` is read; `undefined` when the service writes no such file. It reads `undefined` when it would be empty,
 * because an index without sitemaps is invalid.
 */
export function fileNamed(name: string): ReadFile | undefined {
  const [, ofIndex] = /^sitemapindex-diwoo-infocat(\d{3})\.xml$/.exec(name) ?? [];
  if (ofIndex !== undefined) return (db, baseUrl) => readIndex(db, Number(ofIndex), baseUrl);
  const [, categorie, organisatiecode, page] =
    /^sitemap-diwoo-infocat(\d{3})-([a-z]{2}\d{2,4})-([1-9]\d{0,8})\.xml$/.exec(name) ?? [];
  if (organisatiecode === undefined) return undefined;
  return (db) => readSitemap(db, { organisatiecode, categorie: Number(categorie), page: Number(page) });
}

export async function listCategories(db: Db): Promise<number[]> {
  const { rows } = await db.query<{ categorie: number }>({
    name: 'raadsfeed-diwoo-categorieen',
    text: `select distinct categorie from diwoo.sitemaps where size > 0 order by categorie`,
  });
  return rows.map(({ categorie }) => categorie);
}

/** Maximum number of sitemaps in an index (sitemaps.org 0.9). */
const INDEX_SITEMAPS = 50_000;

async function readIndex(db: Db, categorie: number, baseUrl: string): Promise<string | undefined> {
  const { rows } = await db.query<SitemapName & { modified: Date }>({
    name: 'raadsfeed-diwoo-index',
    text: `select organisatiecode, categorie, page, modified from diwoo.sitemaps
            where categorie = $1::integer and size > 0
            order by organisatiecode, page limit ${INDEX_SITEMAPS}`,
    values: [categorie],
  });
  if (rows.length === 0) return undefined;
  const sitemaps = rows.map(
    (row) =>
      html`<sitemap><loc>${baseUrl}${sitemapPath(row)}</loc><lastmod>${row.modified.toISOString()}</lastmod></sitemap>\n`,
  );
  return html`<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="${SITEMAP}">\n${sitemaps}</sitemapindex>\n`
    .markup;
}

const MAX_NAME = 200;

export interface Offered {
  readonly organisatiecode: string;
  readonly categorie: number;
  readonly loc: string;
  readonly modified: Date;
  readonly titel: string;
  readonly creatiedatum: string | null;
  readonly submittedOn: string;
  readonly formaat: string | null;
  /** The name of the organisation; its code when the feed has no name. */
  readonly naam: string;
}

/** The documents of a sitemap, in the order of their places, without those that the feed no longer has: a redaction takes effect with its commit. */
async function readSitemap(db: Db, { organisatiecode, categorie, page }: SitemapName): Promise<string | undefined> {
  const { rows } = await db.query<Offered>({
    name: 'raadsfeed-diwoo-stukken',
    // `offset 0`: looked up one by one, or the planner might read all of the state for each before it has statistics.
    text: `select organisatiecode, categorie, loc, modified, titel, creatiedatum::text, submitted_on::text as "submittedOn", formaat,
                  left(coalesce(o.naam, organisatiecode), ${MAX_NAME}) as naam
             from diwoo.documents d left join raadsfeed.organisaties o using (organisatiecode)
            where organisatiecode = $1::text and categorie = $2::integer and page = $3::integer and place is not null
              and exists (select from raadsfeed.current_records c
                           where c.organisatiecode = d.organisatiecode and c.resource_type = 'Informatieobject'
                             and c.bronidentificatie = d.bronidentificatie offset 0)
            order by place`,
    values: [organisatiecode, categorie, page],
  });
  if (rows.length === 0) return undefined;
  const entries = await mapWithinBudget(rows, renderDocument);
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="${SITEMAP}" xmlns:diwoo="${DIWOO}" ` +
    `xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="${SCHEMAS}">\n${entries.join('')}</urlset>\n`
  );
}

/** Documents of one sitemap, which keeps it below 50 000 addresses and 50 MB, whatever its contents. */
export const SITEMAP_PLACES = 5000;

/** Maximum bytes of one document as `renderDocument` writes it, so that `SITEMAP_PLACES` of them stay below 50 MB (52 428 800 bytes). */
export const MAX_ENTRY_BYTES = 10_400;

export function renderDocument(document: Offered): string {
  return html`<url><loc>${document.loc}</loc><lastmod>${document.modified.toISOString()}</lastmod><diwoo:Document><diwoo:DiWoo>${metadata(document)}</diwoo:DiWoo></diwoo:Document></url>\n`
    .markup;
}

/** Writes the elements of `diwoo:DiWoo`, in the order of the schema (which, being an `xs:all`, requires none). */
function metadata({ organisatiecode, categorie, titel, creatiedatum, formaat, submittedOn, naam }: Offered): Html {
  const category = categoryTerm(categorie);
  const publisher: Term = { resource: organisationAddress(organisatiecode), label: naam };
  return html`<diwoo:publisher${refer(publisher)}</diwoo:publisher>
<diwoo:titelcollectie><diwoo:officieleTitel>${titel}</diwoo:officieleTitel></diwoo:titelcollectie>
<diwoo:classificatiecollectie><diwoo:informatiecategorieen><diwoo:informatiecategorie${category && refer(category)}</diwoo:informatiecategorie></diwoo:informatiecategorieen></diwoo:classificatiecollectie>
${creatiedatum !== null && html`<diwoo:creatiedatum>${creatiedatum}</diwoo:creatiedatum>\n`}${formaat !== null && html`<diwoo:format${refer(fileTypeTerm(formaat))}</diwoo:format>\n`}<diwoo:documenthandelingen><diwoo:documenthandeling><diwoo:soortHandeling${refer(RECEIPT)}</diwoo:soortHandeling><diwoo:atTime>${submittedOn}T00:00:00</diwoo:atTime></diwoo:documenthandeling></diwoo:documenthandelingen>`;
}

/** The rest of a start tag that refers to a term, and the content of the element. */
function refer({ resource, label }: Term): Html {
  return html` resource="${resource}">${label}`;
}
