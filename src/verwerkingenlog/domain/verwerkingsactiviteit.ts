/** A processing activity in the register. @see AVG, articles 6 and 30 */

import type { components } from '../../contracts/verwerkingenlog.ts';

type Schemas = components['schemas'];

/** Unknown members are `null`, or an empty list. */
export interface Activiteit extends Omit<Schemas['Verwerkingsactiviteit'], 'url'> {
  /** Counts from 1; starts again when the activity is removed and added again. */
  readonly versie: number;
}

export function activiteitOf(
  body: Schemas['VerwerkingsactiviteitInvoer'],
  registered: Pick<Activiteit, 'verwerkingsactiviteitId' | 'versie' | 'tijdstipRegistratie'>,
): Activiteit {
  return {
    ...registered,
    naam: body.naam,
    verantwoordelijkeOrganisatie: body.verantwoordelijkeOrganisatie,
    doel: body.doel,
    grondslag: body.grondslag,
    toelichtingGrondslag: body.toelichtingGrondslag ?? null,
    categorie: body.categorie ?? null,
    verantwoordelijkeBestuursorgaan: body.verantwoordelijkeBestuursorgaan ?? null,
    gebaseerdOp: body.gebaseerdOp ?? null,
    bewaartermijn: body.bewaartermijn ?? null,
    vertrouwelijkheid: body.vertrouwelijkheid ?? 'normaal',
    herkomst: body.herkomst ?? null,
    afnemendeCategorieOntvangers: body.afnemendeCategorieOntvangers ?? [],
    afnemendeInternationaleDerden: body.afnemendeInternationaleDerden ?? [],
    verwerktePersoonsgegevens: (body.verwerktePersoonsgegevens ?? []).map(({ rolBetrokkene, naam }) => ({
      rolBetrokkene: rolBetrokkene ?? null,
      naam,
    })),
  };
}
