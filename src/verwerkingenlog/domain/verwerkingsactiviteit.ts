/** A processing activity in the register. @see AVG, articles 6 and 30 */

import type { components } from '../../contracts/verwerkingenlog.ts';

type Answer = components['schemas']['Verwerkingsactiviteit'];

/** Unknown members are `null`, or an empty list. */
export type ActiviteitVelden = Omit<Answer, 'url' | 'verwerkingsactiviteitId' | 'tijdstipRegistratie'>;

export interface Activiteit extends ActiviteitVelden {
  readonly verwerkingsactiviteitId: string;
  /** Counts from 1; starts again when the activity is removed and added again. */
  readonly versie: number;
  readonly tijdstipRegistratie: string;
}

type ActiviteitBody = components['schemas']['VerwerkingsactiviteitInvoer'];

export function readActiviteitBody(body: ActiviteitBody): ActiviteitVelden {
  return {
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
