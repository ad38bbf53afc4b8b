/** The confidentiality that counts: `normaal` only if the action is not and never was confidential. */
export type Categorie = 'normaal' | 'vertrouwelijk' | 'opgeheven';

export const CATEGORIEEN: readonly Categorie[] = ['normaal', 'vertrouwelijk', 'opgeheven'];

/** As `verwerkingenlog.category` in the database. */
export function categorieNummer(categorie: Categorie): number {
  return CATEGORIEEN.indexOf(categorie);
}

/** @throws {RangeError} for a number without a category */
export function categorieVan(nummer: number): Categorie {
  const categorie = CATEGORIEEN[nummer];
  if (categorie === undefined) throw new RangeError(`no category has the number ${nummer}`);
  return categorie;
}

export function categorieOf(versie: {
  readonly vertrouwelijkheid: Categorie;
  readonly ooitVertrouwelijk: boolean;
}): Categorie {
  if (versie.vertrouwelijkheid === 'opgeheven') return 'opgeheven';
  return versie.ooitVertrouwelijk ? 'vertrouwelijk' : 'normaal';
}
