import type { components } from '../../contracts/verwerkingenlog.ts';
import { type GenummerdObject, type Versie, verwerktObjectId, withOffset } from '../domain/verwerkingsactie.ts';

type Answers = components['schemas'];

/** Members of every answer, the objects aside; the limited set leaves out three. */
function fields(
  versie: Versie,
  base: string,
  beperkteSet: boolean,
): Omit<Answers['Verwerkingsactie'], 'verwerkteObjecten'> {
  return {
    url: `${base}/verwerkingsacties/${versie.actieId}`,
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
    ...(beperkteSet ? {} : { systeem: versie.systeem, gebruiker: versie.gebruiker, gegevensbron: versie.gegevensbron }),
    soortAfnemerId: versie.soortAfnemerId,
    afnemerId: versie.afnemerId,
    verwerkingsactiviteitIdAfnemer: versie.verwerkingsactiviteitIdAfnemer,
    verwerkingsactiviteitUrlAfnemer: versie.verwerkingsactiviteitUrlAfnemer,
    verwerkingIdAfnemer: versie.verwerkingIdAfnemer,
    tijdstip: withOffset(versie.tijdstip, versie.tijdstipOffset),
  };
}

/** An action as it is answered. */
export function actieAnswer(versie: Versie, base: string, beperkteSet: boolean): Answers['Verwerkingsactie'] {
  return {
    ...fields(versie, base, beperkteSet),
    verwerkteObjecten: versie.objecten.map((object) => objectFields(object, versie.actieId, base)),
  };
}

function objectFields(object: GenummerdObject, actieId: string, base: string): Answers['VerwerktObject'] {
  const id = verwerktObjectId(actieId, object.nummer);
  return {
    url: `${base}/verwerkte-objecten/${id}`,
    verwerktObjectId: id,
    objecttype: 'persoon',
    soortObjectId: object.soortObjectId,
    objectId: object.objectId,
    betrokkenheid: object.betrokkenheid,
    verwerkteSoortenGegevens: object.soortenGegevens?.map((soortGegeven) => ({ soortGegeven })) ?? null,
  };
}

/** A processed object with its action, limited set, for the person himself. */
export function objectAnswer(
  object: GenummerdObject,
  versie: Versie,
  base: string,
): Answers['VerwerktObjectUitgebreid'] {
  return { ...objectFields(object, versie.actieId, base), verwerkingsactie: fields(versie, base, true) };
}

/** The tag of a version of an action. */
export function etag(versie: number): string {
  return `"${versie}"`;
}

/** The tag of an activity: its versions begin again when it is removed and put back, and an old tag must not fit the new one. */
export function activiteitEtag({
  versie,
  tijdstipRegistratie,
}: {
  versie: number;
  tijdstipRegistratie: string;
}): string {
  return `"${versie}-${Date.parse(tijdstipRegistratie).toString(36)}"`;
}

/** Whether `If-None-Match` names this tag (RFC 9110 section 13.1.2: weak comparison): who asks has it already. */
export function isKnownTag(ifNoneMatch: string | undefined, current: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags: readonly string[] = ifNoneMatch.match(/"[^"]*"/g) ?? [];
  return ifNoneMatch.trim() === '*' || tags.includes(current);
}

/** Whether a condition allows a change of what has this tag (RFC 9110 section 13.1.1: strong comparison). Absent: always. */
export function matches(ifMatch: string | undefined, current: string): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*') return true;
  return ifMatch.split(',').some((tag) => tag.trim() === current);
}
