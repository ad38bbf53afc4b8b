import type { ErrorObject } from 'ajv';

type Reason = (value: unknown, error: ErrorObject) => string;

const TYPES: Readonly<Record<string, string>> = {
  string: 'tekst',
  integer: 'een geheel getal',
  number: 'een getal',
  boolean: '`true` of `false`',
  object: 'een object',
  array: 'een lijst',
  null: '`null`',
};

const REASONS: Readonly<Record<string, Reason>> = {
  type: (types) =>
    `moet ${[types]
      .flat()
      .map((type) => TYPES[String(type)] ?? String(type))
      .join(' of ')} zijn`,
  required: () => 'ontbreekt',
  additionalProperties: () => 'is niet bekend',
  unevaluatedProperties: () => 'is niet bekend',
  enum: (values) => `moet een van deze waarden zijn: ${[values].flat().join(', ')}`,
  const: (value) => `moet ${JSON.stringify(value)} zijn`,
  minimum: (limit) => `moet minstens ${limit} zijn`,
  maximum: (limit) => `mag hoogstens ${limit} zijn`,
  exclusiveMinimum: (limit) => `moet groter dan ${limit} zijn`,
  exclusiveMaximum: (limit) => `moet kleiner dan ${limit} zijn`,
  minLength: (limit) => `moet minstens ${limit} teken(s) hebben`,
  maxLength: (limit) => `mag hoogstens ${limit} tekens hebben`,
  minItems: (limit) => `moet minstens ${limit} onderdeel of onderdelen hebben`,
  maxItems: (limit) => `mag hoogstens ${limit} onderdelen hebben`,
  minProperties: (limit) => `moet minstens ${limit} gegeven(s) hebben`,
  maxProperties: (limit) => `mag hoogstens ${limit} gegevens hebben`,
  uniqueItems: () => 'mag geen onderdeel tweemaal hebben',
  pattern: (pattern) => `heeft niet de juiste vorm (${readable(String(pattern))})`,
  format: (format) => `is geen geldige waarde van de soort \`${format}\``,
  dependentRequired: (_value, { params }) => `vraagt ook om ${params.missingProperty}`,
  not: () => 'is hier niet toegestaan',
  false: () => 'is hier niet toegestaan',
  'false schema': () => 'is hier niet toegestaan',
  anyOf: () => 'past bij geen van de toegestane vormen',
  oneOf: () => 'past niet bij precies een van de toegestane vormen',
};

/** A letter that may be a capital too is written once, as the caller would. */
function readable(pattern: string): string {
  return pattern.replace(/\[([A-Z])([a-z])\]/g, (pair, upper: string, lower: string) =>
    upper.toLowerCase() === lower ? lower : pair,
  );
}

/** Says in Dutch what is wrong with a value, from a validator's fault. The value itself is not repeated: it may be personal. */
export function faultReason(error: ErrorObject): string {
  return REASONS[error.keyword]?.(error.schema ?? limitOf(error), error) ?? 'is niet geldig';
}

/** The bound that a fault speaks of; the schema itself is there only with Ajv's `verbose`. */
function limitOf({ params }: ErrorObject): unknown {
  return params.limit ?? params.type ?? params.allowedValues ?? params.allowedValue ?? params.pattern ?? params.format;
}
