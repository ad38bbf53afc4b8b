/** The organisation's brand on its pages: logo, icon, and the links required of a public body. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Html, html, safeUrl } from '../lib/template.ts';
import type { Config } from '../settings/read-config.ts';

export type Brand = ReturnType<typeof readBrand>;

const LINK_NAMES = {
  toegankelijkheid: 'Toegankelijkheid',
  privacy: 'Privacy',
  contact: 'Contact',
  griffie: 'Griffie',
  fg: 'Functionaris gegevensbescherming',
} as const;

const TYPES = { svg: 'image/svg+xml', png: 'image/png', ico: 'image/x-icon' } as const;
/** A browser loads it for every page. */
const PICTURE_BYTES = 500_000;

/** For organisations without their own: a house of four pillars. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#154273"/><path fill="#fff" d="M6 13 16 6l10 7v2H6zm2 4h3v7H8zm6.5 0h3v7h-3zm6.5 0h3v7h-3zM6 25h20v2H6z"/></svg>';

/**
 * Reads `logo.svg` or `logo.png` and `favicon.svg`, `.png` or `.ico` from the folder of `PAGES_THEME_CSS`.
 * @throws {Error} when one cannot be read or is too large
 */
export function readBrand({ html: { themeCss, links }, server }: Pick<Config, 'html' | 'server'>) {
  const find = (name: string, endings: readonly (keyof typeof TYPES)[]) => {
    if (themeCss === undefined) return undefined;
    const file = (ending: string): string => join(dirname(themeCss), `${name}.${ending}`);
    const ending = endings.find((one) => existsSync(file(one)));
    if (ending === undefined) return undefined;
    const bytes = readFileSync(file(ending));
    if (bytes.length > PICTURE_BYTES) throw new Error(`${file(ending)} is larger than ${PICTURE_BYTES} bytes`);
    return picture(name, ending, bytes);
  };
  return {
    organisation: server.organisation,
    icon: find('favicon', ['svg', 'png', 'ico']) ?? picture('favicon', 'svg', Buffer.from(ICON)),
    logo: find('logo', ['svg', 'png']),
    links: Object.entries(LINK_NAMES).flatMap(([key, text]) => {
      const href = safeUrl(links.get(key));
      return href === undefined ? [] : [{ href, text }];
    }),
  };
}

/** Its path has a hash of the content in it. */
function picture(name: string, ending: keyof typeof TYPES, bytes: Buffer) {
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
  return { path: `/${name}-${hash}.${ending}`, type: TYPES[ending], bytes };
}

export const iconLink = ({ icon }: Brand): Html => html`<link rel="icon" type="${icon.type}" href="${icon.path}">`;

export function dutyNav({ links }: Brand, classes: { readonly list: string; readonly link: string }): Html | undefined {
  if (links.length === 0) return undefined;
  const items = links.map(({ href, text }) => html`<li><a class="${classes.link}" href="${href}">${text}</a></li>`);
  return html`<nav aria-label="Over deze pagina’s"><ul class="${classes.list}">${items}</ul></nav>`;
}
