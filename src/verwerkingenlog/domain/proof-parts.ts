/**
 * What the proof log keeps of a version: parts that are shown or hidden together. Format byte 0x01 fixes these members as they are: another
 * list is another format, for old entries must be recomputed as they were made.
 */
import type { ProofRecord } from '../../kernel/proof-log.ts';
import { type GenummerdObject, type Versie, verwerktObjectId, withOffset } from './verwerkingsactie.ts';

/** Every member of the limited set as it is answered, without the address and the objects. */
export const BASIS = 'basis';
/** What the limited set leaves out. */
export const AANVULLEND = 'aanvullend';
/** What no answer shows. */
export const INTERN = 'intern';

/** The part of an object of a version. */
export function objectPart(actieId: string, number: number): string {
  return `object/${verwerktObjectId(actieId, number)}`;
}

export function proofRecordOf(versie: Versie): ProofRecord {
  const { actieId, objecten } = versie;
  const parts: Record<string, unknown> = {
    [BASIS]: basisOf(versie),
    [AANVULLEND]: { systeem: versie.systeem, gebruiker: versie.gebruiker, gegevensbron: versie.gegevensbron },
    [INTERN]: {
      door: versie.door,
      verzoekId: versie.verzoekId,
      versie: versie.versie,
      vervallen: versie.vervallen,
      ooitVertrouwelijk: versie.ooitVertrouwelijk,
      traceId: versie.traceId,
      spanId: versie.spanId,
      ouderSpanId: versie.ouderSpanId,
      fscTransactieId: versie.fscTransactieId,
      ldv: versie.ldv,
    },
  };
  let last = 0;
  for (const object of objecten) {
    parts[objectPart(actieId, object.nummer)] = objectOf(object, actieId);
    last = Math.max(last, object.nummer);
  }
  return {
    parts,
    padding: { count: objecten.length, nameOf: (place) => objectPart(actieId, last + 1 + place) },
  };
}

function basisOf(versie: Versie): Record<string, unknown> {
  return {
    actieId: versie.actieId,
    tijdstipRegistratie: versie.tijdstipRegistratie,
    actieNaam: versie.actieNaam,
    handelingNaam: versie.handelingNaam,
    verwerkingNaam: versie.verwerkingNaam,
    verwerkingId: versie.verwerkingId,
    verwerkingsactiviteitId: versie.verwerkingsactiviteitId,
    verwerkingsactiviteitUrl: versie.verwerkingsactiviteitUrl,
    vertrouwelijkheid: versie.vertrouwelijkheid,
    bewaartermijn: versie.bewaartermijn,
    uitvoerder: versie.uitvoerder,
    soortAfnemerId: versie.soortAfnemerId,
    afnemerId: versie.afnemerId,
    verwerkingsactiviteitIdAfnemer: versie.verwerkingsactiviteitIdAfnemer,
    verwerkingsactiviteitUrlAfnemer: versie.verwerkingsactiviteitUrlAfnemer,
    verwerkingIdAfnemer: versie.verwerkingIdAfnemer,
    tijdstip: withOffset(versie.tijdstip, versie.tijdstipOffset),
  };
}

function objectOf(object: GenummerdObject, actieId: string): Record<string, unknown> {
  return {
    verwerktObjectId: verwerktObjectId(actieId, object.nummer),
    objecttype: 'persoon',
    soortObjectId: object.soortObjectId,
    objectId: object.objectId,
    betrokkenheid: object.betrokkenheid,
    verwerkteSoortenGegevens: object.soortenGegevens?.map((soortGegeven) => ({ soortGegeven })) ?? null,
  };
}
