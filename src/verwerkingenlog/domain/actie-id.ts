// Identities that the log gives. @see RFC 9562 section 5.7 (version 7: time-ordered)
import { randomUUID } from 'node:crypto';

/** Most objects that one action can have had over all its versions: what the last group of an identity can count. */
export const MAX_OBJECTS = 0xffff;

/**
 * A new action's identity: milliseconds since 1970, then 58 random bits, then four zeros. It leads to the month in which the action
 * was registered, and the zeros leave room for the identities of its objects.
 */
export function newActieId(at: Date): string {
  const time = at.getTime().toString(16).padStart(12, '0');
  const random = randomUUID();
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15, 23)}-${random.slice(24, 32)}0000`;
}

/** The identity of an action's object; it leads back to the action. `number` counts from 1. */
export function verwerktObjectId(actieId: string, number: number): string {
  return actieId.slice(0, 32) + number.toString(16).padStart(4, '0');
}

/** The action of an object's identity, and the object's number in it. */
export function parseVerwerktObjectId(id: string): { actieId: string; number: number } {
  return { actieId: `${id.slice(0, 32).toLowerCase()}0000`, number: Number.parseInt(id.slice(32), 16) };
}
