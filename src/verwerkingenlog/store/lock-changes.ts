import type { Db } from '../../kernel/database/transaction.ts';

// Everyone who changes an action holds the lock of the action and of its processing; who changes a whole processing holds only the latter.

/** The lock of an action. */
export function lockOfActie(id: string): string {
  return `actie ${id}`;
}

/** The lock of a processing; none for an action that belongs to no processing. */
export function lockOfVerwerking(id: string | null): string[] {
  return id === null ? [] : [`verwerking ${id}`];
}

/** The lock of an activity in the register. */
export function lockOfActiviteit(id: string): string {
  return `verwerkingsactiviteit ${id}`;
}

/**
 * Takes locks until the transaction ends, when nobody holds any of them: nothing waits on a connection.
 * @returns false when somebody does; then end the transaction, for some may have been taken
 */
export async function tryLockChanges(db: Db, names: readonly string[]): Promise<boolean> {
  const { rows } = await db.query<{ locked: boolean }>(
    `select coalesce(bool_and(pg_try_advisory_xact_lock(hashtextextended('verwerkingenlog ' || naam, 0))), true) as locked
     from unnest($1::text[]) as n(naam)`,
    [[...new Set(names)].sort()],
  );
  return rows[0]?.locked ?? false;
}

/** Lets nobody else change these actions and processings until the transaction ends. Taken in one order, so never in a circle. */
export async function lockChanges(
  db: Db,
  what: { readonly acties?: readonly string[]; readonly verwerkingen?: readonly (string | null)[] },
): Promise<void> {
  const names = [...(what.acties ?? []).map(lockOfActie), ...(what.verwerkingen ?? []).flatMap(lockOfVerwerking)];
  await db.query(
    `select pg_advisory_xact_lock(hashtextextended('verwerkingenlog ' || naam, 0)) from unnest($1::text[]) as n(naam)`,
    [[...new Set(names)].sort()],
  );
}
