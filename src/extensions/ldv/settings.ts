import { choice, flag, integer, list, optionalText, prefix, text, url } from '../../settings/kinds.ts';
import type { Config, Fault } from '../../settings/read-config.ts';

declare module '../../settings/read-config.ts' {
  interface SettingGroups {
    readonly ldv: typeof settings.ldv;
    readonly ldvOut: typeof settings.ldvOut;
  }
  interface ConstantGroups {
    readonly ldv: typeof constants.ldv;
    readonly ldvOut: typeof constants.ldvOut;
  }
}

export const settings = {
  /** Lines of the Logboek Dataverwerkingen (LDV) that are taken in. */
  ldv: {
    prefix: prefix('LDV_PREFIX', {
      default: '/ldv/v1',
      description: 'Mount of the intake of LDV. An exporter is given the address without `/v1` as its endpoint.',
    }),
    bodyLimitBytes: integer('LDV_BODY_LIMIT_BYTES', {
      default: 16_777_216,
      min: 1024,
      max: 104_857_600,
      description: 'Largest request of LDV in bytes, after decompression; larger ones get 413.',
    }),
    otherSpans: choice('LDV_OTHER_SPANS', ['refuse', 'ignore'], {
      default: 'refuse',
      description:
        'Spans that name no processing activity; `ignore` is for applications that send all their telemetry here.',
    }),
    keepAttributes: list('LDV_KEEP_ATTRIBUTES', {
      item: /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}(?:\.\*)?$/,
      allowed: 'comma list of names; one that ends in `.*` stands for all that begin so',
      description:
        'Attributes of spans and resources that are kept beside `dpl.*` and `service.*`, encrypted as identifiers are.',
    }),
    plainBsn: choice('LDV_PLAIN_BSN', ['accept', 'refuse'], {
      default: 'accept',
      description: 'Whether a line may name its person by a plain citizen service number.',
    }),
    uitvoerder: optionalText('LDV_UITVOERDER', {
      pattern: /^\d{20}$/,
      allowed: 'an OIN of 20 digits',
      description: '`uitvoerder` of lines whose client has no OIN in its token. Absent: those have none.',
    }),
    unknownActivity: choice('LDV_UNKNOWN_ACTIVITY', ['refuse', 'vertrouwelijk', 'normaal'], {
      default: 'refuse',
      description:
        'What happens to a line whose processing activity is not in this register: refused, or stored with this confidentiality.',
    }),
  },
  /** What is given to others in the form of LDV. */
  ldvOut: {
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
        'Endpoint of another logbook, without `/v1/traces`, that new actions are forwarded to. `https:` in production. Absent: none.',
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
      description: 'Forward confidential actions too. A line of LDV cannot say that it is confidential.',
    }),
    peers: list('LDV_PEERS', {
      item: /^[^\s,]{1,256}$/,
      allowed: 'comma list of token subjects',
      description:
        'Clients that are logbooks which forward lines to this one: what they say about where a line has been is believed.',
    }),
  },
};

/** Limits that are right for everybody. */
export const constants = {
  ldv: {
    /** Most spans in one request of LDV; more get 413. */
    maxSpans: { variable: 'LDV_MAX_SPANS', value: 50_000 },
  },
  ldvOut: {
    /** Most actions in one request to that logbook. */
    forwardBatch: { variable: 'LDV_FORWARD_BATCH', value: 500 },
    /** Time in milliseconds that one request to that logbook may take. Another instance takes over after twice that and two seconds. */
    forwardTimeoutMs: { variable: 'LDV_FORWARD_TIMEOUT_MS', value: 30_000 },
    /** Longest wait in seconds after failures, unless that logbook asks for a longer one. */
    forwardBackoffMaxSeconds: { variable: 'LDV_FORWARD_BACKOFF_MAX_SECONDS', value: 300 },
    /** Readiness warns when an action has waited longer than this, in seconds. */
    forwardLagSeconds: { variable: 'LDV_FORWARD_LAG_SECONDS', value: 900 },
  },
};

export const isServed = ({ server }: Config): boolean => server.areas.includes('verwerkingenlog');
export const mounts = ({ ldv }: Config): string[] => [ldv.prefix];

export function contradictions(config: Config, fault: Fault): void {
  const { server, ldvOut } = config;
  if (ldvOut.forwardTokenUrl !== undefined) {
    for (const [variable, value] of [
      ['LDV_FORWARD_CLIENT_ID', ldvOut.forwardClientId],
      ['LDV_FORWARD_CLIENT_SECRET', ldvOut.forwardClientSecret],
    ] as const) {
      if (value === undefined)
        fault([variable, 'LDV_FORWARD_TOKEN_URL'], 'is missing', 'what the token is asked for with');
    }
    if (ldvOut.forwardToken !== undefined)
      fault(['LDV_FORWARD_TOKEN', 'LDV_FORWARD_TOKEN_URL'], 'stands beside LDV_FORWARD_TOKEN_URL', 'one of the two');
  }
  if (server.environment === 'production') {
    const { forwardUrl, forwardTokenUrl } = ldvOut;
    for (const [variable, value] of Object.entries({
      LDV_FORWARD_URL: forwardUrl,
      LDV_FORWARD_TOKEN_URL: forwardTokenUrl,
    })) {
      if (/^http:/i.test(value ?? ''))
        fault(
          [variable, 'NODE_ENV'],
          'is an address with `http:`',
          'one with `https:` in production: it carries personal data',
        );
    }
  }
  const { tracingEndpoint } = server;
  const ownLdv = server.publicBaseUrl === undefined ? [] : [`${server.publicBaseUrl}${config.ldv.prefix}`];
  const logbooks = [ldvOut.forwardUrl, ...ownLdv.map((address) => address.replace(/\/v1$/, ''))];
  if (tracingEndpoint !== undefined && logbooks.includes(tracingEndpoint)) {
    fault(
      ['TRACING_ENDPOINT', 'LDV_FORWARD_URL', 'PUBLIC_BASE_URL', 'LDV_PREFIX'],
      'is the address of a logbook',
      'a collector for traces; a logbook is for the processing of personal data only',
    );
  }
}
