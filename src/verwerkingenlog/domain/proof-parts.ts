/** The record of a version in the proof log: parts that are shown or hidden together. `MEMBERS` lists the members in each format. */

import { withOffset } from '../../lib/time.ts';
import type { ProofRecord } from '../../proof/proof-log.ts';
import { type Part, PROOF_FORMAT, provenNames } from './members.ts';
import { objectFields, picker, type Versie, verwerktObjectId } from './verwerkingsactie.ts';

export const BASIS: Part = 'basis';
export const AANVULLEND: Part = 'aanvullend';

export function objectPart(actieId: string, number: number): string {
  return `object/${verwerktObjectId(actieId, number)}`;
}

/** @param format of its entry; a new entry has the newest */
export function proofRecordOf(versie: Versie, format: number = PROOF_FORMAT): ProofRecord {
  const { actieId, objecten } = versie;
  const last = objecten.reduce((highest, { nummer }) => Math.max(highest, nummer), 0);
  return {
    format,
    isOlder: format < PROOF_FORMAT,
    parts: { [Symbol.iterator]: () => partsOf(versie, format) },
    padding: { count: objecten.length, nameOf: (place) => objectPart(actieId, last + 1 + place) },
  };
}

/** Yielded one at a time: a version may have tens of thousands of objects. */
function* partsOf(versie: Versie, format: number): Generator<readonly [name: string, json: unknown]> {
  const shown = { ...versie, tijdstip: withOffset(versie.tijdstip, versie.tijdstipOffset) };
  for (const { part, pick } of proven(format)) yield [part, pick(shown)];
  for (const object of versie.objecten)
    yield [objectPart(versie.actieId, object.nummer), objectFields(object, versie.actieId)];
}

type ProvenPart = { readonly part: Part; readonly pick: (versie: Versie) => object };
const formats = new Map<number, readonly ProvenPart[]>();

function proven(format: number): readonly ProvenPart[] {
  const known = formats.get(format);
  if (known !== undefined) return known;
  const parts = (['aanvullend', 'basis', 'intern'] as const).map((part) => ({
    part,
    pick: picker(provenNames(part, format)),
  }));
  formats.set(format, parts);
  return parts;
}
