import { integer } from './kinds.ts';

/** Settings of what only the demo starts. */
export const demoSettings = {
  authPort: integer('DEMO_AUTH_PORT', {
    default: 8081,
    min: 0,
    max: 65535,
    description: 'Port of the demo’s authorization server; 0 takes a free one.',
  }),
  pkiPort: integer('DEMO_PKI_PORT', {
    default: 8082,
    min: 0,
    max: 65535,
    description: 'Port of the demo’s OCSP responder and revocation lists; 0 takes a free one.',
  }),
};
