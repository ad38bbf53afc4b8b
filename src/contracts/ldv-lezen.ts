// Generated from openapi/ldv-lezen.yaml by `npm run contract-types`; not to be edited.
// sha256 of the contract without its words: 151f70c3b0146cda9d3206de751a3048a4589931047ee1b058a1c30cf4d0d7f8

export interface components {
    schemas: {
        readonly Selectoren: {
            readonly traceId?: string;
            readonly processingActivityId?: string;
            readonly dataSubjectId?: string;
            readonly dataSubjectIdType?: string;
            readonly startTime?: string;
            readonly endTime?: string;
            readonly attributes?: Record<string, unknown>;
        };
        readonly Vraag: {
            readonly filter?: components["schemas"]["Filter"];
        } & components["schemas"]["Selectoren"];
        readonly Filter: components["schemas"]["Selectoren"];
        readonly Vragen: {
            readonly context?: Record<string, unknown>;
            readonly requests: readonly components["schemas"]["Vraag"][];
        };
        readonly Antwoord: {
            readonly metadata: components["schemas"]["Metadata"];
            readonly dataProcessingOperations: readonly components["schemas"]["Regel"][];
            readonly truncated?: true;
        };
        readonly Antwoorden: {
            readonly metadata: components["schemas"]["Metadata"];
            readonly results: readonly {
                readonly items: readonly components["schemas"]["Regel"][];
                readonly truncated?: true;
            }[];
        };
        readonly Metadata: {
            readonly logbookId: string;
            readonly organizationName: string;
        };
        readonly Regel: {
            readonly traceId: string;
            readonly spanId: string;
            readonly parentSpanId?: string;
            readonly status: "Unset" | "Ok" | "Error";
            readonly name: string;
            readonly startTime: string;
            readonly endTime: string;
            readonly resource: {
                readonly attributes: Record<string, unknown>;
            };
            readonly attributes: Record<string, unknown>;
        };
        readonly Fout: {
            readonly type: string;
            readonly code: string;
            readonly title: string;
            readonly status: number;
            readonly detail: string;
            readonly instance: string;
            readonly invalidParams?: readonly {
                readonly name: string;
                readonly code: string;
                readonly reason: string;
            }[];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export interface operations {
    readonly postDataProcessingOperations: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["Vraag"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Antwoord"];
                };
            };
        };
    };
    readonly postDataProcessingOperationsBatch: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["Vragen"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Antwoorden"];
                };
            };
        };
    };
}
