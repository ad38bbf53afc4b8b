// Generated from openapi/ldv.yaml by `npm run contract-types`; not to be edited.
// sha256 of the typed part of the contract: 4218864c776a70c22563e5ed97e834eec55f34689a77ffb5ab2a1e08d796a2a5

export interface components {
    schemas: {
        readonly ExportTraceServiceResponse: {
            readonly partialSuccess?: {
                readonly rejectedSpans?: string;
                readonly errorMessage?: string;
            };
        };
    };
}
export interface operations {
    readonly postTraces: {
        readonly Headers: {
            readonly "content-encoding"?: string;
        };
        readonly Answer: components["schemas"]["ExportTraceServiceResponse"];
    };
}
