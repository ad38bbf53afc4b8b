// What a change makes of an action: always a version more, never another row. Pure.
import { MAX_OBJECTS } from './actie-id.ts';
import { personText } from './person-text.ts';
import {
  type Actie,
  type Auteur,
  type GenummerdObject,
  moment,
  type Versie,
  type VerwerktObject,
} from './verwerkingsactie.ts';

/** More objects than an identity can number, over all versions of the action. */
export class TooManyObjectsError extends Error {}

/**
 * The version that replaces the current one. Persons who stay keep their number, and so the identity and address of their object.
 * @param lastNumber highest number that any version of the action has given
 * @throws {TooManyObjectsError}
 */
export function replaced(current: Versie, actie: Actie, lastNumber: number, at: Date, auteur: Auteur): Versie {
  const { verwerkteObjecten, ...velden } = actie;
  return {
    ...velden,
    ...auteur,
    actieId: current.actieId,
    versie: current.versie + 1,
    tijdstipRegistratie: moment(at),
    vervallen: false,
    ooitVertrouwelijk: current.ooitVertrouwelijk || actie.vertrouwelijkheid !== 'normaal',
    objecten: renumber(verwerkteObjecten, current.objecten, lastNumber),
  };
}

/** The version that ends the action: it says what the current one says. */
export function ended(current: Versie, at: Date, auteur: Auteur): Versie {
  return { ...current, ...auteur, versie: current.versie + 1, tijdstipRegistratie: moment(at), vervallen: true };
}

function renumber(
  objects: readonly VerwerktObject[],
  known: readonly GenummerdObject[],
  lastNumber: number,
): GenummerdObject[] {
  const free = new Map<string, number[]>();
  for (const object of known) {
    const numbers = free.get(personText(object));
    if (numbers === undefined) free.set(personText(object), [object.nummer]);
    else numbers.push(object.nummer);
  }
  let last = lastNumber;
  return objects.map((object) => {
    const nummer = free.get(personText(object))?.shift() ?? ++last;
    if (nummer > MAX_OBJECTS) throw new TooManyObjectsError();
    return { ...object, nummer };
  });
}
