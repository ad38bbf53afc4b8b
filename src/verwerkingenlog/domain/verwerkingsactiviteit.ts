// What the register keeps of a processing activity. @see AVG, articles 6 and 30

export interface ActiviteitVelden {
  readonly naam: string;
  /** OIN. */
  readonly verantwoordelijkeOrganisatie: string;
  readonly doel: string;
  /** Legal ground, in the words of the contract. */
  readonly grondslag: string;
  readonly toelichtingGrondslag: string | null;
  readonly categorie: string | null;
  readonly verantwoordelijkeBestuursorgaan: string | null;
  readonly gebaseerdOp: string | null;
  /** In words. */
  readonly bewaartermijn: string | null;
  readonly herkomst: string | null;
  readonly afnemendeCategorieOntvangers: readonly string[];
  readonly afnemendeInternationaleDerden: readonly string[];
  readonly verwerktePersoonsgegevens: readonly { readonly rolBetrokkene: string | null; readonly naam: string }[];
}

export interface Activiteit extends ActiviteitVelden {
  readonly verwerkingsactiviteitId: string;
  /** Counts from 1; begins again when it is removed and put back. */
  readonly versie: number;
  readonly tijdstipRegistratie: string;
}

/** A body as the contract lets it through. */
export interface ActiviteitBody extends Partial<Omit<ActiviteitVelden, 'verwerktePersoonsgegevens'>> {
  readonly naam: string;
  readonly verantwoordelijkeOrganisatie: string;
  readonly doel: string;
  readonly grondslag: string;
  readonly verwerktePersoonsgegevens?: readonly { readonly rolBetrokkene?: string | null; readonly naam: string }[];
}

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
    herkomst: body.herkomst ?? null,
    afnemendeCategorieOntvangers: body.afnemendeCategorieOntvangers ?? [],
    afnemendeInternationaleDerden: body.afnemendeInternationaleDerden ?? [],
    verwerktePersoonsgegevens: (body.verwerktePersoonsgegevens ?? []).map(({ rolBetrokkene, naam }) => ({
      rolBetrokkene: rolBetrokkene ?? null,
      naam,
    })),
  };
}
