/** FSC errors as the interface description has them; our own service's contract is narrower. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describeFaults, readContract } from '../contract.ts';

export const FSC_ERROR = 'FscError (DDAS)';
/** The media type of every error. */
export const PROBLEM = 'application/problem+json';

const isFscError = new Ajv2020().compile({
  type: 'object',
  required: ['code', 'domain'],
  properties: {
    code: { type: 'string', pattern: '^ERROR_CODE_' },
    domain: { enum: ['ERROR_DOMAIN_INWAY', 'ERROR_DOMAIN_OUTWAY'] },
    title: { type: 'string' },
    detail: { type: 'string' },
    status: { type: 'integer' },
  },
});

/** Why a value does not match a schema of the contract, or is not an FSC error; undefined when it is. */
export function faultOf(schema: string, value: unknown): string | undefined {
  if (schema !== FSC_ERROR) return readContract('gegevens.yaml')(schema, value);
  return isFscError(value) ? undefined : describeFaults(isFscError.errors ?? []);
}
