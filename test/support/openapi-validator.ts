import { Validator } from '@seriousme/openapi-schema-validator';

/** Judges a document by the schema of OpenAPI, which is compiled once a process. It changes what it is given: give it a copy. */
export const openapiValidator = new Validator();
