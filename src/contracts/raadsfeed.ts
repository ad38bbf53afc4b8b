// Generated from openapi/raadsfeed.yaml by `npm run contract-types`; not to be edited.
// sha256 of the typed part of the contract: 316ef8d788f55017420d47c358d5f7be264ba7d8deec2c84d7169526d62fa5ac

export interface components {
    schemas: {
        readonly Servicedocument: {
            readonly rol: components["schemas"]["Rol"];
            readonly organisaties: readonly components["schemas"]["FeedOrganisatie"][];
            readonly resourceTypes: readonly components["schemas"]["ResourceType"][];
            readonly feedUrl: string;
            readonly snapshotUrl: string;
            readonly streamUrl: string;
            readonly historieVanaf: string;
            readonly retentie: "permanent" | string;
            readonly contact?: string;
            readonly licentie?: string;
        };
        readonly Rol: "bronhouder" | "aggregator";
        readonly FeedOrganisatie: {
            readonly organisatiecode: string;
            readonly naam: string;
            readonly laatstBijgewerkt?: string;
            readonly herkomst?: string;
            readonly herkomstSoort: "eigen" | "feed" | "leveranciers-api";
        };
        readonly ResourceType: "Vergadering" | "Agendapunt" | "Informatieobject";
        readonly FeedPage: {
            readonly records: readonly components["schemas"]["FeedRecord"][];
            readonly cursor: string;
            readonly head: number;
            readonly hasMore: boolean;
            readonly next: string | null;
        };
        readonly FeedRecord: {
            readonly sequenceNumber: number;
            readonly op: "upsert" | "delete" | "redact";
            readonly resourceType: components["schemas"]["ResourceType"];
            readonly resource: components["schemas"]["ResourceIdentiteit"];
            readonly storedAt: string;
            readonly resourceUrl?: string;
            readonly contentHash?: string;
            readonly gewijzigdOp?: string;
            readonly herkomst?: components["schemas"]["Herkomst"];
            readonly data?: components["schemas"]["Vergadering"] | components["schemas"]["Agendapunt"] | components["schemas"]["InformatieObject"];
            readonly verwijderreden?: components["schemas"]["Verwijderreden"];
            readonly toelichting?: string;
            readonly geredigeerdeSequenceNumbers?: readonly number[];
        } & (unknown & unknown & unknown & components["schemas"]["DataPastBijResourceType"]);
        readonly ResourceIdentiteit: {
            readonly organisatiecode: string;
            readonly bronidentificatie: string;
        };
        readonly Herkomst: {
            readonly feedUrl: string;
            readonly sequenceNumber: number;
        };
        readonly Vergadering: {
            readonly bronidentificatie: string;
            readonly dossiertype: "vergadering";
            readonly organisatie: components["schemas"]["Organisatie"];
            readonly url?: string;
            readonly webpaginalink?: string;
            readonly gewijzigdop?: string;
            readonly naam: string;
            readonly aanvang?: string;
            readonly einde?: string;
            readonly geplandeaanvang?: string;
            readonly geplandeeinde?: string;
            readonly geplandedatum?: string;
            readonly vergaderdatum?: string;
            readonly locatie?: string;
            readonly vergaderstatus?: string;
            readonly vergaderingstype?: string;
            readonly vergadertoelichting?: string;
            readonly hoofdvergadering?: components["schemas"]["VerwijzingNaarResource"];
            readonly deelvergaderingen?: components["schemas"]["Verwijzingen"];
            readonly agendapunten?: components["schemas"]["Verwijzingen"];
            readonly georganiseerddoorgremium?: {
                readonly gremiumidentificatie: string;
                readonly gremiumnaam: string;
            };
        };
        readonly Organisatie: {
            readonly gemeente?: string;
            readonly provincie?: string;
            readonly waterschap?: string;
            readonly naam: string;
        } & ({
            readonly gemeente: unknown;
        } | {
            readonly provincie: unknown;
        } | {
            readonly waterschap: unknown;
        });
        readonly VerwijzingNaarResource: {
            readonly bronidentificatie: string;
            readonly organisatiecode?: string;
            readonly url?: string;
        };
        readonly Verwijzingen: readonly components["schemas"]["VerwijzingNaarResource"][];
        readonly Agendapunt: {
            readonly bronidentificatie: string;
            readonly dossiertype: "agendapunt";
            readonly organisatie: components["schemas"]["Organisatie"];
            readonly url?: string;
            readonly webpaginalink?: string;
            readonly gewijzigdop?: string;
            readonly agendapuntnaam: string;
            readonly vergadering: components["schemas"]["VerwijzingNaarResource"];
            readonly hoofdagendapunt?: components["schemas"]["VerwijzingNaarResource"];
            readonly subagendapunten?: components["schemas"]["Verwijzingen"];
            readonly omschrijving?: string;
            readonly volgnummer?: string;
            readonly geplandvolgnummer?: string;
            readonly tussenkop?: string;
            readonly overig?: string;
            readonly locatie?: string;
            readonly starttijd?: string;
            readonly eindtijd?: string;
            readonly geplandestarttijd?: string;
            readonly geplandeeindtijd?: string;
            readonly indicatiehamerstuk?: boolean | null;
            readonly indicatiebehandeld?: boolean | null;
            readonly indicatiebesloten?: boolean | null;
        };
        readonly InformatieObject: {
            readonly bronidentificatie: string;
            readonly dossiertype: "informatieobject";
            readonly organisatie: components["schemas"]["Organisatie"];
            readonly url?: string;
            readonly webpaginalink: string;
            readonly gewijzigdop?: string;
            readonly titel: string;
            readonly wooinformatiecategorie: string;
            readonly datumingediend: string;
            readonly bestandsurl?: string;
            readonly formaat?: string;
            readonly omvang?: number;
            readonly checksum?: string;
            readonly auteur?: string;
            readonly bronorganisatie?: string;
            readonly creatiedatum?: string;
            readonly informatieobjecttype?: string;
            readonly omschrijving?: string;
            readonly taal?: string;
            readonly vergaderingen?: components["schemas"]["Verwijzingen"];
            readonly agendapunten?: components["schemas"]["Verwijzingen"];
            readonly gerelateerdinformatieobject?: {
                readonly informatieobject: components["schemas"]["VerwijzingNaarResource"];
                readonly rol: string;
            } | null;
            readonly id?: string;
        };
        readonly Verwijderreden: "ingetrokken" | "correctie" | "niet_langer_openbaar" | "persoonsgegevens" | "overig";
        readonly DataPastBijResourceType: unknown & unknown & unknown;
        readonly SnapshotPage: {
            readonly records: readonly components["schemas"]["SnapshotRecord"][];
            readonly feedCursor: string;
            readonly cursor: string | null;
            readonly hasMore: boolean;
            readonly next: string | null;
        };
        readonly SnapshotRecord: components["schemas"]["FeedRecord"] & {
            readonly op?: "upsert";
        };
        readonly VergaderingPage: {
            readonly results: readonly components["schemas"]["Vergadering"][];
            readonly cursor: string | null;
            readonly hasMore: boolean;
            readonly next: string | null;
        };
        readonly AgendapuntPage: {
            readonly results: readonly components["schemas"]["Agendapunt"][];
            readonly cursor: string | null;
            readonly hasMore: boolean;
            readonly next: string | null;
        };
        readonly InformatieObjectPage: {
            readonly results: readonly components["schemas"]["InformatieObject"][];
            readonly cursor: string | null;
            readonly hasMore: boolean;
            readonly next: string | null;
        };
        readonly RegisterPage: {
            readonly results: readonly components["schemas"]["RegisterFeed"][];
            readonly cursor: string | null;
            readonly hasMore: boolean;
            readonly next: string | null;
        };
        readonly RegisterFeed: {
            readonly serviceUrl: string;
            readonly feedUrl: string;
            readonly snapshotUrl: string;
            readonly streamUrl: string | null;
            readonly rol: components["schemas"]["Rol"];
            readonly organisaties: readonly {
                readonly organisatiecode: string;
                readonly naam: string;
            }[];
            readonly laatstGezien: string | null;
            readonly bereikbaar: boolean;
        };
    };
}
export interface operations {
    readonly getServicedocument: {
        readonly Answer: components["schemas"]["Servicedocument"];
    };
    readonly getFeed: {
        readonly Querystring: {
            readonly cursor?: string;
            readonly limit: number;
            readonly organisatiecode?: string;
            readonly resourceType?: "Vergadering" | "Agendapunt" | "Informatieobject";
        };
        readonly Answer: components["schemas"]["FeedPage"];
    };
    readonly getFeedStream: {
        readonly Querystring: {
            readonly cursor?: string;
            readonly organisatiecode?: string;
            readonly resourceType?: "Vergadering" | "Agendapunt" | "Informatieobject";
        };
        readonly Headers: {
            readonly "last-event-id"?: number;
        };
    };
    readonly getSnapshot: {
        readonly Querystring: {
            readonly cursor?: string;
            readonly limit: number;
            readonly organisatiecode?: string;
            readonly resourceType?: "Vergadering" | "Agendapunt" | "Informatieobject";
        };
        readonly Answer: components["schemas"]["SnapshotPage"];
    };
    readonly getVergaderingen: {
        readonly Params: {
            readonly organisatiecode: string;
        };
        readonly Querystring: {
            readonly cursor?: string;
            readonly limit: number;
        };
        readonly Answer: components["schemas"]["VergaderingPage"];
    };
    readonly getVergadering: {
        readonly Params: {
            readonly organisatiecode: string;
            readonly bronidentificatie: string;
        };
        readonly Answer: components["schemas"]["Vergadering"];
    };
    readonly getAgendapunten: {
        readonly Params: {
            readonly organisatiecode: string;
        };
        readonly Querystring: {
            readonly cursor?: string;
            readonly limit: number;
        };
        readonly Answer: components["schemas"]["AgendapuntPage"];
    };
    readonly getAgendapunt: {
        readonly Params: {
            readonly organisatiecode: string;
            readonly bronidentificatie: string;
        };
        readonly Answer: components["schemas"]["Agendapunt"];
    };
    readonly getInformatieobjecten: {
        readonly Params: {
            readonly organisatiecode: string;
        };
        readonly Querystring: {
            readonly cursor?: string;
            readonly limit: number;
        };
        readonly Answer: components["schemas"]["InformatieObjectPage"];
    };
    readonly getInformatieobject: {
        readonly Params: {
            readonly organisatiecode: string;
            readonly bronidentificatie: string;
        };
        readonly Answer: components["schemas"]["InformatieObject"];
    };
    readonly getRegister: {
        readonly Querystring: {
            readonly cursor?: string;
            readonly limit: number;
            readonly organisatiecode?: string;
        };
        readonly Answer: components["schemas"]["RegisterPage"];
    };
}
