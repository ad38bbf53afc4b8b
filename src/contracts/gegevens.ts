// Generated from openapi/gegevens.yaml by `npm run contract-types`; not to be edited.
// sha256 of the contract without its words: 7fd4807e396009b33466f21a75272fffe61fe8a46fcfffa3e54d1924b2b8e57f

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
            readonly gegevens: components["schemas"]["Gegevens"];
            readonly paginering?: components["schemas"]["Paginering"];
        };
        readonly Gegevens: Record<string, unknown>;
        readonly Paginering: {
            readonly pageSize: number;
            readonly currentPage: number;
            readonly totalPages: number;
            readonly totalRecords: number;
        };
        readonly FscErrorCode: "ERROR_CODE_ACCESS_TOKEN_MISSING" | "ERROR_CODE_ACCESS_TOKEN_INVALID" | "ERROR_CODE_ACCESS_TOKEN_EXPIRED" | "ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN" | "ERROR_CODE_SERVICE_NOT_FOUND" | "ERROR_CODE_SERVICE_UNREACHABLE" | "ERROR_CODE_METHOD_UNSUPPORTED";
        readonly FscError: {
            readonly code: components["schemas"]["FscErrorCode"];
            readonly domain: "ERROR_DOMAIN_INWAY" | "ERROR_DOMAIN_OUTWAY";
            readonly message?: string;
            readonly title?: string;
            readonly detail?: string;
            readonly status?: number;
        };
        readonly ProblemDetails: {
            readonly type: string;
            readonly title: string;
            readonly status: number;
            readonly detail?: string;
            readonly instance?: string;
        };
    };
    responses: never;
    parameters: {
        readonly Digest: string;
        readonly PayloadHandtekening: string;
        readonly Oin: string;
        readonly VerwerkingsactiviteitId: string;
        readonly VerwerkingsactiviteitUrl: string;
        readonly VerwerkingId: string;
        readonly Vertrouwelijkheid: string;
        readonly Bewaartermijn: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export interface operations {
    readonly postGegevens: {
        readonly parameters: {
            readonly query?: never;
            readonly header: {
                readonly Digest: components["parameters"]["Digest"];
                readonly "nlgov-adr-payload-sig": components["parameters"]["PayloadHandtekening"];
                readonly OIN?: components["parameters"]["Oin"];
                readonly VerwerkingsactiviteitId?: components["parameters"]["VerwerkingsactiviteitId"];
                readonly VerwerkingsactiviteitUrl?: components["parameters"]["VerwerkingsactiviteitUrl"];
                readonly VerwerkingId?: components["parameters"]["VerwerkingId"];
                readonly Vertrouwelijkheid?: components["parameters"]["Vertrouwelijkheid"];
                readonly Bewaartermijn?: components["parameters"]["Bewaartermijn"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["GegevensRequest"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["GegevensResponse"];
                };
            };
        };
    };
}
