import { flag, list, optionalText, text, url } from './kinds.ts';

/** Settings of area B for what it gives to others in the form of the Logboek Dataverwerkingen (LDV). */
export const ldvOutSettings = {
  logbookId: optionalText('LDV_LOGBOOK_ID', {
    pattern: /^[\x21-\x2b\x2d-\x7e]{1,200}$/,
    allowed: 'up to 200 characters without spaces and commas',
    description: 'What other logbooks call this one; it must stay the same. Absent: `PUBLIC_BASE_URL`.',
  }),
  organizationName: text('LDV_ORGANIZATION_NAME', {
    default: 'Koppelvlak',
    description: 'Organisation that reading LDV answers with.',
  }),
  read: flag('LDV_READ', {
    default: false,
    description: 'Reading by way of LDV (work version 0.9 of its extension; experimental, names may change).',
  }),
  forwardUrl: url('LDV_FORWARD_URL', {
    schemes: ['https', 'http'],
    description:
      'Endpoint of another logbook, without `/v1/traces`, that new actions are given on to. `https:` in production. Absent: none.',
  }),
  forwardToken: optionalText('LDV_FORWARD_TOKEN', {
    secret: true,
    pattern: /^[\x21-\x7e]+$/,
    allowed: 'a bearer token',
    description: 'Token for that logbook, when it does not come from `LDV_FORWARD_TOKEN_URL`.',
  }),
  forwardTokenUrl: url('LDV_FORWARD_TOKEN_URL', {
    schemes: ['https', 'http'],
    exact: true,
    description: 'Token endpoint for that logbook (client credentials). `https:` in production.',
  }),
  forwardClientId: optionalText('LDV_FORWARD_CLIENT_ID', { description: 'Client at `LDV_FORWARD_TOKEN_URL`.' }),
  forwardClientSecret: optionalText('LDV_FORWARD_CLIENT_SECRET', {
    secret: true,
    description: 'Secret of that client.',
  }),
  forwardScope: text('LDV_FORWARD_SCOPE', {
    default: 'create:normal',
    description: 'Scope that is asked for there; several are separated by spaces.',
  }),
  forwardConfidential: flag('LDV_FORWARD_CONFIDENTIAL', {
    default: false,
    description: 'Give confidential actions on too. A line of LDV cannot say that it is confidential.',
  }),
  peers: list('LDV_PEERS', {
    item: /^[^\s,]{1,256}$/,
    allowed: 'comma list of token subjects',
    description:
      'Clients that are logbooks which give lines on to this one: what they say about the way of a line is believed.',
  }),
};

/** Limits that are right for everybody. */
export const ldvOutConstants = {
  /** Most actions in one request to that logbook. */
  forwardBatch: { variable: 'LDV_FORWARD_BATCH', value: 500 },
  /** Time in milliseconds that one request to that logbook may take. Another instance takes over after twice that and two seconds. */
  forwardTimeoutMs: { variable: 'LDV_FORWARD_TIMEOUT_MS', value: 30_000 },
  /** Longest wait in seconds after failures, unless that logbook asks for a longer one. */
  forwardBackoffMaxSeconds: { variable: 'LDV_FORWARD_BACKOFF_MAX_SECONDS', value: 300 },
  /** Readiness warns when an action has waited longer than this, in seconds. */
  forwardLagSeconds: { variable: 'LDV_FORWARD_LAG_SECONDS', value: 900 },
};
