import { type Asn1, ia5, identifier, printable, sequence, setOf, utf8 } from './der.ts';

const types = {
  commonName: '2.5.4.3',
  serialNumber: '2.5.4.5',
  country: '2.5.4.6',
  organization: '2.5.4.10',
  organizationalUnit: '2.5.4.11',
  email: '1.2.840.113549.1.9.1',
} as const;

/** Attributes in the order of the name. */
export type Name = readonly (readonly [keyof typeof types, string])[];

export function encodeName(name: Name): Asn1 {
  return sequence(...name.map(([type, text]) => setOf(sequence(identifier(types[type]), encodeValue(type, text)))));
}

function encodeValue(type: keyof typeof types, text: string): Asn1 {
  if (type === 'email') return ia5(text);
  return type === 'country' || type === 'serialNumber' ? printable(text) : utf8(text);
}
