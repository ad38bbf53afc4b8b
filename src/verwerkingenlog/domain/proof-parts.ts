/**
 * What the proof log keeps of a version: parts that are shown or hidden together. Format byte 0x01 fixes these members as they are: another
 * list is another format, for old entries must be recomputed as they were made.
 */
import type { ProofRecord } from '../../proof/proof-log.ts';
import { type GenummerdObject, type Versie, verwerktObjectId, withOffset } from './verwerkingsactie.ts';

/** Every member of the limited set as it is answered, without the address and the objects. */
export const BASIS = 'basis';
/** What the limited set leaves out. */
export const AANVULLEND = 'aanvullend';
/** What no answer shows. */
const INTERN = 'intern';

/** The part of an object of a version. */
export function objectPart(actieId: string, number: number): string {
  return `object/${verwerktObjectId(actieId, number)}`;
}

/** Members are in the order of their names, so that nothing needs sorting for the canonical form. */
export function proofRecordOf(versie: Versie): ProofRecord {
  const { actieId, objecten } = versie;
  const last = objecten.reduce((highest, { nummer }) => Math.max(highest, nummer), 0);
  return {
    parts: { [Symbol.iterator]: () => partsOf(versie) },
    padding: { count: objecten.length, nameOf: (place) => objectPart(actieId, last + 1 + place) },
  };
}

/** Yielded one at a time: a version may have tens of thousands of objects. */
function* partsOf(versie: Versie): Generator<readonly [name: string, json: unknown]> {
  const { actieId, objecten } = versie;
  yield [AANVULLEND, { gebruiker: versie.gebruiker, gegevensbron: versie.gegevensbron, systeem: versie.systeem }];
  yield [BASIS, basisOf(versie)];
  yield [INTERN, internOf(versie)];
  for (const object of objecten) yield [objectPart(actieId, object.nummer), objectOf(object, actieId)];
}

function basisOf(versie: Versie): Record<string, unknown> {
  return {
    actieId: versie.actieId,
    actieNaam: versie.actieNaam,
    afnemerId: versie.afnemerId,
    bewaartermijn: versie.bewaartermijn,
    handelingNaam: versie.handelingNaam,
    soortAfnemerId: versie.soortAfnemerId,
    tijdstip: withOffset(versie.tijdstip, versie.tijdstipOffset),
    tijdstipRegistratie: versie.tijdstipRegistratie,
    uitvoerder: versie.uitvoerder,
    vertrouwelijkheid: versie.vertrouwelijkheid,
    verwerkingId: versie.verwerkingId,
    verwerkingIdAfnemer: versie.verwerkingIdAfnemer,
    verwerkingNaam: versie.verwerkingNaam,
    verwerkingsactiviteitId: versie.verwerkingsactiviteitId,
    verwerkingsactiviteitIdAfnemer: versie.verwerkingsactiviteitIdAfnemer,
    verwerkingsactiviteitUrl: versie.verwerkingsactiviteitUrl,
    verwerkingsactiviteitUrlAfnemer: versie.verwerkingsactiviteitUrlAfnemer,
  };
}

function internOf(versie: Versie): Record<string, unknown> {
  return {
    door: versie.door,
    fscTransactieId: versie.fscTransactieId,
    ldv: versie.ldv,
    ooitVertrouwelijk: versie.ooitVertrouwelijk,
    ouderSpanId: versie.ouderSpanId,
    spanId: versie.spanId,
    traceId: versie.traceId,
    versie: versie.versie,
    vervallen: versie.vervallen,
    verzoekId: versie.verzoekId,
  };
}

function objectOf(object: GenummerdObject, actieId: string): Record<string, unknown> {
  return {
    betrokkenheid: object.betrokkenheid,
    objectId: object.objectId,
    objecttype: 'persoon',
    soortObjectId: object.soortObjectId,
    verwerktObjectId: verwerktObjectId(actieId, object.nummer),
    verwerkteSoortenGegevens: object.soortenGegevens?.map((soortGegeven) => ({ soortGegeven })) ?? null,
  };
}
