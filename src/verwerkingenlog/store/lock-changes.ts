import type { Db } from '../../kernel/database/db.ts';

/**
 * Lets nobody else change these actions and processings until the transaction ends. Everyone who changes an action holds the lock of
 * the action and of its processing; who changes a whole processing holds only the latter. Taken in one order, so never in a circle.
 */
export async function lockChanges(
  db: Db,
  what: { readonly acties?: readonly string[]; readonly verwerkingen?: readonly (string | null)[] },
): Promise<void> {
  const names = [
    ...(what.acties ?? []).map((id) => `actie ${id}`),
    ...(what.verwerkingen ?? []).filter((id) => id !== null).map((id) => `verwerking ${id}`),
  ];
  await db.query(
    `select pg_advisory_xact_lock(hashtextextended('verwerkingenlog ' || naam, 0)) from unnest($1::text[]) as n(naam)`,
    [[...new Set(names)].sort()],
  );
}
