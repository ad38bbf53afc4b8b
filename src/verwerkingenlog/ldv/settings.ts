import { OIN } from '../../lib/patterns.ts';
import { choice, exactUrl, flag, list, optional, secret, setting, text, url } from '../../settings/kinds.ts';

export const ldvSettings = {
  ldv: {
    keepAttributes: setting(
      'LDV_KEEP_ATTRIBUTES',
      list(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}(?:\.\*)?$/, 'comma list of names; `name.*`: all that begin with it'),
      [],
      'Attributes that are kept, encrypted, beside `dpl.*`, `exception.*`, `service.*` and `nen7513.*`.',
    ),
    plainBsn: setting(
      'LDV_PLAIN_BSN',
      choice('accept', 'refuse'),
      'accept',
      'Lines that name a person by a plain BSN.',
    ),
    uitvoerder: optional(
      'LDV_UITVOERDER',
      text(OIN, 'OIN (20 digits)'),
      '`uitvoerder` of lines whose client has no OIN in its token.',
    ),
    unknownActivity: setting(
      'LDV_UNKNOWN_ACTIVITY',
      choice('refuse', 'vertrouwelijk', 'normaal'),
      'refuse',
      'Lines whose activity is not registered: refused, or stored with this confidentiality.',
    ),

    otherSpans: setting(
      'LDV_OTHER_SPANS',
      choice('refuse', 'ignore'),
      'refuse',
      'Spans without an activity; `ignore` if applications send all telemetry here.',
    ),
  },
  ldvOut: {
    forwardUrl: optional(
      'LDV_FORWARD_URL',
      url('https', 'http'),
      'Logbook that new actions are forwarded to, without `/v1/traces`.',
    ),
    forwardTokenUrl: optional(
      'LDV_FORWARD_TOKEN_URL',
      exactUrl('https', 'http'),
      'Its token endpoint (client credentials). Absent: no token is sent.',
    ),
    forwardClientId: optional('LDV_FORWARD_CLIENT_ID', text(), 'Client there.'),
    forwardClientSecret: secret('LDV_FORWARD_CLIENT_SECRET', text(), 'Its secret.'),
    forwardConfidential: setting(
      'LDV_FORWARD_CONFIDENTIAL',
      flag,
      false,
      'Forward confidential actions too; LDV cannot mark them as such.',
    ),
    peers: setting(
      'LDV_PEERS',
      list(/^[^\s,]{1,256}$/, 'comma list of token subjects'),
      [],
      'Logbooks that forward to this one, with trusted statements of where a line has been.',
    ),
  },
};

/** Settings that no operator has a reason to change, by group; tests override them. */
export const ldvConstants = {
  ldv: {
    /** Mount. Exporters get the address without `/v1` as their endpoint. */
    prefix: '/ldv/v1',
    /** Largest request of LDV in bytes, after decompression; larger ones get 413. */
    bodyLimitBytes: 16_777_216,
    maxSpans: 50_000,
  },
  ldvOut: {
    /** Scope that is requested there: the one for sending lines in every logbook that has scopes. */
    forwardScope: 'create:normal',
    forwardBatch: 500,
    /** Time in milliseconds that one request to that logbook may take. Another instance takes over after twice that and two seconds. */
    forwardTimeoutMs: 30_000,
    /** Longest wait in seconds after failures, unless that logbook asks for a longer one. */
    forwardBackoffMaxSeconds: 300,
    /** Readiness warns when an action has waited longer than this, in seconds. */
    forwardLagSeconds: 900,
  },
};
