import { type Db, withArrays } from '../../kernel/database/transaction.ts';
import { APPEND_MANY, APPEND_ONE, INPUT } from './append-statements.ts';
import { placesByPerson, type StoredVersie } from './stored-versie.ts';

/** A version to be kept, with the idempotency key of its request when it has one. */
export interface Append {
  readonly versie: StoredVersie;
  readonly idempotency?: { readonly key: string; readonly content: string } | undefined;
  /** Whether it is not kept when its activity is not in the register. */
  readonly refuseUnknownActivity: boolean;
}

export interface Appended {
  /** False: its idempotency key was used in the last 24 hours, or its activity is unknown and that is refused. */
  readonly kept: boolean;
  /** It names an activity that is not in the register. */
  readonly unknownActivity: boolean;
}

/**
 * Adds first versions and versions that follow on others, all or none of them, with where their persons stand. No two may have the
 * same idempotency key. One statement: outside a transaction it is committed when this resolves.
 * @returns what became of each, in the order given
 * @throws {DatabaseError} 23514 when a month has no partition yet, 23505 when a version exists
 */
export async function appendVersies(db: Db, appends: readonly Append[]): Promise<Appended[]> {
  const places = appends.flatMap(({ versie }, i) =>
    versie.vervallen
      ? []
      : [...placesByPerson(versie)].map(([key, at]) => ({ row: i + 1, key, at: `{${at.join(',')}}` })),
  );
  return await withArrays(async (arrayOf) => {
    const shared = [arrayOf.uuid(places.map(({ key }) => key)), arrayOf.text(places.map(({ at }) => at))];
    const [lone] = appends;
    const query =
      lone !== undefined && appends.length === 1
        ? { ...APPEND_ONE, values: [...shared, ...INPUT.map(([, , read]) => read(lone))] }
        : {
            ...APPEND_MANY,
            values: [
              ...shared,
              ...INPUT.map(([, kind, read]) => arrayOf[kind](appends.map(read))),
              arrayOf.integer(places.map(({ row }) => row)),
            ],
          };
    const { rows } = await db.query<Appended>(query);
    return rows;
  });
}
