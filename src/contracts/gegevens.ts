// Generated from openapi/gegevens.yaml by `npm run contract-types`; not to be edited.
// sha256 of the typed part of the contract: e42dd859e195c1879d5d95fee60e2d51b1dfd9075eef5c981a007f8288373c9c

export interface components {
    schemas: {
        readonly GegevensRequest: {
            readonly aanleverperiodeStartdatum?: string;
            readonly aanleverperiodeEinddatum?: string;
            readonly aanleverende_organisatie?: string;
            readonly page?: number;
            readonly pageSize?: number;
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
    };
}
