import type { Pool } from '../../database/pool.ts';
import { allowLongStatements, type Db, transaction } from '../../database/transaction.ts';
import { type IdentityKeys, reveal, type StoredVersie } from '../domain/encryption.ts';
import type { KeyOfLine } from '../domain/line-key.ts';
import { listMonths } from './months.ts';
import { versionsOfMonth } from './versions.ts';

export interface LogFault {
  readonly fault: string;
  readonly actieId: string;
}

interface VerifyOptions {
  readonly keys: IdentityKeys;
  readonly keyOfLine: KeyOfLine;
  readonly signal: AbortSignal;
  readonly progress?: (versions: number, month: string) => void;
}

const BATCH = 2000;
const [FIRST_ID, LAST_ID] = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];

/**
 * Checks what is stored: versions without gaps, confidentiality that is never forgotten, each person found where the current version says and
 * nowhere else, identifiers that decrypt and have the stored hash.
 */
export async function* verifyLog(
  pool: Pool,
  { keys, keyOfLine, signal, progress }: VerifyOptions,
): AsyncGenerator<LogFault> {
  let seen = 0;
  const months = await listMonths(pool);
  for (const [i, month] of months.entries()) {
    yield* await faultsFrom(pool, VERSION_FAULTS, [month.from, month.to]);
    for await (const versions of versionsOfMonth(pool, month, BATCH)) {
      signal.throwIfAborted();
      for (const versie of versions) {
        const fault = await contentFault(versie, keys, keyOfLine);
        if (fault !== undefined) yield { fault, actieId: versie.actieId };
      }
      seen += versions.length;
      progress?.(seen, month.name);
    }
    // A location outside all months is found with the month after it.
    const from = months[i - 1]?.to ?? FIRST_ID;
    yield* await locationFaults(pool, [from, i === months.length - 1 ? LAST_ID : month.to]);
  }
  yield* await faultsFrom(pool, LINE_KEY_FAULTS, [MAX_FAULTS]);
}

/** In one state of the log, which changes while it is checked. */
function atOnce<T>(pool: Pool, work: (db: Db) => Promise<T>): Promise<T> {
  return transaction(pool, async (client) => work(await allowLongStatements(client, 0)), {
    isolation: 'repeatable read',
    readOnly: true,
  });
}

type Row = Readonly<Record<string, unknown>>;

function faultsFrom(pool: Pool, text: string, values: unknown[]): Promise<LogFault[]> {
  return atOnce(pool, async (db) => (await db.query<LogFault & Row>(text, values)).rows);
}

const VERSION_FAULTS = `
  with v as (
    select actie_id, versie, vertrouwelijkheid, ooit_vertrouwelijk, vervallen, tijdstip, tijdstip_registratie,
      row_number() over w as nummer, lag(ooit_vertrouwelijk) over w as was, lag(vervallen) over w as was_vervallen
    from verwerkingenlog.versies where actie_id >= $1::uuid and actie_id < $2::uuid window w as (partition by actie_id order by versie)
  ), judged as (
    select actie_id as "actieId", case
      when versie <> nummer then 'versions are not numbered from 1 without gaps'
      when was and not ooit_vertrouwelijk then 'was confidential once, but is no longer marked so'
      when was_vervallen then 'has a version after its end'
      when versie = 1 and date_trunc('milliseconds', tijdstip_registratie) <> to_timestamp(
        ('x' || lpad(left(replace(actie_id::text, '-', ''), 12), 16, '0'))::bit(64)::bigint / 1000.0)
        then 'its identity does not match the time of its registration'
    end as fault from v
  )
  select * from judged where fault is not null limit 1000`;

type Range = readonly [from: string, to: string];

/** A location as text, and the locations that the current versions imply. Neither joins, because Citus distributes the tables differently. */
const ACTUAL = `
  select actie_id as "actieId", concat_ws(' ', actie_id, person_hash, tijdstip, versie, category, positions, verwerkingsactiviteit_id) collate "C" as says
  from verwerkingenlog.locations where actie_id >= $1::uuid and actie_id < $2::uuid order by says`;
const EXPECTED = `
  with current as (
    select distinct on (actie_id) actie_id, versie, tijdstip, vervallen, verwerkingsactiviteit_id, objecten,
      verwerkingenlog.category(vertrouwelijkheid, ooit_vertrouwelijk) as category
    from verwerkingenlog.versies where actie_id >= $1::uuid and actie_id < $2::uuid order by actie_id, versie desc
  ), expected as (
    select actie_id, (o.object ->> 'sleutel')::uuid as person_hash, tijdstip, versie, category,
      array_agg((o.number - 1)::integer order by o.number) as positions, verwerkingsactiviteit_id
    from current, json_array_elements(objecten) with ordinality as o(object, number)
    where not vervallen group by 1, 2, 3, 4, 5, 7
  )
  select actie_id as "actieId", concat_ws(' ', actie_id, person_hash, tijdstip, versie, category, positions, verwerkingsactiviteit_id) collate "C" as says
  from expected order by says`;

interface Place {
  readonly actieId: string;
  readonly says: string;
}

/** On several machines a location may be visible before its version: differences are compared once more. */
async function locationFaults(pool: Pool, range: Range): Promise<LogFault[]> {
  const found = await compareLocations(pool, range);
  if (found.length === 0) return found;
  const again = new Set((await compareLocations(pool, range)).map(({ actieId }) => actieId));
  return found.filter(({ actieId }) => again.has(actieId));
}

const MAX_FAULTS = 1000;

async function compareLocations(pool: Pool, range: Range): Promise<LogFault[]> {
  return await atOnce(pool, async (db) => {
    const faults: LogFault[] = [];
    const [expected, actual] = [placesOf(db, 'expected', EXPECTED, range), placesOf(db, 'actual', ACTUAL, range)];
    let [should, is] = [await expected.next(), await actual.next()];
    while (faults.length < MAX_FAULTS && !(should.done === true && is.done === true)) {
      const isMissing = should.done !== true && (is.done === true || should.value.says < is.value.says);
      const isStray = !isMissing && is.done !== true && (should.done === true || should.value.says > is.value.says);
      if (isMissing)
        faults.push({ fault: 'a person is not found, or not as in the version', actieId: should.value.actieId });
      if (isStray) faults.push({ fault: 'a location is not that of a current version', actieId: is.value.actieId });
      if (!isStray) should = await expected.next();
      if (!isMissing) is = await actual.next();
    }
    return faults;
  });
}

const FETCHED = 5000;

async function* placesOf(db: Db, name: string, text: string, [from, to]: Range): AsyncGenerator<Place> {
  await db.query(`declare ${name} no scroll cursor for ${text}`, [from, to]);
  for (;;) {
    const { rows } = await db.query<Place & Row>(`fetch ${FETCHED} from ${name}`);
    if (rows.length === 0) return;
    yield* rows;
  }
}

const LINE_KEY_FAULTS = `
  select actie_id as "actieId", 'the key of a line of LDV leads to no version' as fault from (
    select actie_id from verwerkingenlog.ldv_keys except select actie_id from verwerkingenlog.versies where versie = 1
  ) as stray limit $1::integer`;

async function contentFault(
  stored: StoredVersie,
  keys: IdentityKeys,
  keyOfLine: KeyOfLine,
): Promise<string | undefined> {
  const { keyName, objecten } = stored;
  if (!keys.has(keyName)) return `is encrypted with a key that is not configured: ${keyName}`;
  const versie = await reveal(stored, keys).catch(() => undefined);
  if (versie === undefined) return 'an identifier cannot be decrypted';
  const hashes = versie.objecten.map(({ soortObjectId, objectId }) => keys.hash(keyName, soortObjectId, objectId));
  if (!hashes.every((hash, i) => hash === objecten[i]?.sleutel))
    return 'an identifier does not have the hash that is stored with it';
  try {
    if (versie.ldv !== null) keyOfLine(versie.ldv, () => '');
  } catch {
    return 'its stored line of LDV cannot be read';
  }
  return undefined;
}
