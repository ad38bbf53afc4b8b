import { choice, integer, list, optionalText, prefix } from './kinds.ts';

/** Settings of area B for lines of the Logboek Dataverwerkingen (LDV). */
export const ldvSettings = {
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
};

/** Limits that are right for everybody. */
export const ldvConstants = {
  /** Most spans in one request of LDV; more get 413. */
  maxSpans: { variable: 'LDV_MAX_SPANS', value: 50_000 },
};
