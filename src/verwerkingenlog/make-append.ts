import { newActieId } from './domain/actie-id.ts';
import type { IdentityKeys, KeyName } from './domain/identity-keys.ts';
import { type Actie, type Auteur, eersteVersie, type Versie } from './domain/verwerkingsactie.ts';
import type { Append } from './store/append-versies.ts';
import { protect, protectInTurns, type StoredVersie } from './store/stored-versie.ts';

/** An action that somebody asks to keep. */
export interface Asked {
  readonly actie: Actie;
  readonly auteur: Auteur;
  /** When it was asked: the moment of registration. */
  readonly at: Date;
  readonly idempotencyKey: string | undefined;
  /** @see Append.refuseUnknownActivity */
  readonly refuseUnknownActivity: boolean;
}

/** Its first version, and what of that goes to the database. */
export interface Made {
  readonly versie: Versie;
  readonly append: Append;
}

/** Makes a first version: gives the action its identity, and encrypts. */
export function makeAppend(asked: Asked, keys: IdentityKeys): Made {
  const versie = firstOf(asked);
  return madeOf(asked, versie, protect(versie, keys), keys);
}

/** The same for an action about very many persons. */
export async function makeAppendInTurns(asked: Asked, keys: IdentityKeys): Promise<Made> {
  const versie = firstOf(asked);
  return madeOf(asked, versie, await protectInTurns(versie, keys), keys);
}

function firstOf({ actie, at, auteur }: Asked): Versie {
  return eersteVersie(actie, newActieId(at), at, auteur);
}

function madeOf(
  { actie, auteur, idempotencyKey, refuseUnknownActivity }: Asked,
  versie: Versie,
  stored: StoredVersie,
  keys: IdentityKeys,
): Made {
  const idempotency =
    idempotencyKey === undefined ? undefined : idempotencyOf(actie, auteur, idempotencyKey, keys, keys.current);
  return { versie, append: { versie: stored, idempotency, refuseUnknownActivity } };
}

/**
 * What is kept of an idempotency key: only keyed hashes, for the key may say whom the action is about, and the action does.
 * @param name the key that hashes
 */
export function idempotencyOf(
  actie: Actie,
  auteur: Auteur,
  key: string,
  keys: IdentityKeys,
  name: KeyName,
): NonNullable<Append['idempotency']> {
  return {
    key: keys.hashIdempotency(name, `sleutel\n${callersKey(auteur, key)}`),
    content: keys.hashIdempotency(name, `inhoud\n${JSON.stringify(actie)}`),
  };
}

/** A key counts per caller. */
export function callersKey({ door }: Auteur, key: string): string {
  return `${door}\n${key}`;
}
