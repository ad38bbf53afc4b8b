/** Who may do what: the twelve functions of the standard and the scopes that allow them. */

/** How confidential an action counts: `normaal` only when it is not confidential and never was. */
export type Categorie = 'normaal' | 'vertrouwelijk' | 'opgeheven';

const CATEGORIEEN: readonly Categorie[] = ['normaal', 'vertrouwelijk', 'opgeheven'];

/** The number of a category in the database (`verwerkingenlog.category`). */
export function categorieNummer(categorie: Categorie): number {
  return CATEGORIEEN.indexOf(categorie);
}

/** @throws {RangeError} for a number that no category has */
export function categorieVan(nummer: number): Categorie {
  const categorie = CATEGORIEEN[nummer];
  if (categorie === undefined) throw new RangeError(`no category has the number ${nummer}`);
  return categorie;
}

/** A version that was confidential once never counts as `normaal` again. */
export function categorieOf(versie: {
  readonly vertrouwelijkheid: Categorie;
  readonly ooitVertrouwelijk: boolean;
}): Categorie {
  if (versie.vertrouwelijkheid === 'opgeheven') return 'opgeheven';
  return versie.ooitVertrouwelijk ? 'vertrouwelijk' : 'normaal';
}

export type Handeling = 'vastleggen' | 'opvragen' | 'wijzigen' | 'bewaartermijn' | 'vertrouwelijkheid' | 'verwijderen';

interface Functie {
  /** Identifier in the standard; absent: not covered by the standard's functions. */
  readonly functie?: string;
  readonly handeling: Handeling;
  /** Querying: with or without the fields that the limited set leaves out. */
  readonly beperkteSet?: boolean;
  /** Categories that the function may touch. A change touches the old and the new one. */
  readonly categorieen: readonly Categorie[];
  /** A caller needs one of these. */
  readonly scopes: readonly string[];
}

const NORMAAL: readonly Categorie[] = ['normaal'];
const VERTROUWELIJK: readonly Categorie[] = ['vertrouwelijk'];
const OPGEHEVEN: readonly Categorie[] = ['opgeheven'];
const NOT_NORMAAL: readonly Categorie[] = ['vertrouwelijk', 'opgeheven'];
const ANY_READ = ['read:restricted', 'read:normal', 'read:confidential'];
const FULL_READ = ['read:normal', 'read:confidential'];
/** The scope for what is not confidential; the one for what is includes it. */
const normal = (verb: string): string[] => [`${verb}:normal`, `${verb}:confidential`];

/** The matrix. The first row of a `handeling` whose categories include all that a call touches decides. */
const FUNCTIES: readonly Functie[] = [
  { functie: 'F7446', handeling: 'vastleggen', categorieen: NORMAAL, scopes: normal('create') },
  { functie: 'F6624', handeling: 'vastleggen', categorieen: VERTROUWELIJK, scopes: ['create:confidential'] },
  { functie: 'F4086', handeling: 'opvragen', beperkteSet: true, categorieen: NORMAAL, scopes: ANY_READ },
  { functie: 'F2525', handeling: 'opvragen', beperkteSet: true, categorieen: OPGEHEVEN, scopes: ANY_READ },
  { functie: 'F9787', handeling: 'opvragen', beperkteSet: false, categorieen: NORMAAL, scopes: FULL_READ },
  {
    functie: 'F0143',
    handeling: 'opvragen',
    beperkteSet: false,
    categorieen: NOT_NORMAAL,
    scopes: ['read:confidential'],
  },
  { handeling: 'opvragen', categorieen: CATEGORIEEN, scopes: ['read:confidential'] },
  { functie: 'F8316', handeling: 'wijzigen', categorieen: NORMAAL, scopes: normal('update') },
  { functie: 'F3835', handeling: 'wijzigen', categorieen: CATEGORIEEN, scopes: ['update:confidential'] },
  { functie: 'F4415', handeling: 'bewaartermijn', categorieen: NORMAAL, scopes: normal('update') },
  { functie: 'F4415', handeling: 'bewaartermijn', categorieen: CATEGORIEEN, scopes: ['update:confidential'] },
  { functie: 'F2969', handeling: 'vertrouwelijkheid', categorieen: CATEGORIEEN, scopes: ['update:confidential'] },
  { functie: 'F9906', handeling: 'verwijderen', categorieen: NORMAAL, scopes: normal('delete') },
  { functie: 'F2265', handeling: 'verwijderen', categorieen: CATEGORIEEN, scopes: ['delete:confidential'] },
];

/**
 * The row of the matrix for a call; undefined when no function covers it, whatever the scope.
 * @param touched categories that the call touches
 */
export function functieOf(
  handeling: Handeling,
  touched: readonly Categorie[],
  beperkteSet?: boolean,
): Functie | undefined {
  return FUNCTIES.find(
    (row) =>
      row.handeling === handeling &&
      (row.beperkteSet === undefined || row.beperkteSet === beperkteSet) &&
      touched.every((categorie) => row.categorieen.includes(categorie)),
  );
}
