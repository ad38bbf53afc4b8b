/** Checking the log on the stored data. Nothing is joined: on several machines versions are divided by action and locations by person. */
import type pg from 'pg';
import type { Pool } from '../../database/pool.ts';
import type { Db } from '../../database/transaction.ts';
import { categorieNummer, categorieOf } from '../domain/access.ts';
import type { IdentityKeys } from '../domain/identity-keys.ts';
import { readLdvOf } from '../domain/ldv-line.ts';
import { moment, type Versie } from '../domain/verwerkingsactie.ts';
import { listMonths, type Month } from './months.ts';
import { positionsByPerson, protect, readLast, reveal, type StoredVersie, versionsOfMonth } from './versions.ts';

/** One thing in the stored data that should not be. */
export interface LogFault {
  readonly fault: string;
  readonly actieId: string;
}

export interface VerifyOptions {
  readonly keys: IdentityKeys;
  readonly signal: AbortSignal;
  readonly progress?: (versions: number, month: string) => void;
}

const BATCH = 2000;

/**
 * Checks what is stored against every promise of the log: versions without gaps, confidentiality that is never forgotten, each person
 * found where he is and nowhere else, identifiers that decrypt and have the stored hash.
 */
export async function* verifyLog(pool: Pool, options: VerifyOptions): AsyncGenerator<LogFault> {
  let seen = 0;
  const months = await listMonths(pool);
  for (const month of months) {
    yield* versionFaults(pool, month);
    const places = new PlaceReader(pool, month);
    try {
      for await (const versions of versionsOf(pool, month)) {
        options.signal.throwIfAborted();
        for (const versie of versions) {
          const fault = identityFault(versie, options.keys);
          if (fault !== undefined) yield { fault, actieId: versie.actieId };
        }
        for (const [i, versie] of versions.entries()) {
          if (versions[i + 1]?.actieId !== versie.actieId) yield* placeFaults(pool, versie, places);
        }
        seen += versions.length;
        options.progress?.(seen, month.name);
      }
      yield* withoutVersion(pool, await places.rest());
    } finally {
      await places.close();
    }
  }
  yield* outsideMonths(pool, months);
  yield* lineKeyFaults(pool);
}

/** The versions of a month in the order of their identity; all those of an action are in one batch. */
async function* versionsOf(db: Db, month: Month): AsyncGenerator<StoredVersie[]> {
  let held: StoredVersie[] = [];
  for await (const versions of versionsOfMonth(db, month, BATCH)) {
    const last = versions.at(-1)?.actieId;
    const all = [...held, ...versions];
    // The action that the limit may have cut waits for the rest of its versions.
    held = all.filter(({ actieId }) => actieId === last);
    const whole = all.slice(0, all.length - held.length);
    if (whole.length > 0) yield whole;
  }
  if (held.length > 0) yield held;
}

/** A location as the table has it. */
interface Place {
  readonly actieId: string;
  readonly sleutel: string;
  /** Everything that it says, to be compared. */
  readonly says: string;
}

interface PlaceRow {
  readonly actieId: string;
  readonly sleutel: string;
  readonly tijdstip: Date;
  readonly versie: number;
  readonly categorie: number;
  readonly activiteit: string | null;
  readonly positions: string;
}

const SELECT_PLACE = `actie_id as "actieId", sleutel, tijdstip, versie, categorie, verwerkingsactiviteit_id as activiteit, positions::text as positions`;

function placeOf({ actieId, sleutel, ...row }: PlaceRow): Place {
  const says = [sleutel, moment(row.tijdstip), row.versie, row.categorie, row.activiteit, row.positions].join(' ');
  return { actieId, sleutel, says };
}

/** Where the persons of a current version should be found. */
function expectedOf(versie: StoredVersie): Place[] {
  if (versie.vervallen) return [];
  return [...positionsByPerson(versie)].map(([sleutel, positions]) => {
    const { actieId, tijdstip, versie: nummer, verwerkingsactiviteitId: activiteit } = versie;
    const categorie = categorieNummer(categorieOf(versie));
    const says = [sleutel, tijdstip, nummer, categorie, activiteit, `{${positions.join(',')}}`].join(' ');
    return { actieId, sleutel, says };
  });
}

const PLACES = 5000;

/** Walks the locations of a month in the order of their actions, beside their versions. */
class PlaceReader {
  readonly #pool: Pool;
  readonly #month: Month;
  #client: pg.PoolClient | undefined;
  #ahead: Place[] = [];
  #ended = false;

  constructor(pool: Pool, month: Month) {
    this.#pool = pool;
    this.#month = month;
  }

  /** The locations of actions up to this one, that were not read yet. */
  async upTo(actieId: string): Promise<Place[]> {
    const found: Place[] = [];
    for (;;) {
      const end = this.#ahead.findIndex((place) => place.actieId > actieId);
      found.push(...this.#ahead.splice(0, end === -1 ? this.#ahead.length : end));
      if (end !== -1 || this.#ended) return found;
      await this.#read();
    }
  }

  async rest(): Promise<Place[]> {
    return await this.upTo(this.#month.to);
  }

  async #read(): Promise<void> {
    this.#client ??= await this.#open();
    const { rows } = await this.#client.query<PlaceRow>(`fetch ${PLACES} from plaatsen`);
    this.#ahead = rows.map(placeOf);
    this.#ended = rows.length < PLACES;
  }

  async #open(): Promise<pg.PoolClient> {
    const client = await this.#pool.connect();
    try {
      await client.query('begin read only');
      await client.query(
        `declare plaatsen no scroll cursor for select ${SELECT_PLACE} from verwerkingenlog.locations
         where actie_id >= $1::uuid and actie_id < $2::uuid order by actie_id`,
        [this.#month.from, this.#month.to],
      );
      return client;
    } catch (error) {
      client.release(error instanceof Error ? error : true);
      throw error;
    }
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    try {
      await client?.query('rollback');
      client?.release();
    } catch (error) {
      client?.release(error instanceof Error ? error : true);
    }
  }
}

/** Compares the locations of an action with those that its current version should have, both ways. */
async function* placeFaults(db: Db, versie: StoredVersie, places: PlaceReader): AsyncGenerator<LogFault> {
  const { actieId } = versie;
  const upTo = await places.upTo(actieId);
  yield* withoutVersion(
    db,
    upTo.filter((place) => place.actieId !== actieId),
  );
  const own = upTo.filter((place) => place.actieId === actieId);
  if (differences(expectedOf(versie), own).length === 0) return;
  // They were not read at the same moment: an action that was changed in between is read again.
  const last = await readLast(db, actieId);
  const expected = last === undefined ? [] : expectedOf(last);
  const again = await readPlaces(db, actieId, [...expected, ...own]);
  for (const fault of differences(expected, again)) yield { fault, actieId };
}

function differences(expected: readonly Place[], actual: readonly Place[]): string[] {
  const should = new Set(expected.map(({ says }) => says));
  const is = new Set(actual.map(({ says }) => says));
  return [
    ...(expected.every(({ says }) => is.has(says)) ? [] : ['a person is not found, or not as the version says']),
    ...(actual.every(({ says }) => should.has(says)) ? [] : ['a person is found where he is not']),
  ];
}

async function readPlaces(db: Db, actieId: string, of: readonly Place[]): Promise<Place[]> {
  const { rows } = await db.query<PlaceRow>(
    `select ${SELECT_PLACE} from verwerkingenlog.locations where sleutel = any($2::uuid[]) and actie_id = $1::uuid`,
    [actieId, [...new Set(of.map(({ sleutel }) => sleutel))]],
  );
  return rows.map(placeOf);
}

/** Locations of actions that were not there; those that were added or removed in between are no fault. */
async function* withoutVersion(db: Db, places: readonly Place[]): AsyncGenerator<LogFault> {
  for (const [actieId, own] of Map.groupBy(places, (place) => place.actieId)) {
    if ((await readLast(db, actieId)) !== undefined) continue;
    if ((await readPlaces(db, actieId, own)).length > 0) yield { fault: 'a location leads to no version', actieId };
  }
}

async function* outsideMonths(db: Db, months: readonly Month[]): AsyncGenerator<LogFault> {
  const outside = months.map((_, i) => `and not (actie_id >= $${2 * i + 1}::uuid and actie_id < $${2 * i + 2}::uuid)`);
  const { rows } = await db.query<{ actieId: string }>(
    `select actie_id as "actieId" from verwerkingenlog.locations where true ${outside.join(' ')} limit 1000`,
    months.flatMap(({ from, to }) => [from, to]),
  );
  for (const { actieId } of rows) yield { fault: 'a location leads to no version', actieId };
}

async function* lineKeyFaults(db: Db): AsyncGenerator<LogFault> {
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const keys = await db.query<{ actieId: string }>(
      `select actie_id as "actieId" from verwerkingenlog.ldv_keys
       where actie_id > $1::uuid order by actie_id limit $2::integer`,
      [after, PLACES],
    );
    const ids = keys.rows.map(({ actieId }) => actieId);
    const last = ids.at(-1);
    if (last === undefined) return;
    after = last;
    const known = await db.query<{ actieId: string }>(
      'select actie_id as "actieId" from verwerkingenlog.versies where versie = 1 and actie_id = any($1::uuid[])',
      [ids],
    );
    const there = new Set(known.rows.map(({ actieId }) => actieId));
    const missing = ids.filter((id) => !there.has(id));
    // Not those that were removed with their action in between.
    const still = await db.query<{ actieId: string }>(
      'select actie_id as "actieId" from verwerkingenlog.ldv_keys where actie_id = any($1::uuid[])',
      [missing],
    );
    for (const { actieId } of still.rows) yield { fault: 'the key of a line of LDV leads to no version', actieId };
  }
}

async function* versionFaults(db: Db, { from, to }: Month): AsyncGenerator<LogFault> {
  const { rows } = await db.query<LogFault>(
    `with v as (
       select actie_id, versie, vertrouwelijkheid, ooit_vertrouwelijk, vervallen, tijdstip, bewaartermijn, vervalt_op, tijdstip_registratie,
         row_number() over w as nummer, lag(ooit_vertrouwelijk) over w as was, lag(vervallen) over w as was_vervallen
       from verwerkingenlog.versies where actie_id >= $1::uuid and actie_id < $2::uuid window w as (partition by actie_id order by versie)
     )
     select actie_id as "actieId", case
       when versie <> nummer then 'versions are not numbered from 1 without gaps'
       when was and not ooit_vertrouwelijk then 'was confidential once and no longer says so'
       when was_vervallen then 'has a version after its end'
       when vervalt_op <> verwerkingenlog.expires_at(tijdstip, bewaartermijn) then 'its end is not its moment plus its term'
       when versie = 1 and date_trunc('milliseconds', tijdstip_registratie) <> to_timestamp(
         ('x' || lpad(left(replace(actie_id::text, '-', ''), 12), 16, '0'))::bit(64)::bigint / 1000.0)
         then 'its identity is not of the moment of its registration'
       end as fault
     from v where versie <> nummer or (was and not ooit_vertrouwelijk) or was_vervallen
       or vervalt_op <> verwerkingenlog.expires_at(tijdstip, bewaartermijn)
       or (versie = 1 and date_trunc('milliseconds', tijdstip_registratie) <> to_timestamp(
         ('x' || lpad(left(replace(actie_id::text, '-', ''), 12), 16, '0'))::bit(64)::bigint / 1000.0))
     limit 1000`,
    [from, to],
  );
  yield* rows;
}

function identityFault(versie: StoredVersie, keys: IdentityKeys): string | undefined {
  if (!keys.has(versie.keyName)) return `is encrypted with a key that is not configured: ${versie.keyName}`;
  try {
    const read = reveal(versie, keys);
    const again = protect(read, { ...keys, current: versie.keyName });
    if (!isLineReadable(read)) return 'what is kept of its line of LDV cannot be read';
    const same = again.objecten.every(({ sleutel }, i) => sleutel === versie.objecten[i]?.sleutel);
    return same ? undefined : 'an identifier does not have the hash that is stored with it';
  } catch {
    return 'an identifier cannot be decrypted';
  }
}

function isLineReadable(versie: Versie): boolean {
  try {
    readLdvOf(versie);
    return true;
  } catch {
    return false;
  }
}
