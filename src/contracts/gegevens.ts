// Generated from openapi/gegevens.yaml by `npm run contract-types`; not to be edited.
// sha256 of the typed part of the contract: ab2f489e45938bb6fdbb1051c6a078f59c344e1e2121a2845c14afa03af4cf66

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
        };
        readonly Body: components["schemas"]["GegevensRequest"];
        readonly Answer: components["schemas"]["GegevensResponse"];
    };
}
