import { Validator } from '@seriousme/openapi-schema-validator';

/** Validates a document by the schema of OpenAPI, compiled once per process. It modifies its argument, so pass a copy. */
export const openapiValidator = new Validator();
