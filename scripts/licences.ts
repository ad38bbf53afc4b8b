/**
 * The licences of the shipped packages. `npm run licences` writes the list in docs/licences.md from the lock file; `npm
 * run --silent licences -- --texts` prints their texts from the installed packages.
 */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableOf, withPart } from './generated-part.ts';
import { type LockedPackage, readLock, shippedPackages } from './locked-packages.ts';

/** Licences that a product under the EUPL 1.2 may include, and that only require their text to be included. */
const ASSESSED = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0', '0BSD', 'EUPL-1.2'];

/** More packages of one owner than this are only counted in the list. */
const MANY = 10;

const ROOT = join(import.meta.dirname, '..');
const PAGE = join(ROOT, 'docs/licences.md');

/**
 * True when a licence has been assessed; of an expression, every part of an `AND` or any part of an `OR`. An expression
 * with both needs a human reader.
 */
export function isAssessed(license: string): boolean {
  const isKnown = (one: string): boolean => ASSESSED.includes(one);
  const expression = license.replace(/[()]/g, '');
  if (!expression.includes(' AND ')) return expression.split(' OR ').some(isKnown);
  return expression.split(' AND ').every(isKnown);
}

/** `@utrecht` of `@utrecht/link-css`; an unscoped package stays itself. */
function scopeOf(name: string): string {
  return /^(@[^/]+)\//.exec(name)?.[1] ?? name;
}

/** The bill of materials has the names of packages that are only counted here. */
function listed([scope, names]: readonly [string, readonly string[]]): string[] {
  return names.length > MANY ? [`${scope}/… (${names.length} packages)`] : [...names];
}

export function readShipped(): LockedPackage[] {
  return shippedPackages(readLock(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')));
}

/** The packages of each licence, as Markdown. The inventory of `npm run sbom` has the versions. */
export function licencesTable(): string {
  const byLicence = Map.groupBy(readShipped(), ({ license }) => license);
  const rows = [...byLicence].map(([license, packages]) => {
    // Two versions of a package may be shipped.
    const names = new Set(packages.map(({ name, optional }) => (optional ? `${name} (optional)` : name)));
    return [license, [...Map.groupBy(names, scopeOf)].flatMap(listed).join(', ')];
  });
  return tableOf(['licence', 'packages'], rows.sort());
}

/**
 * The licence texts of one package, from files and folders with such names; a package for another platform is not
 * installed and has none here.
 */
export function licenceTexts({ path }: LockedPackage): string[] {
  const directory = join(ROOT, path);
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
    .map((name) => join(directory, name))
    .filter((file) => statSync(file).isFile())
    .sort()
    .map((file) => readFileSync(file, 'utf8').trim());
}

if (import.meta.main) {
  if (process.argv.includes('--texts'))
    for (const shipped of readShipped()) {
      const [text = '(The package comes without a licence file, or is not installed here.)', ...more] =
        licenceTexts(shipped);
      console.log([`==== ${shipped.name} ${shipped.version} (${shipped.license})`, text, ...more, ''].join('\n\n'));
    }
  else writeFileSync(PAGE, withPart(readFileSync(PAGE, 'utf8'), 'licences', licencesTable()));
}
