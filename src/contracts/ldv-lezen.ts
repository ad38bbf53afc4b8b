// Generated from openapi/ldv-lezen.yaml by `npm run contract-types`; not to be edited.
// sha256 of the contract without its words: 185ec614c7c2c003c2b53faccfdbb1fed24afec9383b9b0a89b9132bd704f0d0

export interface components {
    schemas: {
        readonly Vraag: {
            readonly traceId?: string;
            readonly processingActivityId?: string;
            readonly dataSubjectId?: string;
            readonly dataSubjectIdType?: string;
            readonly startTime?: string;
            readonly endTime?: string;
            readonly attributes?: components["schemas"]["Attributen"];
            readonly filter?: components["schemas"]["Filter"];
        };
        readonly Filter: {
            readonly traceId?: string;
            readonly processingActivityId?: string;
            readonly dataSubjectId?: string;
            readonly dataSubjectIdType?: string;
            readonly startTime?: string;
            readonly endTime?: string;
            readonly attributes?: components["schemas"]["Attributen"];
        };
        readonly Attributen: Record<string, unknown>;
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
                readonly attributes: components["schemas"]["Attributen"];
            };
            readonly attributes: components["schemas"]["Attributen"];
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
