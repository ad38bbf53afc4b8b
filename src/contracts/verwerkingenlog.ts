// Generated from openapi/verwerkingenlog.yaml by `npm run contract-types`; not to be edited.
// sha256 of the typed part of the contract: 178aae6a16f867044944d21fc7fb4bd3b0039d3be73c98b30358b90125049e93

export interface components {
    schemas: {
        readonly VerwerkingsactieLijst: {
            readonly count: number;
            readonly next: string | null;
            readonly previous: string | null;
            readonly results: readonly components["schemas"]["Verwerkingsactie"][];
        };
        readonly Verwerkingsactie: {
            readonly url: string;
            readonly actieId: string;
            readonly tijdstipRegistratie: string;
            readonly actieNaam: string | null;
            readonly handelingNaam: string | null;
            readonly verwerkingNaam: string | null;
            readonly verwerkingId: string | null;
            readonly verwerkingsactiviteitId: string | null;
            readonly verwerkingsactiviteitUrl: string | null;
            readonly vertrouwelijkheid: components["schemas"]["Vertrouwelijkheid"];
            readonly bewaartermijn: string | null;
            readonly uitvoerder: string | null;
            readonly systeem?: string | null;
            readonly gebruiker?: string | null;
            readonly gegevensbron?: string | null;
            readonly soortAfnemerId: string | null;
            readonly afnemerId: string | null;
            readonly verwerkingsactiviteitIdAfnemer: string | null;
            readonly verwerkingsactiviteitUrlAfnemer: string | null;
            readonly verwerkingIdAfnemer: string | null;
            readonly tijdstip: string;
            readonly verwerkteObjecten: readonly components["schemas"]["VerwerktObject"][];
        };
        readonly Vertrouwelijkheid: "normaal" | "vertrouwelijk" | "opgeheven";
        readonly VerwerktObject: {
            readonly url: string;
            readonly verwerktObjectId: string;
            readonly objecttype: "persoon";
            readonly soortObjectId: string;
            readonly objectId: string;
            readonly betrokkenheid: string | null;
            readonly verwerkteSoortenGegevens: readonly components["schemas"]["VerwerktSoortGegeven"][] | null;
        };
        readonly VerwerktSoortGegeven: {
            readonly soortGegeven: string;
        };
        readonly VerwerkingsactieInvoer: {
            readonly url?: unknown;
            readonly actieId?: unknown;
            readonly tijdstipRegistratie?: unknown;
            readonly actieNaam?: string | null;
            readonly handelingNaam?: string | null;
            readonly verwerkingNaam?: string | null;
            readonly verwerkingId?: string | null;
            readonly verwerkingsactiviteitId?: string | null;
            readonly verwerkingsactiviteitUrl?: string | null;
            readonly vertrouwelijkheid: string;
            readonly bewaartermijn?: string | null;
            readonly uitvoerder?: string | null;
            readonly systeem?: string | null;
            readonly gebruiker?: string | null;
            readonly gegevensbron?: string | null;
            readonly soortAfnemerId?: string | null;
            readonly afnemerId?: string | null;
            readonly verwerkingsactiviteitIdAfnemer?: string | null;
            readonly verwerkingsactiviteitUrlAfnemer?: string | null;
            readonly verwerkingIdAfnemer?: string | null;
            readonly tijdstip: string;
            readonly verwerkteObjecten: readonly components["schemas"]["VerwerktObjectInvoer"][];
        };
        readonly VerwerktObjectInvoer: {
            readonly url?: unknown;
            readonly verwerktObjectId?: unknown;
            readonly objecttype: string;
            readonly soortObjectId: string;
            readonly objectId: string;
            readonly betrokkenheid?: string | null;
            readonly verwerkteSoortenGegevens?: readonly components["schemas"]["VerwerktSoortGegeven"][] | null;
        };
        readonly VerwerkingsactieWijziging: {
            readonly vertrouwelijkheid?: string;
            readonly bewaartermijn?: string;
        };
        readonly VerwerkingsactieVolledig: {
            readonly url?: unknown;
            readonly actieId?: unknown;
            readonly tijdstipRegistratie?: unknown;
            readonly actieNaam?: string | null;
            readonly handelingNaam?: string | null;
            readonly verwerkingNaam?: string | null;
            readonly verwerkingId?: string | null;
            readonly verwerkingsactiviteitId?: string | null;
            readonly verwerkingsactiviteitUrl?: string | null;
            readonly vertrouwelijkheid?: string;
            readonly bewaartermijn?: string | null;
            readonly uitvoerder?: string | null;
            readonly systeem?: string | null;
            readonly gebruiker?: string | null;
            readonly gegevensbron?: string | null;
            readonly soortAfnemerId?: string | null;
            readonly afnemerId?: string | null;
            readonly verwerkingsactiviteitIdAfnemer?: string | null;
            readonly verwerkingsactiviteitUrlAfnemer?: string | null;
            readonly verwerkingIdAfnemer?: string | null;
            readonly tijdstip?: string;
            readonly verwerkteObjecten?: readonly components["schemas"]["VerwerktObjectInvoer"][];
        };
        readonly VerwerktObjectLijst: {
            readonly count: number;
            readonly next: string | null;
            readonly previous: string | null;
            readonly results: readonly components["schemas"]["VerwerktObjectUitgebreid"][];
        };
        readonly VerwerktObjectUitgebreid: {
            readonly url: string;
            readonly verwerktObjectId: string;
            readonly objecttype: "persoon";
            readonly soortObjectId: string;
            readonly objectId: string;
            readonly betrokkenheid: string | null;
            readonly verwerkteSoortenGegevens: readonly components["schemas"]["VerwerktSoortGegeven"][] | null;
            readonly verwerkingsactie: components["schemas"]["VerwerkingsactieInzage"];
        };
        readonly VerwerkingsactieInzage: {
            readonly url: string;
            readonly actieId: string;
            readonly tijdstipRegistratie: string;
            readonly actieNaam: string | null;
            readonly handelingNaam: string | null;
            readonly verwerkingNaam: string | null;
            readonly verwerkingId: string | null;
            readonly verwerkingsactiviteitId: string | null;
            readonly verwerkingsactiviteitUrl: string | null;
            readonly vertrouwelijkheid: components["schemas"]["Vertrouwelijkheid"];
            readonly bewaartermijn: string | null;
            readonly uitvoerder: string | null;
            readonly soortAfnemerId: string | null;
            readonly afnemerId: string | null;
            readonly verwerkingsactiviteitIdAfnemer: string | null;
            readonly verwerkingsactiviteitUrlAfnemer: string | null;
            readonly verwerkingIdAfnemer: string | null;
            readonly tijdstip: string;
            readonly verwerkteObjecten: readonly components["schemas"]["VerwerktObject"][];
        };
        readonly VerwerkingsactiviteitLijst: {
            readonly count: number;
            readonly next: string | null;
            readonly previous: string | null;
            readonly results: readonly components["schemas"]["Verwerkingsactiviteit"][];
        };
        readonly Verwerkingsactiviteit: {
            readonly url: string;
            readonly verwerkingsactiviteitId: string;
            readonly tijdstipRegistratie: string;
            readonly naam: string;
            readonly verantwoordelijkeOrganisatie: string;
            readonly doel: string;
            readonly grondslag: components["schemas"]["Grondslag"];
            readonly toelichtingGrondslag: string | null;
            readonly categorie: string | null;
            readonly verantwoordelijkeBestuursorgaan: string | null;
            readonly gebaseerdOp: string | null;
            readonly bewaartermijn: string | null;
            readonly vertrouwelijkheid: "normaal" | "vertrouwelijk";
            readonly herkomst: string | null;
            readonly afnemendeCategorieOntvangers: readonly string[];
            readonly afnemendeInternationaleDerden: readonly string[];
            readonly verwerktePersoonsgegevens: readonly components["schemas"]["VerwerktPersoonsgegeven"][];
        };
        readonly Grondslag: "Toestemming betrokkene" | "Uitvoering overeenkomst" | "Wettelijke verplichting" | "Vitaal belang" | "Publieke taak" | "Gerechtvaardigd belang";
        readonly VerwerktPersoonsgegeven: {
            readonly rolBetrokkene?: string | null;
            readonly naam: string;
        };
        readonly VerwerkingsactiviteitInvoer: {
            readonly url?: unknown;
            readonly verwerkingsactiviteitId?: unknown;
            readonly tijdstipRegistratie?: unknown;
            readonly naam: string;
            readonly verantwoordelijkeOrganisatie: string;
            readonly doel: string;
            readonly grondslag: components["schemas"]["Grondslag"];
            readonly toelichtingGrondslag?: string | null;
            readonly categorie?: string | null;
            readonly verantwoordelijkeBestuursorgaan?: string | null;
            readonly gebaseerdOp?: string | null;
            readonly bewaartermijn?: string | null;
            readonly vertrouwelijkheid?: "normaal" | "vertrouwelijk";
            readonly herkomst?: string | null;
            readonly afnemendeCategorieOntvangers?: readonly string[];
            readonly afnemendeInternationaleDerden?: readonly string[];
            readonly verwerktePersoonsgegevens?: readonly components["schemas"]["VerwerktPersoonsgegeven"][];
        };
    };
}
export interface operations {
    readonly getVerwerkingsacties: {
        readonly Querystring: {
            readonly objecttype: string;
            readonly soortObjectId: string;
            readonly objectId: string;
            readonly beginDatum?: string;
            readonly eindDatum?: string;
            readonly verwerkingsactiviteitId?: string;
            readonly beperkteSet: boolean;
            readonly vertrouwelijkheid?: readonly string[];
            readonly vertrouwelijkheid__in?: string;
            readonly limit: number;
            readonly cursor?: string;
        };
        readonly Answer: components["schemas"]["VerwerkingsactieLijst"];
    };
    readonly postVerwerkingsactie: {
        readonly Headers: {
            readonly "idempotency-key"?: string;
        };
        readonly Body: components["schemas"]["VerwerkingsactieInvoer"];
        readonly Answer: components["schemas"]["Verwerkingsactie"];
    };
    readonly patchVerwerkingsacties: {
        readonly Querystring: {
            readonly verwerkingId: string;
        };
        readonly Body: components["schemas"]["VerwerkingsactieWijziging"];
    };
    readonly getVerwerkingsactie: {
        readonly Params: {
            readonly actieId: string;
        };
        readonly Querystring: {
            readonly objecttype?: string;
            readonly soortObjectId?: string;
            readonly objectId?: string;
            readonly beperkteSet?: boolean;
        };
        readonly Answer: components["schemas"]["Verwerkingsactie"];
    };
    readonly putVerwerkingsactie: {
        readonly Params: {
            readonly actieId: string;
        };
        readonly Body: components["schemas"]["VerwerkingsactieVolledig"];
        readonly Answer: components["schemas"]["Verwerkingsactie"];
    };
    readonly deleteVerwerkingsactie: {
        readonly Params: {
            readonly actieId: string;
        };
    };
    readonly getVerwerkingsactieBewijs: {
        readonly Params: {
            readonly actieId: string;
        };
        readonly Querystring: {
            readonly objecttype?: string;
            readonly soortObjectId?: string;
            readonly objectId?: string;
            readonly beperkteSet?: boolean;
        };
    };
    readonly getVerwerkteObjecten: {
        readonly Querystring: {
            readonly objecttype: string;
            readonly soortObjectId: string;
            readonly objectId: string;
            readonly beginDatum?: string;
            readonly eindDatum?: string;
            readonly verwerkingsactiviteitId?: string;
            readonly limit: number;
            readonly cursor?: string;
        };
        readonly Answer: components["schemas"]["VerwerktObjectLijst"];
    };
    readonly getVerwerktObject: {
        readonly Params: {
            readonly verwerktObjectId: string;
        };
        readonly Querystring: {
            readonly objecttype?: string;
            readonly soortObjectId?: string;
            readonly objectId?: string;
        };
        readonly Answer: components["schemas"]["VerwerktObjectUitgebreid"];
    };
    readonly getVerwerktObjectBewijs: {
        readonly Params: {
            readonly verwerktObjectId: string;
        };
        readonly Querystring: {
            readonly objecttype?: string;
            readonly soortObjectId?: string;
            readonly objectId?: string;
        };
    };
    readonly getVerwerkingsactiviteiten: {
        readonly Querystring: {
            readonly limit: number;
            readonly cursor?: string;
        };
        readonly Answer: components["schemas"]["VerwerkingsactiviteitLijst"];
    };
    readonly getVerwerkingsactiviteit: {
        readonly Params: {
            readonly verwerkingsactiviteitId: string;
        };
        readonly Answer: components["schemas"]["Verwerkingsactiviteit"];
    };
    readonly putVerwerkingsactiviteit: {
        readonly Params: {
            readonly verwerkingsactiviteitId: string;
        };
        readonly Body: components["schemas"]["VerwerkingsactiviteitInvoer"];
        readonly Answer: components["schemas"]["Verwerkingsactiviteit"];
    };
    readonly deleteVerwerkingsactiviteit: {
        readonly Params: {
            readonly verwerkingsactiviteitId: string;
        };
    };
}
