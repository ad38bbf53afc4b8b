// Generated from openapi/ldv.yaml by `npm run contract-types`; not to be edited.
// sha256 of the contract without its words: dc8eed4b5d460b1b012abed29ba99ec93e3f50ac0382c14ba8c203b577f970d5

export interface components {
    schemas: {
        readonly Protobuf: string;
        readonly ExportTraceServiceRequest: {
            readonly resourceSpans?: readonly components["schemas"]["ResourceSpans"][];
        };
        readonly ResourceSpans: {
            readonly resource?: components["schemas"]["Resource"];
            readonly scopeSpans?: readonly components["schemas"]["ScopeSpans"][];
        };
        readonly Resource: {
            readonly attributes?: components["schemas"]["Attributen"];
        };
        readonly ScopeSpans: {
            readonly spans?: readonly components["schemas"]["Span"][];
        };
        readonly Span: {
            readonly traceId: string;
            readonly spanId: string;
            readonly parentSpanId?: string;
            readonly name?: string;
            readonly startTimeUnixNano: components["schemas"]["Nanoseconden"];
            readonly endTimeUnixNano: components["schemas"]["Nanoseconden"];
            readonly attributes?: components["schemas"]["Attributen"];
            readonly droppedAttributesCount?: number;
            readonly status?: components["schemas"]["SpanStatus"];
        };
        readonly SpanStatus: {
            readonly code?: 0 | 1 | 2;
        };
        readonly Nanoseconden: string;
        readonly Attributen: readonly components["schemas"]["Attribuut"][];
        readonly Attribuut: {
            readonly key: string;
            readonly value?: {
                readonly stringValue?: string;
                readonly boolValue?: boolean;
                readonly intValue?: string;
                readonly doubleValue?: number;
                readonly arrayValue?: Record<string, unknown>;
                readonly kvlistValue?: Record<string, unknown>;
                readonly bytesValue?: string;
            };
        };
        readonly ExportTraceServiceResponse: {
            readonly partialSuccess?: {
                readonly rejectedSpans?: string;
                readonly errorMessage?: string;
            };
        };
        readonly Status: {
            readonly code: number;
            readonly message: string;
        };
    };
    responses: never;
    parameters: {
        readonly ContentEncoding: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export interface operations {
    readonly postTraces: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                readonly "Content-Encoding"?: components["parameters"]["ContentEncoding"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ExportTraceServiceRequest"];
                readonly "application/x-protobuf": components["schemas"]["Protobuf"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ExportTraceServiceResponse"];
                    readonly "application/x-protobuf": components["schemas"]["Protobuf"];
                };
            };
        };
    };
}
