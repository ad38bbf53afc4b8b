// What a processing action is. @see API-standaard voor logging van verwerkingen, versie 0.9.0

import type { components } from '../../contracts/verwerkingenlog.ts';

type Invoer = components['schemas']['VerwerkingsactieInvoer'];

/** How confidential an action is now. */
export type Vertrouwelijkheid = components['schemas']['Vertrouwelijkheid'];

/** A person that was processed, as the caller names him. */
export interface VerwerktObject {
  readonly soortObjectId: string;
  readonly objectId: string;
  readonly betrokkenheid: string | null;
  /** `null`: not told. */
  readonly soortenGegevens: readonly string[] | null;
}

/** The fields of an action that say what was done; what is not known is `null`. Moments are UTC texts (RFC 3339). */
export interface ActieVelden
  extends Required<
    Omit<Invoer, 'url' | 'actieId' | 'tijdstipRegistratie' | 'vertrouwelijkheid' | 'verwerkteObjecten'>
  > {
  readonly vertrouwelijkheid: Vertrouwelijkheid;
  /** The offset from UTC that `tijdstip` was given in, as it was written (`+01:00`); `null`: UTC. */
  readonly tijdstipOffset: string | null;
}

/** An action as it is asked to be kept. */
export interface Actie extends ActieVelden {
  readonly verwerkteObjecten: readonly VerwerktObject[];
}

/** Who makes a version: kept with it. */
export interface Auteur {
  /** Subject of the token. */
  readonly door: string;
  readonly verzoekId: string;
}

/** An object as it stands in a version: with the number that its identity ends in. */
export interface GenummerdObject extends VerwerktObject {
  readonly nummer: number;
}

/** One version of an action. */
export interface Versie extends ActieVelden, Auteur {
  readonly actieId: string;
  /** Counts from 1. */
  readonly versie: number;
  readonly tijdstipRegistratie: string;
  /** Whether this version ends the action. */
  readonly vervallen: boolean;
  /** Whether this or an earlier version was confidential or lifted. */
  readonly ooitVertrouwelijk: boolean;
  readonly objecten: readonly GenummerdObject[];
}

/** A moment as answers show it: UTC, without a fraction of zero. @throws {RangeError} for an invalid date */
export function moment(at: Date): string {
  return at.toISOString().replace('.000Z', 'Z');
}

/** The first version of a new action. */
export function eersteVersie(actie: Actie, actieId: string, at: Date, auteur: Auteur): Versie {
  const { verwerkteObjecten, ...velden } = actie;
  return {
    ...velden,
    ...auteur,
    actieId,
    versie: 1,
    tijdstipRegistratie: moment(at),
    vervallen: false,
    ooitVertrouwelijk: actie.vertrouwelijkheid !== 'normaal',
    objecten: verwerkteObjecten.map((object, i) => ({ ...object, nummer: i + 1 })),
  };
}
