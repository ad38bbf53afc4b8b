/**
 * The licences of what is shipped. `npm run licences` writes the list in docs/licences.md from the lock file;
 * `npm run --silent licences -- --texts` prints the texts themselves, from the packages that are installed.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LockedPackage, readLock, shippedPackages } from './locked-packages.ts';

const ROOT = join(import.meta.dirname, '..');
const PAGE = join(ROOT, 'docs/licences.md');
const BEGIN = '<!-- licences: written by `npm run licences` -->';
const END = '<!-- end of licences -->';

export function readShipped(): LockedPackage[] {
  return shippedPackages(readLock(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')));
}

/** The packages of each licence, as Markdown. Versions are in the inventory that `npm run sbom` prints. */
export function licencesTable(): string {
  const byLicence = Map.groupBy(readShipped(), ({ license }) => license);
  const rows = [...byLicence].map(([license, packages]) => {
    // Two versions of a package may be shipped.
    const names = new Set(packages.map(({ name, optional }) => (optional ? `${name} (optional)` : name)));
    return `| ${license} | ${[...names].join(', ')} |`;
  });
  return [BEGIN, '', '| licence | packages |', '|---|---|', ...rows.sort(), '', END].join('\n');
}

/** The licence files of one package; a package for other machines is not installed and has none here. */
export function licenceTexts({ path }: LockedPackage): string[] {
  const directory = join(ROOT, path);
  let files: string[];
  try {
    files = readdirSync(directory);
  } catch {
    return [];
  }
  return files
    .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
    .sort()
    .map((file) => readFileSync(join(directory, file), 'utf8').trim());
}

function printTexts(): void {
  for (const shipped of readShipped()) {
    const texts = licenceTexts(shipped);
    const body = texts.length === 0 ? ['(The package comes without a licence file, or is not installed here.)'] : texts;
    console.log([`==== ${shipped.name} ${shipped.version} (${shipped.license})`, ...body, ''].join('\n\n'));
  }
}

if (import.meta.main) {
  if (process.argv.includes('--texts')) printTexts();
  else {
    const page = readFileSync(PAGE, 'utf8');
    const [before, after] = [page.indexOf(BEGIN), page.indexOf(END)];
    if (before < 0 || after < 0) throw new Error('docs/licences.md has no marks for the list');
    writeFileSync(PAGE, page.slice(0, before) + licencesTable() + page.slice(after + END.length));
  }
}
