// Generated from openapi/raadsfeed.yaml by `npm run contract-types`; not to be edited.
// sha256 of the typed part of the contract: ba33a049af87d4ba14b5f0c5019bad90613c51c91733c91b365d39c7183998f9

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
        readonly Verwijderreden: "ingetrokken" | "correctie" | "niet_langer_openbaar" | "persoonsgegevens" | "overig";
    };
}
export interface operations {
    readonly getServicedocument: Record<string, unknown>;
    readonly getFeed: {
        readonly Querystring: {
            readonly cursor?: string;
            readonly limit: number;
            readonly organisatiecode?: string;
            readonly resourceType?: "Vergadering" | "Agendapunt" | "Informatieobject";
        };
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
    };
    readonly getVergaderingen: {
        readonly Params: {
            readonly organisatiecode: string;
        };
        readonly Querystring: {
            readonly cursor?: string;
            readonly limit: number;
        };
    };
    readonly getVergadering: {
        readonly Params: {
            readonly organisatiecode: string;
            readonly bronidentificatie: string;
        };
    };
    readonly getAgendapunten: {
        readonly Params: {
            readonly organisatiecode: string;
        };
        readonly Querystring: {
            readonly cursor?: string;
            readonly limit: number;
        };
    };
    readonly getAgendapunt: {
        readonly Params: {
            readonly organisatiecode: string;
            readonly bronidentificatie: string;
        };
    };
    readonly getInformatieobjecten: {
        readonly Params: {
            readonly organisatiecode: string;
        };
        readonly Querystring: {
            readonly cursor?: string;
            readonly limit: number;
        };
    };
    readonly getInformatieobject: {
        readonly Params: {
            readonly organisatiecode: string;
            readonly bronidentificatie: string;
        };
    };
    readonly getRegister: {
        readonly Querystring: {
            readonly cursor?: string;
            readonly limit: number;
            readonly organisatiecode?: string;
        };
    };
}
