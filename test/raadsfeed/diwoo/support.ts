import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validateXML } from 'xmllint-wasm';
import { document, type FeedServer } from '../support.ts';

const SCHEMAS = join(import.meta.dirname, '../../fixtures/sitemaps');
const schema = (fileName: string) => ({ fileName, contents: readFileSync(join(SCHEMAS, fileName), 'utf8') });

/** The objections of an independent validator: none when the document is a sitemap, or an index of them. */
export async function faultsOf(xml: string): Promise<string[]> {
  const isIndex = xml.includes('<sitemapindex');
  const { errors } = await validateXML({
    xml: [{ fileName: 'answer.xml', contents: xml }],
    schema: [schema(isIndex ? 'siteindex.xsd' : 'sitemap.xsd')],
    preload: isIndex ? [] : [schema('diwoo.xsd')],
    maxMemoryPages: 16_384,
  });
  return errors.map(({ message }) => message);
}

export const file = (name: string): string => `https://bestanden.example/${name}.pdf`;

/** A document with a file. */
export function withFile(id: string, extra: object = {}, organisatie?: object): object {
  return document(id, { bestandsurl: file(id), formaat: 'application/pdf', ...extra }, organisatie);
}

export interface Listed {
  readonly loc: string;
  readonly lastmod: string;
}

/** Every `loc` of a sitemap or an index with its `lastmod`, in order. */
export function listed(xml: string): Listed[] {
  return [...xml.matchAll(/<loc>([^<]*)<\/loc><lastmod>([^<]*)<\/lastmod>/g)].map(([, loc = '', lastmod = '']) => ({
    loc,
    lastmod,
  }));
}

export interface Reader {
  /** The answer below `/woo`. */
  get(file: string, headers?: Record<string, string>): Promise<Response>;
  /** Its text; empty when it is not found. */
  text(file: string): Promise<string>;
  /** Every address in the organisation's first sitemap for category 008. */
  locs(code?: string): Promise<string[]>;
}

export function readerOf({ server }: FeedServer): Reader {
  const get: Reader['get'] = (name, headers = {}) => fetch(`${server.url}/woo/${name}`, { headers });
  const text: Reader['text'] = async (name) => {
    const answer = await get(name);
    const body = await answer.text();
    return answer.status === 404 ? '' : body;
  };
  return {
    get,
    text,
    locs: async (code = 'gm9901') => listed(await text(`sitemap-diwoo-infocat008-${code}-1.xml`)).map(({ loc }) => loc),
  };
}
