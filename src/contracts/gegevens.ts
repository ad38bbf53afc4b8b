// Generated from openapi/gegevens.yaml by `npm run contract-types`; not to be edited.
// sha256 of the typed part of the contract: ef517568f0df190d016b3d88ea23b8e93ad3d1e541791d462f91aec1e9da1848

export interface components {
    schemas: {
        readonly GegevensRequest: {
            readonly aanleverperiodeStartdatum?: string;
            readonly aanleverperiodeEinddatum?: string;
            readonly aanleverende_organisatie?: string;
            readonly page?: number;
            readonly pageSize?: number;
        };
        readonly GegevensResponse: {
            readonly gegevens: Record<string, unknown>;
            readonly paginering?: components["schemas"]["Paginering"];
        };
        readonly Paginering: {
            readonly pageSize: number;
            readonly currentPage: number;
            readonly totalPages: number;
            readonly totalRecords: number;
        };
    };
}
export interface operations {
    readonly postGegevens: {
        readonly Headers: {
            readonly digest: string;
            readonly "nlgov-adr-payload-sig": string;
            readonly oin?: string;
            readonly verwerkingsactiviteitid?: string;
            readonly verwerkingsactiviteiturl?: string;
            readonly verwerkingid?: string;
            readonly vertrouwelijkheid?: string;
            readonly bewaartermijn?: string;
        };
        readonly Body: components["schemas"]["GegevensRequest"];
        readonly Answer: components["schemas"]["GegevensResponse"];
    };
}
