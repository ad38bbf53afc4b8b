// Generated from openapi/raadsfeed.yaml by `npm run contract-types`; not to be edited.
// sha256 of the contract without its words: 784375d03073d0c2f46a7120544dd2f1d22c2520309e7fa17644f9814746436a

export interface components {
    schemas: {
        readonly Organisatiecode: string;
        readonly Bronidentificatie: string;
        readonly Moment: string;
        readonly ContentHash: string;
        readonly ResourceType: "Vergadering" | "Agendapunt" | "Informatieobject";
        readonly Verwijderreden: "ingetrokken" | "correctie" | "niet_langer_openbaar" | "persoonsgegevens" | "overig";
        readonly Toelichting: string;
        readonly ResourceIdentiteit: {
            readonly organisatiecode: components["schemas"]["Organisatiecode"];
            readonly bronidentificatie: components["schemas"]["Bronidentificatie"];
        };
        readonly Herkomst: {
            readonly feedUrl: string;
            readonly sequenceNumber: number;
        };
        readonly FeedRecord: {
            readonly sequenceNumber: number;
            readonly op: "upsert" | "delete" | "redact";
            readonly resourceType: components["schemas"]["ResourceType"];
            readonly resource: components["schemas"]["ResourceIdentiteit"];
            readonly storedAt: components["schemas"]["Moment"];
            readonly resourceUrl?: string;
            readonly contentHash?: components["schemas"]["ContentHash"];
            readonly gewijzigdOp?: components["schemas"]["Moment"];
            readonly herkomst?: components["schemas"]["Herkomst"];
            readonly data?: components["schemas"]["Vergadering"] | components["schemas"]["Agendapunt"] | components["schemas"]["InformatieObject"];
            readonly verwijderreden?: components["schemas"]["Verwijderreden"];
            readonly toelichting?: components["schemas"]["Toelichting"];
            readonly geredigeerdeSequenceNumbers?: readonly number[];
        } & (unknown & unknown & components["schemas"]["ToelichtingBijOverig"] & components["schemas"]["DataPastBijResourceType"]);
        readonly FeedPage: {
            readonly records: readonly components["schemas"]["FeedRecord"][];
            readonly cursor: string;
            readonly head: number;
            readonly hasMore: boolean;
            readonly next: string | null;
        };
        readonly SnapshotPage: {
            readonly records: readonly components["schemas"]["SnapshotRecord"][];
            readonly feedCursor: string;
            readonly cursor: components["schemas"]["CursorOfNull"];
            readonly hasMore: boolean;
            readonly next: components["schemas"]["UrlOfNull"];
        };
        readonly CursorOfNull: string | null;
        readonly UrlOfNull: string | null;
        readonly VergaderingPage: {
            readonly results: readonly components["schemas"]["Vergadering"][];
            readonly cursor: components["schemas"]["CursorOfNull"];
            readonly hasMore: boolean;
            readonly next: components["schemas"]["UrlOfNull"];
        };
        readonly AgendapuntPage: {
            readonly results: readonly components["schemas"]["Agendapunt"][];
            readonly cursor: components["schemas"]["CursorOfNull"];
            readonly hasMore: boolean;
            readonly next: components["schemas"]["UrlOfNull"];
        };
        readonly InformatieObjectPage: {
            readonly results: readonly components["schemas"]["InformatieObject"][];
            readonly cursor: components["schemas"]["CursorOfNull"];
            readonly hasMore: boolean;
            readonly next: components["schemas"]["UrlOfNull"];
        };
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
            readonly organisatiecode: components["schemas"]["Organisatiecode"];
            readonly naam: string;
            readonly laatstBijgewerkt?: components["schemas"]["Moment"];
            readonly herkomst?: string;
            readonly herkomstSoort: "eigen" | "feed" | "leveranciers-api";
        };
        readonly RegisterPage: {
            readonly results: readonly components["schemas"]["RegisterFeed"][];
            readonly cursor: components["schemas"]["CursorOfNull"];
            readonly hasMore: boolean;
            readonly next: components["schemas"]["UrlOfNull"];
        };
        readonly RegisterFeed: {
            readonly serviceUrl: string;
            readonly feedUrl: string;
            readonly snapshotUrl: string;
            readonly streamUrl: string | null;
            readonly rol: components["schemas"]["Rol"];
            readonly organisaties: readonly {
                readonly organisatiecode: components["schemas"]["Organisatiecode"];
                readonly naam: string;
            }[];
            readonly laatstGezien: components["schemas"]["Moment"] | null;
            readonly bereikbaar: boolean;
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
        readonly Webadres: string;
        readonly VerwijzingNaarResource: {
            readonly bronidentificatie: components["schemas"]["Bronidentificatie"];
            readonly organisatiecode?: components["schemas"]["Organisatiecode"];
            readonly url?: components["schemas"]["Webadres"];
        };
        readonly Verwijzingen: readonly components["schemas"]["VerwijzingNaarResource"][];
        readonly Vergadering: {
            readonly bronidentificatie: components["schemas"]["Bronidentificatie"];
            readonly dossiertype: "vergadering";
            readonly organisatie: components["schemas"]["Organisatie"];
            readonly url?: components["schemas"]["Webadres"];
            readonly webpaginalink?: components["schemas"]["Webadres"];
            readonly gewijzigdop?: components["schemas"]["Moment"];
            readonly naam: string;
            readonly aanvang?: components["schemas"]["Moment"];
            readonly einde?: components["schemas"]["Moment"];
            readonly geplandeaanvang?: components["schemas"]["Moment"];
            readonly geplandeeinde?: components["schemas"]["Moment"];
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
        readonly Agendapunt: {
            readonly bronidentificatie: components["schemas"]["Bronidentificatie"];
            readonly dossiertype: "agendapunt";
            readonly organisatie: components["schemas"]["Organisatie"];
            readonly url?: components["schemas"]["Webadres"];
            readonly webpaginalink?: components["schemas"]["Webadres"];
            readonly gewijzigdop?: components["schemas"]["Moment"];
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
            readonly starttijd?: components["schemas"]["Moment"];
            readonly eindtijd?: components["schemas"]["Moment"];
            readonly geplandestarttijd?: components["schemas"]["Moment"];
            readonly geplandeeindtijd?: components["schemas"]["Moment"];
            readonly indicatiehamerstuk?: boolean | null;
            readonly indicatiebehandeld?: boolean | null;
            readonly indicatiebesloten?: boolean | null;
        };
        readonly InformatieObject: {
            readonly bronidentificatie: components["schemas"]["Bronidentificatie"];
            readonly dossiertype: "informatieobject";
            readonly organisatie: components["schemas"]["Organisatie"];
            readonly url?: components["schemas"]["Webadres"];
            readonly webpaginalink: components["schemas"]["Webadres"];
            readonly gewijzigdop?: components["schemas"]["Moment"];
            readonly titel: string;
            readonly wooinformatiecategorie: string;
            readonly datumingediend: string;
            readonly bestandsurl?: components["schemas"]["Webadres"];
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
        readonly Probleem: {
            readonly type: string;
            readonly title: string;
            readonly status: number;
            readonly detail?: string;
            readonly instance: string;
            readonly invalidParams?: readonly {
                readonly name: string;
                readonly reason: string;
            }[];
        };
        readonly ToelichtingBijOverig: unknown;
        readonly DataPastBijResourceType: unknown & unknown & unknown;
        readonly SnapshotRecord: components["schemas"]["FeedRecord"] & {
            readonly op?: "upsert";
        };
        readonly OrganisatieRegel: {
            readonly gemeente?: unknown;
            readonly provincie?: unknown;
            readonly waterschap?: unknown;
            readonly naam?: unknown;
        } & components["schemas"]["Organisatie"];
        readonly VerwijzingRegel: {
            readonly bronidentificatie?: unknown;
            readonly organisatiecode?: unknown;
            readonly url?: unknown;
        } & components["schemas"]["VerwijzingNaarResource"];
        readonly VerwijzingenRegel: readonly components["schemas"]["VerwijzingRegel"][];
        readonly VergaderingRegel: {
            readonly organisatie?: components["schemas"]["OrganisatieRegel"];
            readonly hoofdvergadering?: components["schemas"]["VerwijzingRegel"];
            readonly deelvergaderingen?: components["schemas"]["VerwijzingenRegel"];
            readonly agendapunten?: components["schemas"]["VerwijzingenRegel"];
            readonly georganiseerddoorgremium?: {
                readonly gremiumidentificatie?: unknown;
                readonly gremiumnaam?: unknown;
            };
        } & components["schemas"]["Vergadering"];
        readonly AgendapuntRegel: {
            readonly organisatie?: components["schemas"]["OrganisatieRegel"];
            readonly vergadering?: components["schemas"]["VerwijzingRegel"];
            readonly hoofdagendapunt?: components["schemas"]["VerwijzingRegel"];
            readonly subagendapunten?: components["schemas"]["VerwijzingenRegel"];
        } & components["schemas"]["Agendapunt"];
        readonly InformatieObjectRegel: {
            readonly organisatie?: components["schemas"]["OrganisatieRegel"];
            readonly vergaderingen?: components["schemas"]["VerwijzingenRegel"];
            readonly agendapunten?: components["schemas"]["VerwijzingenRegel"];
            readonly gerelateerdinformatieobject?: {
                readonly rol?: unknown;
                readonly informatieobject?: components["schemas"]["VerwijzingRegel"];
            };
        } & components["schemas"]["InformatieObject"];
        readonly DataPastBijRegel: unknown & unknown & unknown;
        readonly PubliceerRegel: {
            readonly op: "upsert" | "delete" | "redact";
            readonly resourceType: components["schemas"]["ResourceType"];
            readonly data?: Record<string, unknown>;
            readonly resource?: components["schemas"]["ResourceIdentiteit"];
            readonly verwijderreden?: components["schemas"]["Verwijderreden"];
            readonly toelichting?: components["schemas"]["Toelichting"];
        } & (components["schemas"]["ToelichtingBijOverig"] & components["schemas"]["DataPastBijRegel"]);
    };
    responses: never;
    parameters: {
        readonly Cursor: string;
        readonly Limit: number;
        readonly OrganisatiecodeFilter: string;
        readonly ResourceTypeFilter: "Vergadering" | "Agendapunt" | "Informatieobject";
        readonly Organisatiecode: string;
        readonly Bronidentificatie: string;
        readonly IfNoneMatch: string;
        readonly LastEventId: number;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export interface operations {
    readonly getServicedocument: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                readonly "If-None-Match"?: components["parameters"]["IfNoneMatch"];
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
                    readonly "application/json": components["schemas"]["Servicedocument"];
                    readonly "text/html": string;
                };
            };
        };
    };
    readonly getFeed: {
        readonly parameters: {
            readonly query: {
                readonly cursor?: components["parameters"]["Cursor"];
                readonly limit: components["parameters"]["Limit"];
                readonly organisatiecode?: components["parameters"]["OrganisatiecodeFilter"];
                readonly resourceType?: components["parameters"]["ResourceTypeFilter"];
            };
            readonly header?: {
                readonly "If-None-Match"?: components["parameters"]["IfNoneMatch"];
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
                    readonly "application/json": components["schemas"]["FeedPage"];
                };
            };
        };
    };
    readonly getFeedStream: {
        readonly parameters: {
            readonly query?: {
                readonly cursor?: components["parameters"]["Cursor"];
                readonly organisatiecode?: components["parameters"]["OrganisatiecodeFilter"];
                readonly resourceType?: components["parameters"]["ResourceTypeFilter"];
            };
            readonly header?: {
                readonly "Last-Event-ID"?: components["parameters"]["LastEventId"];
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
                    readonly "text/event-stream": string;
                };
            };
        };
    };
    readonly getSnapshot: {
        readonly parameters: {
            readonly query: {
                readonly cursor?: components["parameters"]["Cursor"];
                readonly limit: components["parameters"]["Limit"];
                readonly organisatiecode?: components["parameters"]["OrganisatiecodeFilter"];
                readonly resourceType?: components["parameters"]["ResourceTypeFilter"];
            };
            readonly header?: {
                readonly "If-None-Match"?: components["parameters"]["IfNoneMatch"];
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
                    readonly "application/json": components["schemas"]["SnapshotPage"];
                };
            };
        };
    };
    readonly getVergaderingen: {
        readonly parameters: {
            readonly query: {
                readonly cursor?: components["parameters"]["Cursor"];
                readonly limit: components["parameters"]["Limit"];
            };
            readonly header?: {
                readonly "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            readonly path: {
                readonly organisatiecode: components["parameters"]["Organisatiecode"];
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
                    readonly "application/json": components["schemas"]["VergaderingPage"];
                };
            };
        };
    };
    readonly getVergadering: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                readonly "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            readonly path: {
                readonly organisatiecode: components["parameters"]["Organisatiecode"];
                readonly bronidentificatie: components["parameters"]["Bronidentificatie"];
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
                    readonly "application/json": components["schemas"]["Vergadering"];
                };
            };
        };
    };
    readonly getAgendapunten: {
        readonly parameters: {
            readonly query: {
                readonly cursor?: components["parameters"]["Cursor"];
                readonly limit: components["parameters"]["Limit"];
            };
            readonly header?: {
                readonly "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            readonly path: {
                readonly organisatiecode: components["parameters"]["Organisatiecode"];
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
                    readonly "application/json": components["schemas"]["AgendapuntPage"];
                };
            };
        };
    };
    readonly getAgendapunt: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                readonly "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            readonly path: {
                readonly organisatiecode: components["parameters"]["Organisatiecode"];
                readonly bronidentificatie: components["parameters"]["Bronidentificatie"];
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
                    readonly "application/json": components["schemas"]["Agendapunt"];
                };
            };
        };
    };
    readonly getInformatieobjecten: {
        readonly parameters: {
            readonly query: {
                readonly cursor?: components["parameters"]["Cursor"];
                readonly limit: components["parameters"]["Limit"];
            };
            readonly header?: {
                readonly "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            readonly path: {
                readonly organisatiecode: components["parameters"]["Organisatiecode"];
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
                    readonly "application/json": components["schemas"]["InformatieObjectPage"];
                };
            };
        };
    };
    readonly getInformatieobject: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                readonly "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            readonly path: {
                readonly organisatiecode: components["parameters"]["Organisatiecode"];
                readonly bronidentificatie: components["parameters"]["Bronidentificatie"];
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
                    readonly "application/json": components["schemas"]["InformatieObject"];
                };
            };
        };
    };
    readonly getRegister: {
        readonly parameters: {
            readonly query: {
                readonly cursor?: components["parameters"]["Cursor"];
                readonly limit: components["parameters"]["Limit"];
                readonly organisatiecode?: components["parameters"]["OrganisatiecodeFilter"];
            };
            readonly header?: {
                readonly "If-None-Match"?: components["parameters"]["IfNoneMatch"];
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
                    readonly "application/json": components["schemas"]["RegisterPage"];
                };
            };
        };
    };
}
