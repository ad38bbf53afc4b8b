import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { expect } from 'vitest';
import { readValidation } from '../../../../../src/lib/openapi-document.ts';
import type { UpsertLine } from '../../../../../src/raadsfeed/aggregator/supplier/source-adapter.ts';

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormatsModule.default(ajv);
ajv.addSchema(readValidation(new URL('../../../../../openapi/raadsfeed.yaml', import.meta.url)), 'doc:');

const SCHEMAS = { Vergadering: 'Vergadering', Agendapunt: 'Agendapunt', Informatieobject: 'InformatieObject' } as const;

/** Checks a record against the resources of the feed's contract. */
export function expectContract({ resourceType, data }: Pick<UpsertLine, 'resourceType' | 'data'>): void {
  const validate = ajv.getSchema(`doc:#/components/schemas/${SCHEMAS[resourceType]}`);
  if (validate === undefined) throw new Error(`no schema of ${resourceType}`);
  validate(data);
  expect(validate.errors ?? [], `${resourceType} ${data.bronidentificatie}`).toEqual([]);
}
