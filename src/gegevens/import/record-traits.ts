import { createHmac, createSecretKey } from 'node:crypto';
import type { Mapping, PersonenMapping } from '../../lib/exchange-model/mapping.ts';
import { isRecord, valueAt } from '../../lib/json/json-value.ts';
import { dayOfMoment } from '../../lib/time.ts';

/** The stored properties of a record beside its text. */
export interface RecordTraits {
  /** Days since 2000-01-01, as Postgres counts them; `undefined`: not known. */
  readonly begin: number | undefined;
  /** `undefined`: the record is running. */
  readonly einde: number | undefined;
  /** Keyed hash that recognises the same record in another delivery; `undefined`: it cannot be recognised. */
  readonly sleutel: Buffer | undefined;
}

const DAY_MS = 86_400_000;
const POSTGRES_EPOCH = Date.UTC(2000, 0, 1);
/** 128 bits: practically no two records have the same key. */
const KEY_BYTES = 16;

/** @param key of the hash of persons and IDs: without a key, a hashed BSN is guessed within seconds */
export function createTraitsReader({ levering: { record, recordId, zaken } }: Mapping, key: Buffer) {
  const { begin, einde, personen } = record;
  // Given bytes, Node prepares the key again for each record, which costs several times the hash.
  const secret = createSecretKey(key);
  const keyOf = (identity: unknown): Buffer =>
    createHmac('sha256', secret).update(JSON.stringify(identity)).digest().subarray(0, KEY_BYTES);
  return {
    traits(value: unknown): RecordTraits {
      const identity = recordId === undefined ? personen && personsOf(value, personen) : valueAt(value, recordId);
      return {
        begin: begin && dayNumber(valueAt(value, begin)),
        einde: einde && dayNumber(valueAt(value, einde)),
        sleutel: identity === undefined ? undefined : keyOf(identity),
      };
    },
    signals(zaak: unknown): Buffer[] {
      if (zaken === undefined || recordId === undefined) return [];
      const list = valueAt(zaak, zaken.signalen);
      const ids = Array.isArray(list) ? list.map((signal) => valueAt(signal, zaken.signaalId)) : [];
      return [...new Set(ids.filter((id) => typeof id === 'string'))].map(keyOf);
    },
  };
}

/** The identification of each person of a record, in an order independent of the file; `undefined` when one is not identified. */
function personsOf(record: unknown, { lijst, kenmerken }: PersonenMapping): string[] | undefined {
  const list = valueAt(record, lijst);
  const persons = Array.isArray(list) ? list.filter(isRecord) : [];
  const identities = persons.map((person) => personIdentity(person, kenmerken)).filter((each) => each !== undefined);
  return identities.length === 0 || identities.length < persons.length ? undefined : identities.toSorted();
}

/** The identification of a person: the first group of values that are all known. It is personal data, to be hashed under a key. */
export function personIdentity(person: unknown, kenmerken: PersonenMapping['kenmerken']): string | undefined {
  const values = kenmerken
    .map((group) => group.map((path) => valueAt(person, path)))
    .find((group) => group.every(isKnown));
  return values && JSON.stringify(values.map((value) => String(value).trim()));
}

/** `000000000` and the like stand for an unknown number. */
function isKnown(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  const text = value.trim();
  return text !== '' && !/^(.)\1{7,}$/.test(text);
}

/** The day of a date or moment, as Postgres counts it; `undefined` when it is not a date. */
export function dayNumber(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  const [written] = /^\d{4}-\d{2}-\d{2}/.exec(value) ?? [];
  const day = written === value ? written : (dayOfMoment(value)?.day ?? written);
  const moment = day === undefined ? Number.NaN : Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(moment) ? undefined : Math.round((moment - POSTGRES_EPOCH) / DAY_MS);
}
