import type { InvalidParam } from '../../kernel/problem.ts';
import { momentFaults, termFaults, textFaults } from './actie-faults.ts';
import { offsetOf, toUtc } from './moments.ts';
import type { Actie, Vertrouwelijkheid, VerwerktObject } from './verwerkingsactie.ts';

/** A body as the contract lets it through: read-only members are of any kind. */
export interface ActieBody {
  readonly actieNaam?: string | null;
  readonly handelingNaam?: string | null;
  readonly verwerkingNaam?: string | null;
  readonly verwerkingId?: string | null;
  readonly verwerkingsactiviteitId?: string | null;
  readonly verwerkingsactiviteitUrl?: string | null;
  readonly vertrouwelijkheid: string;
  readonly bewaartermijn?: string | null;
  readonly uitvoerder?: string | null;
  readonly systeem?: string | null;
  readonly gebruiker?: string | null;
  readonly gegevensbron?: string | null;
  readonly soortAfnemerId?: string | null;
  readonly afnemerId?: string | null;
  readonly verwerkingsactiviteitIdAfnemer?: string | null;
  readonly verwerkingsactiviteitUrlAfnemer?: string | null;
  readonly verwerkingIdAfnemer?: string | null;
  readonly tijdstip: string;
  readonly verwerkteObjecten: readonly ObjectBody[];
}

interface ObjectBody {
  readonly soortObjectId: string;
  readonly objectId: string;
  readonly betrokkenheid?: string | null;
  readonly verwerkteSoortenGegevens?: readonly { readonly soortGegeven: string }[] | null;
}

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
