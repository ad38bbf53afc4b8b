/** `koppelvlak/verwerkingenlog`: the client logs actions and makes the six headers of outgoing calls; the plugin reads those of incoming ones. */
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
