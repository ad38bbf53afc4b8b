/**
 * `koppelvlak/verwerkingenlog`, for applications that process personal data. The client logs actions and makes the six headers for outgoing calls;
 * the Fastify plugin reads and checks them on incoming calls.
 */
export type { ProcessingContext, ProcessingHeader } from '../plugins/processing-headers.ts';
export type { NieuweVerwerkingsactie, Verwerkingsactie, VerwerktObject } from './verwerkingenlog-client.ts';
export {
  type ClientCredentials,
  clientCredentials,
  createVerwerkingenlogClient,
  type LogOptions,
  processingHeaders,
  type TokenWish,
  type VerwerkingenlogClient,
  type VerwerkingenlogClientOptions,
  VerwerkingenlogError,
} from './verwerkingenlog-client.ts';
export {
  ProcessingHeadersError,
  ProcessingNotLoggedError,
  type VerwerkingsheadersOptions,
  verwerkingsheaders,
} from './verwerkingenlog-plugin.ts';
