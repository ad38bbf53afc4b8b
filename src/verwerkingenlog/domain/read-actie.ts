import type { components } from '../../contracts/verwerkingenlog.ts';
import type { InvalidParam } from '../../kernel/problem.ts';
import { momentFaults, termFaults, textFaults } from './actie-faults.ts';
import { offsetOf, toUtc } from './moments.ts';
import type { Actie, Vertrouwelijkheid, VerwerktObject } from './verwerkingsactie.ts';

/** A body as the contract lets it through: read-only members are of any kind. */
export type ActieBody = components['schemas']['VerwerkingsactieInvoer'];
type ObjectBody = components['schemas']['VerwerktObjectInvoer'];

/** Reads a body that the contract has let through; faults are those that a contract cannot express. */
export function readActie(
  body: ActieBody,
  options: { readonly checkBsn: boolean },
): { actie: Actie; faults: InvalidParam[] } {
  const tijdstip = toUtc(body.tijdstip);
  const actie: Actie = {
    actieNaam: body.actieNaam ?? null,
    handelingNaam: body.handelingNaam ?? null,
    verwerkingNaam: body.verwerkingNaam ?? null,
    verwerkingId: body.verwerkingId?.toLowerCase() ?? null,
    verwerkingsactiviteitId: body.verwerkingsactiviteitId?.toLowerCase() ?? null,
    verwerkingsactiviteitUrl: body.verwerkingsactiviteitUrl ?? null,
    vertrouwelijkheid: readVertrouwelijkheid(body.vertrouwelijkheid),
    bewaartermijn: body.bewaartermijn ?? null,
    uitvoerder: body.uitvoerder ?? null,
    systeem: body.systeem ?? null,
    gebruiker: body.gebruiker ?? null,
    gegevensbron: body.gegevensbron ?? null,
    soortAfnemerId: body.soortAfnemerId ?? null,
    afnemerId: body.afnemerId ?? null,
    verwerkingsactiviteitIdAfnemer: body.verwerkingsactiviteitIdAfnemer?.toLowerCase() ?? null,
    verwerkingsactiviteitUrlAfnemer: body.verwerkingsactiviteitUrlAfnemer ?? null,
    verwerkingIdAfnemer: body.verwerkingIdAfnemer?.toLowerCase() ?? null,
    tijdstip: tijdstip ?? '',
    tijdstipOffset: offsetOf(body.tijdstip),
    verwerkteObjecten: body.verwerkteObjecten.map(readObject),
  };
  const faults = [
    ...textFaults(body, options),
    ...momentFaults(tijdstip),
    ...termFaults(body.bewaartermijn, new Date(tijdstip ?? 0)),
  ];
  return { actie, faults };
}

/** @throws {TypeError} for a word that the contract does not let through */
export function readVertrouwelijkheid(text: string): Vertrouwelijkheid {
  const word = text.toLowerCase();
  if (word === 'normaal' || word === 'vertrouwelijk' || word === 'opgeheven') return word;
  throw new TypeError('not a word for confidentiality');
}

function readObject(object: ObjectBody): VerwerktObject {
  return {
    soortObjectId: object.soortObjectId,
    objectId: object.objectId,
    betrokkenheid: object.betrokkenheid ?? null,
    soortenGegevens: object.verwerkteSoortenGegevens?.map(({ soortGegeven }) => soortGegeven) ?? null,
  };
}
