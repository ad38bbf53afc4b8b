// Generated from openapi/verwerkingenlog.yaml by `npm run contract-types`; not to be edited.
// sha256 of the contract without its words: 9b6919e9926d6440df7e9a92bde8f781d9144339ee99b72dea945393d03eff21

export interface components {
    schemas: {
        readonly Uuid: string;
        readonly UuidOfLeeg: string | null;
        readonly UrlOfLeeg: string | null;
        readonly TekstOfLeeg: string | null;
        readonly Tekst: string;
        readonly LangeTekst: string;
        readonly LangeTekstOfLeeg: string | null;
        readonly Kenmerk: string;
        readonly LangKenmerk: string;
        readonly KenmerkOfLeeg: string | null;
        readonly OinOfLeeg: string | null;
        readonly Oin: string;
        readonly Bewaartermijn: string;
        readonly BewaartermijnOfLeeg: string | null;
        readonly BewaartermijnInvoerOfLeeg: string | null;
        readonly Moment: string;
        readonly SoortAfnemerId: string | null;
        readonly Vertrouwelijkheid: "normaal" | "vertrouwelijk" | "opgeheven";
        readonly ObjecttypeInvoer: string;
        readonly VerwerktSoortGegeven: {
            readonly soortGegeven: components["schemas"]["Tekst"];
        };
        readonly VerwerktObjectInvoer: {
            readonly url?: unknown;
            readonly verwerktObjectId?: unknown;
            readonly objecttype: components["schemas"]["ObjecttypeInvoer"];
            readonly soortObjectId: components["schemas"]["Tekst"];
            readonly objectId: components["schemas"]["Kenmerk"];
            readonly betrokkenheid?: components["schemas"]["TekstOfLeeg"];
            readonly verwerkteSoortenGegevens?: readonly components["schemas"]["VerwerktSoortGegeven"][] | null;
        };
        readonly VerwerktObject: {
            readonly url: string;
            readonly verwerktObjectId: components["schemas"]["Uuid"];
            readonly objecttype: "persoon";
            readonly soortObjectId: components["schemas"]["Tekst"];
            readonly objectId: components["schemas"]["LangKenmerk"];
            readonly betrokkenheid: components["schemas"]["TekstOfLeeg"];
            readonly verwerkteSoortenGegevens: readonly components["schemas"]["VerwerktSoortGegeven"][] | null;
        };
        readonly VerwerkingsactieInvoer: {
            readonly url?: unknown;
            readonly actieId?: unknown;
            readonly tijdstipRegistratie?: unknown;
            readonly actieNaam?: components["schemas"]["TekstOfLeeg"];
            readonly handelingNaam?: components["schemas"]["TekstOfLeeg"];
            readonly verwerkingNaam?: components["schemas"]["TekstOfLeeg"];
            readonly verwerkingId?: components["schemas"]["UuidOfLeeg"];
            readonly verwerkingsactiviteitId?: components["schemas"]["UuidOfLeeg"];
            readonly verwerkingsactiviteitUrl?: components["schemas"]["UrlOfLeeg"];
            readonly vertrouwelijkheid: components["schemas"]["VertrouwelijkheidInvoer"];
            readonly bewaartermijn?: components["schemas"]["BewaartermijnInvoerOfLeeg"];
            readonly uitvoerder?: components["schemas"]["OinOfLeeg"];
            readonly systeem?: components["schemas"]["TekstOfLeeg"];
            readonly gebruiker?: components["schemas"]["KenmerkOfLeeg"];
            readonly gegevensbron?: components["schemas"]["TekstOfLeeg"];
            readonly soortAfnemerId?: components["schemas"]["SoortAfnemerId"];
            readonly afnemerId?: components["schemas"]["KenmerkOfLeeg"];
            readonly verwerkingsactiviteitIdAfnemer?: components["schemas"]["UuidOfLeeg"];
            readonly verwerkingsactiviteitUrlAfnemer?: components["schemas"]["UrlOfLeeg"];
            readonly verwerkingIdAfnemer?: components["schemas"]["UuidOfLeeg"];
            readonly tijdstip: components["schemas"]["Moment"];
            readonly verwerkteObjecten: readonly components["schemas"]["VerwerktObjectInvoer"][];
        };
        readonly VerwerkingsactieVolledig: {
            readonly url?: unknown;
            readonly actieId?: unknown;
            readonly tijdstipRegistratie?: unknown;
            readonly actieNaam?: components["schemas"]["TekstOfLeeg"];
            readonly handelingNaam?: components["schemas"]["TekstOfLeeg"];
            readonly verwerkingNaam?: components["schemas"]["TekstOfLeeg"];
            readonly verwerkingId?: components["schemas"]["UuidOfLeeg"];
            readonly verwerkingsactiviteitId?: components["schemas"]["UuidOfLeeg"];
            readonly verwerkingsactiviteitUrl?: components["schemas"]["UrlOfLeeg"];
            readonly vertrouwelijkheid?: components["schemas"]["VertrouwelijkheidInvoer"];
            readonly bewaartermijn?: components["schemas"]["BewaartermijnInvoerOfLeeg"];
            readonly uitvoerder?: components["schemas"]["OinOfLeeg"];
            readonly systeem?: components["schemas"]["TekstOfLeeg"];
            readonly gebruiker?: components["schemas"]["KenmerkOfLeeg"];
            readonly gegevensbron?: components["schemas"]["TekstOfLeeg"];
            readonly soortAfnemerId?: components["schemas"]["SoortAfnemerId"];
            readonly afnemerId?: components["schemas"]["KenmerkOfLeeg"];
            readonly verwerkingsactiviteitIdAfnemer?: components["schemas"]["UuidOfLeeg"];
            readonly verwerkingsactiviteitUrlAfnemer?: components["schemas"]["UrlOfLeeg"];
            readonly verwerkingIdAfnemer?: components["schemas"]["UuidOfLeeg"];
            readonly tijdstip?: components["schemas"]["Moment"];
            readonly verwerkteObjecten?: readonly components["schemas"]["VerwerktObjectInvoer"][];
        };
        readonly VerwerkingsactieWijziging: {
            readonly vertrouwelijkheid?: components["schemas"]["VertrouwelijkheidInvoer"];
            readonly bewaartermijn?: components["schemas"]["Bewaartermijn"];
        };
        readonly Verwerkingsactie: {
            readonly url: string;
            readonly actieId: components["schemas"]["Uuid"];
            readonly tijdstipRegistratie: components["schemas"]["Moment"];
            readonly actieNaam: components["schemas"]["TekstOfLeeg"];
            readonly handelingNaam: components["schemas"]["TekstOfLeeg"];
            readonly verwerkingNaam: components["schemas"]["TekstOfLeeg"];
            readonly verwerkingId: components["schemas"]["UuidOfLeeg"];
            readonly verwerkingsactiviteitId: components["schemas"]["UuidOfLeeg"];
            readonly verwerkingsactiviteitUrl: components["schemas"]["UrlOfLeeg"];
            readonly vertrouwelijkheid: components["schemas"]["Vertrouwelijkheid"];
            readonly bewaartermijn: components["schemas"]["BewaartermijnOfLeeg"];
            readonly uitvoerder: components["schemas"]["OinOfLeeg"];
            readonly systeem?: components["schemas"]["TekstOfLeeg"];
            readonly gebruiker?: components["schemas"]["KenmerkOfLeeg"];
            readonly gegevensbron?: components["schemas"]["TekstOfLeeg"];
            readonly soortAfnemerId: components["schemas"]["SoortAfnemerId"];
            readonly afnemerId: components["schemas"]["KenmerkOfLeeg"];
            readonly verwerkingsactiviteitIdAfnemer: components["schemas"]["UuidOfLeeg"];
            readonly verwerkingsactiviteitUrlAfnemer: components["schemas"]["UrlOfLeeg"];
            readonly verwerkingIdAfnemer: components["schemas"]["UuidOfLeeg"];
            readonly tijdstip: components["schemas"]["Moment"];
            readonly verwerkteObjecten: readonly components["schemas"]["VerwerktObject"][];
        };
        readonly VerwerkingsactieInzage: {
            readonly url: string;
            readonly actieId: components["schemas"]["Uuid"];
            readonly tijdstipRegistratie: components["schemas"]["Moment"];
            readonly actieNaam: components["schemas"]["TekstOfLeeg"];
            readonly handelingNaam: components["schemas"]["TekstOfLeeg"];
            readonly verwerkingNaam: components["schemas"]["TekstOfLeeg"];
            readonly verwerkingId: components["schemas"]["UuidOfLeeg"];
            readonly verwerkingsactiviteitId: components["schemas"]["UuidOfLeeg"];
            readonly verwerkingsactiviteitUrl: components["schemas"]["UrlOfLeeg"];
            readonly vertrouwelijkheid: components["schemas"]["Vertrouwelijkheid"];
            readonly bewaartermijn: components["schemas"]["BewaartermijnOfLeeg"];
            readonly uitvoerder: components["schemas"]["OinOfLeeg"];
            readonly soortAfnemerId: components["schemas"]["SoortAfnemerId"];
            readonly afnemerId: components["schemas"]["KenmerkOfLeeg"];
            readonly verwerkingsactiviteitIdAfnemer: components["schemas"]["UuidOfLeeg"];
            readonly verwerkingsactiviteitUrlAfnemer: components["schemas"]["UrlOfLeeg"];
            readonly verwerkingIdAfnemer: components["schemas"]["UuidOfLeeg"];
            readonly tijdstip: components["schemas"]["Moment"];
            readonly verwerkteObjecten: readonly components["schemas"]["VerwerktObject"][];
        };
        readonly VerwerktObjectUitgebreid: {
            readonly url: string;
            readonly verwerktObjectId: components["schemas"]["Uuid"];
            readonly objecttype: "persoon";
            readonly soortObjectId: components["schemas"]["Tekst"];
            readonly objectId: components["schemas"]["LangKenmerk"];
            readonly betrokkenheid: components["schemas"]["TekstOfLeeg"];
            readonly verwerkteSoortenGegevens: readonly components["schemas"]["VerwerktSoortGegeven"][] | null;
            readonly verwerkingsactie: components["schemas"]["VerwerkingsactieInzage"];
        };
        readonly VerwerkingsactieLijst: {
            readonly count: number;
            readonly next: string | null;
            readonly previous: string | null;
            readonly results: readonly components["schemas"]["Verwerkingsactie"][];
        };
        readonly VerwerktObjectLijst: {
            readonly count: number;
            readonly next: string | null;
            readonly previous: string | null;
            readonly results: readonly components["schemas"]["VerwerktObjectUitgebreid"][];
        };
        readonly VerwerkingsactiviteitLijst: {
            readonly count: number;
            readonly next: string | null;
            readonly previous: string | null;
            readonly results: readonly components["schemas"]["Verwerkingsactiviteit"][];
        };
        readonly Grondslag: "Toestemming betrokkene" | "Uitvoering overeenkomst" | "Wettelijke verplichting" | "Vitaal belang" | "Publieke taak" | "Gerechtvaardigd belang";
        readonly VerwerktPersoonsgegeven: {
            readonly rolBetrokkene?: components["schemas"]["TekstOfLeeg"];
            readonly naam: components["schemas"]["Tekst"];
        };
        readonly VerwerkingsactiviteitInvoer: {
            readonly url?: unknown;
            readonly verwerkingsactiviteitId?: unknown;
            readonly tijdstipRegistratie?: unknown;
            readonly naam: components["schemas"]["Tekst"];
            readonly verantwoordelijkeOrganisatie: components["schemas"]["Oin"];
            readonly doel: components["schemas"]["LangeTekst"];
            readonly grondslag: components["schemas"]["Grondslag"];
            readonly toelichtingGrondslag?: components["schemas"]["LangeTekstOfLeeg"];
            readonly categorie?: components["schemas"]["TekstOfLeeg"];
            readonly verantwoordelijkeBestuursorgaan?: components["schemas"]["TekstOfLeeg"];
            readonly gebaseerdOp?: components["schemas"]["UrlOfLeeg"];
            readonly bewaartermijn?: components["schemas"]["LangeTekstOfLeeg"];
            readonly vertrouwelijkheid?: "normaal" | "vertrouwelijk";
            readonly herkomst?: components["schemas"]["LangeTekstOfLeeg"];
            readonly afnemendeCategorieOntvangers?: readonly components["schemas"]["Tekst"][];
            readonly afnemendeInternationaleDerden?: readonly components["schemas"]["Tekst"][];
            readonly verwerktePersoonsgegevens?: readonly components["schemas"]["VerwerktPersoonsgegeven"][];
        };
        readonly Verwerkingsactiviteit: {
            readonly url: string;
            readonly verwerkingsactiviteitId: components["schemas"]["Uuid"];
            readonly tijdstipRegistratie: components["schemas"]["Moment"];
            readonly naam: components["schemas"]["Tekst"];
            readonly verantwoordelijkeOrganisatie: components["schemas"]["Oin"];
            readonly doel: components["schemas"]["LangeTekst"];
            readonly grondslag: components["schemas"]["Grondslag"];
            readonly toelichtingGrondslag: components["schemas"]["LangeTekstOfLeeg"];
            readonly categorie: components["schemas"]["TekstOfLeeg"];
            readonly verantwoordelijkeBestuursorgaan: components["schemas"]["TekstOfLeeg"];
            readonly gebaseerdOp: components["schemas"]["UrlOfLeeg"];
            readonly bewaartermijn: components["schemas"]["LangeTekstOfLeeg"];
            readonly vertrouwelijkheid: "normaal" | "vertrouwelijk";
            readonly herkomst: components["schemas"]["LangeTekstOfLeeg"];
            readonly afnemendeCategorieOntvangers: readonly components["schemas"]["Tekst"][];
            readonly afnemendeInternationaleDerden: readonly components["schemas"]["Tekst"][];
            readonly verwerktePersoonsgegevens: readonly components["schemas"]["VerwerktPersoonsgegeven"][];
        };
        readonly Fout: {
            readonly type: string;
            readonly code: string;
            readonly title: string;
            readonly status: number;
            readonly detail: string;
            readonly instance: string;
        };
        readonly ValidatieFout: {
            readonly type: string;
            readonly code: string;
            readonly title: string;
            readonly status: number;
            readonly detail: string;
            readonly instance: string;
            readonly invalidParams: readonly components["schemas"]["VeldFout"][];
        };
        readonly VeldFout: {
            readonly name: string;
            readonly code: string;
            readonly reason: string;
        };
        readonly VertrouwelijkheidInvoer: string;
    };
    responses: never;
    parameters: {
        readonly ActieId: string;
        readonly VerwerktObjectId: string;
        readonly VerwerkingsactiviteitIdPad: string;
        readonly Objecttype: string;
        readonly SoortObjectId: string;
        readonly ObjectId: string;
        readonly BeginDatum: string;
        readonly EindDatum: string;
        readonly VerwerkingsactiviteitId: string;
        readonly BeperkteSet: boolean;
        readonly Vertrouwelijkheid: readonly string[];
        readonly VertrouwelijkheidIn: string;
        readonly VerwerkingId: string;
        readonly Limit: number;
        readonly Cursor: string;
        readonly IdempotencyKey: string;
        readonly ObjecttypeVanPersoon: string;
        readonly SoortObjectIdVanPersoon: string;
        readonly ObjectIdVanPersoon: string;
        readonly IfNoneMatch: string;
        readonly IfMatch: string;
        readonly Oin: string;
        readonly VerwerkingsactiviteitIdHeader: string;
        readonly VerwerkingsactiviteitUrlHeader: string;
        readonly VerwerkingIdHeader: string;
        readonly VertrouwelijkheidHeader: string;
        readonly BewaartermijnHeader: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export interface operations {
    readonly getVerwerkingsacties: {
        readonly parameters: {
            readonly query: {
                readonly objecttype: components["parameters"]["Objecttype"];
                readonly soortObjectId: components["parameters"]["SoortObjectId"];
                readonly objectId: components["parameters"]["ObjectId"];
                readonly beginDatum?: components["parameters"]["BeginDatum"];
                readonly eindDatum?: components["parameters"]["EindDatum"];
                readonly verwerkingsactiviteitId?: components["parameters"]["VerwerkingsactiviteitId"];
                readonly beperkteSet: components["parameters"]["BeperkteSet"];
                readonly vertrouwelijkheid?: components["parameters"]["Vertrouwelijkheid"];
                readonly vertrouwelijkheid__in?: components["parameters"]["VertrouwelijkheidIn"];
                readonly limit: components["parameters"]["Limit"];
                readonly cursor?: components["parameters"]["Cursor"];
            };
            readonly header?: {
                readonly OIN?: components["parameters"]["Oin"];
                readonly VerwerkingsactiviteitId?: components["parameters"]["VerwerkingsactiviteitIdHeader"];
                readonly VerwerkingsactiviteitUrl?: components["parameters"]["VerwerkingsactiviteitUrlHeader"];
                readonly VerwerkingId?: components["parameters"]["VerwerkingIdHeader"];
                readonly Vertrouwelijkheid?: components["parameters"]["VertrouwelijkheidHeader"];
                readonly Bewaartermijn?: components["parameters"]["BewaartermijnHeader"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["VerwerkingsactieLijst"];
                };
            };
        };
    };
    readonly postVerwerkingsactie: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                readonly "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["VerwerkingsactieInvoer"];
            };
        };
        readonly responses: {
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Verwerkingsactie"];
                };
            };
        };
    };
    readonly patchVerwerkingsacties: {
        readonly parameters: {
            readonly query: {
                readonly verwerkingId: components["parameters"]["VerwerkingId"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["VerwerkingsactieWijziging"];
            };
        };
        readonly responses: {
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly getVerwerkingsactie: {
        readonly parameters: {
            readonly query?: {
                readonly objecttype?: components["parameters"]["ObjecttypeVanPersoon"];
                readonly soortObjectId?: components["parameters"]["SoortObjectIdVanPersoon"];
                readonly objectId?: components["parameters"]["ObjectIdVanPersoon"];
                readonly beperkteSet?: boolean;
            };
            readonly header?: {
                readonly "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                readonly OIN?: components["parameters"]["Oin"];
                readonly VerwerkingsactiviteitId?: components["parameters"]["VerwerkingsactiviteitIdHeader"];
                readonly VerwerkingsactiviteitUrl?: components["parameters"]["VerwerkingsactiviteitUrlHeader"];
                readonly VerwerkingId?: components["parameters"]["VerwerkingIdHeader"];
                readonly Vertrouwelijkheid?: components["parameters"]["VertrouwelijkheidHeader"];
                readonly Bewaartermijn?: components["parameters"]["BewaartermijnHeader"];
            };
            readonly path: {
                readonly actieId: components["parameters"]["ActieId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Verwerkingsactie"];
                };
            };
        };
    };
    readonly putVerwerkingsactie: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                readonly "If-Match"?: components["parameters"]["IfMatch"];
            };
            readonly path: {
                readonly actieId: components["parameters"]["ActieId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["VerwerkingsactieVolledig"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Verwerkingsactie"];
                };
            };
        };
    };
    readonly deleteVerwerkingsactie: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                readonly "If-Match"?: components["parameters"]["IfMatch"];
            };
            readonly path: {
                readonly actieId: components["parameters"]["ActieId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly getVerwerkingsactieBewijs: {
        readonly parameters: {
            readonly query?: {
                readonly objecttype?: components["parameters"]["ObjecttypeVanPersoon"];
                readonly soortObjectId?: components["parameters"]["SoortObjectIdVanPersoon"];
                readonly objectId?: components["parameters"]["ObjectIdVanPersoon"];
                readonly beperkteSet?: boolean;
            };
            readonly header?: {
                readonly OIN?: components["parameters"]["Oin"];
                readonly VerwerkingsactiviteitId?: components["parameters"]["VerwerkingsactiviteitIdHeader"];
                readonly VerwerkingsactiviteitUrl?: components["parameters"]["VerwerkingsactiviteitUrlHeader"];
                readonly VerwerkingId?: components["parameters"]["VerwerkingIdHeader"];
                readonly Vertrouwelijkheid?: components["parameters"]["VertrouwelijkheidHeader"];
                readonly Bewaartermijn?: components["parameters"]["BewaartermijnHeader"];
            };
            readonly path: {
                readonly actieId: components["parameters"]["ActieId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/plain": string;
                };
            };
        };
    };
    readonly getVerwerkteObjecten: {
        readonly parameters: {
            readonly query: {
                readonly objecttype: components["parameters"]["Objecttype"];
                readonly soortObjectId: components["parameters"]["SoortObjectId"];
                readonly objectId: components["parameters"]["ObjectId"];
                readonly beginDatum?: components["parameters"]["BeginDatum"];
                readonly eindDatum?: components["parameters"]["EindDatum"];
                readonly verwerkingsactiviteitId?: components["parameters"]["VerwerkingsactiviteitId"];
                readonly limit: components["parameters"]["Limit"];
                readonly cursor?: components["parameters"]["Cursor"];
            };
            readonly header?: {
                readonly OIN?: components["parameters"]["Oin"];
                readonly VerwerkingsactiviteitId?: components["parameters"]["VerwerkingsactiviteitIdHeader"];
                readonly VerwerkingsactiviteitUrl?: components["parameters"]["VerwerkingsactiviteitUrlHeader"];
                readonly VerwerkingId?: components["parameters"]["VerwerkingIdHeader"];
                readonly Vertrouwelijkheid?: components["parameters"]["VertrouwelijkheidHeader"];
                readonly Bewaartermijn?: components["parameters"]["BewaartermijnHeader"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["VerwerktObjectLijst"];
                };
            };
        };
    };
    readonly getVerwerktObject: {
        readonly parameters: {
            readonly query?: {
                readonly objecttype?: components["parameters"]["ObjecttypeVanPersoon"];
                readonly soortObjectId?: components["parameters"]["SoortObjectIdVanPersoon"];
                readonly objectId?: components["parameters"]["ObjectIdVanPersoon"];
            };
            readonly header?: {
                readonly "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                readonly OIN?: components["parameters"]["Oin"];
                readonly VerwerkingsactiviteitId?: components["parameters"]["VerwerkingsactiviteitIdHeader"];
                readonly VerwerkingsactiviteitUrl?: components["parameters"]["VerwerkingsactiviteitUrlHeader"];
                readonly VerwerkingId?: components["parameters"]["VerwerkingIdHeader"];
                readonly Vertrouwelijkheid?: components["parameters"]["VertrouwelijkheidHeader"];
                readonly Bewaartermijn?: components["parameters"]["BewaartermijnHeader"];
            };
            readonly path: {
                readonly verwerktObjectId: components["parameters"]["VerwerktObjectId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["VerwerktObjectUitgebreid"];
                };
            };
        };
    };
    readonly getVerwerktObjectBewijs: {
        readonly parameters: {
            readonly query?: {
                readonly objecttype?: components["parameters"]["ObjecttypeVanPersoon"];
                readonly soortObjectId?: components["parameters"]["SoortObjectIdVanPersoon"];
                readonly objectId?: components["parameters"]["ObjectIdVanPersoon"];
            };
            readonly header?: {
                readonly OIN?: components["parameters"]["Oin"];
                readonly VerwerkingsactiviteitId?: components["parameters"]["VerwerkingsactiviteitIdHeader"];
                readonly VerwerkingsactiviteitUrl?: components["parameters"]["VerwerkingsactiviteitUrlHeader"];
                readonly VerwerkingId?: components["parameters"]["VerwerkingIdHeader"];
                readonly Vertrouwelijkheid?: components["parameters"]["VertrouwelijkheidHeader"];
                readonly Bewaartermijn?: components["parameters"]["BewaartermijnHeader"];
            };
            readonly path: {
                readonly verwerktObjectId: components["parameters"]["VerwerktObjectId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/plain": string;
                };
            };
        };
    };
    readonly getVerwerkingsactiviteiten: {
        readonly parameters: {
            readonly query: {
                readonly limit: components["parameters"]["Limit"];
                readonly cursor?: components["parameters"]["Cursor"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["VerwerkingsactiviteitLijst"];
                };
            };
        };
    };
    readonly getVerwerkingsactiviteit: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                readonly "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            readonly path: {
                readonly verwerkingsactiviteitId: components["parameters"]["VerwerkingsactiviteitIdPad"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Verwerkingsactiviteit"];
                };
            };
        };
    };
    readonly putVerwerkingsactiviteit: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                readonly "If-Match"?: components["parameters"]["IfMatch"];
            };
            readonly path: {
                readonly verwerkingsactiviteitId: components["parameters"]["VerwerkingsactiviteitIdPad"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["VerwerkingsactiviteitInvoer"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Verwerkingsactiviteit"];
                };
            };
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Verwerkingsactiviteit"];
                };
            };
        };
    };
    readonly deleteVerwerkingsactiviteit: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                readonly "If-Match"?: components["parameters"]["IfMatch"];
            };
            readonly path: {
                readonly verwerkingsactiviteitId: components["parameters"]["VerwerkingsactiviteitIdPad"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
