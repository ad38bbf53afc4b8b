/**
 * Finds what the extensions offer. An extension is a folder of `src/extensions`, and what it offers is in files of fixed names, such as
 * `settings.ts` or `commands.ts`: the core imports none of them, so that each folder can be deleted. @see docs/extensions.md
 */
import { existsSync, readdirSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = new URL('../extensions/', import.meta.url);
/** `.ts` in a checkout, `.js` in the package. */
const ENDING = extname(import.meta.url);
const EXTENSIONS = existsSync(FOLDER) ? readdirSync(FOLDER).sort() : [];

/** A module before anybody has looked what is in it. */
export type UnknownModule = Readonly<Record<string, unknown>>;

/**
 * Imports the file of this name from every extension that has one.
 * @param file without its ending: `settings`
 * @param isWanted of the name of an extension
 */
export async function importFromExtensions(
  file: string,
  isWanted: (extension: string) => boolean = () => true,
): Promise<readonly { readonly extension: string; readonly module: UnknownModule }[]> {
  const found = EXTENSIONS.filter(isWanted)
    .map((extension) => ({ extension, url: new URL(`${extension}/${file}${ENDING}`, FOLDER) }))
    .filter(({ url }) => existsSync(url));
  return Promise.all(
    found.map(async ({ extension, url }) => ({ extension, module: await import(fileURLToPath(url)) })),
  );
}
