import type pg from 'pg';
import { pipelinedTransaction } from '../kernel/database/transaction.ts';
import type { Platform } from '../kernel/platform.ts';
import type { ProcessingContext } from '../kernel/processing-headers.ts';
import type { OwnEntry } from '../kernel/processing-log.ts';
import { type Auteur, eersteVersie, newActieId } from './domain/verwerkingsactie.ts';
import { type LogOfActies, ownActie } from './processing-log.ts';
import { appendVersies } from './store/append.ts';
import { isMissingMonth, MONTHS_AHEAD, makeMonths } from './store/months.ts';
import { protectInTurns, type StoredVersie } from './store/versions.ts';

/** What a reading of the log was about, for the entry that it leaves. */
export interface Reading<T> {
  /** May still be under way: nothing waits for it before the entry is sent. */
  readonly result: T | Promise<T>;
  readonly persons: readonly { readonly soortObjectId: string; readonly objectId: string }[];
  /** Whether any of the actions that were read is confidential: then that somebody read it is confidential too. */
  readonly confidential: boolean;
}

export interface Reader {
  readonly context: ProcessingContext;
  readonly auteur: Auteur;
  /** What was asked, as a citizen would understand it. */
  readonly handelingNaam: string;
  /** Fires when nobody waits for the answer any more: then the reading ends, and leaves no entry. */
  readonly gone: AbortSignal;
}

export type ReadInLog = <T>(reader: Reader, read: (db: pg.PoolClient) => Promise<Reading<T>>) => Promise<T>;

/** Reads the log and leaves an entry of that reading, in one transaction: without the entry nothing is answered. */
export function createReadInLog({ pool, pipelinePool, clock, config }: Platform, log: LogOfActies): ReadInLog {
  const { logReads } = config.verwerkingenlog;
  const { fscPeerId } = config.tokens;
  const uitvoerder = fscPeerId !== undefined && /^\d{20}$/.test(fscPeerId) ? fscPeerId : undefined;

  /** The entry goes out behind the questions of the reading, and the commit behind the entry. */
  function once<T>(reader: Reader, read: (db: pg.PoolClient) => Promise<Reading<T>>): Promise<T> {
    const readAndLog = async (db: pg.PoolClient) => {
      const reading = await read(db);
      // Awaited with the rest; until then a failure must not count as unhandled.
      const result = Promise.resolve(reading.result);
      result.catch(() => undefined);
      const entry = logReads ? appendEntry(db, await makeEntry(reader, reading)) : undefined;
      return { result: Promise.all([result, entry]).then(([value]) => value) };
    };
    return pipelinedTransaction(pipelinePool, readAndLog, reader.gone);
  }

  function makeEntry(reader: Reader, reading: Reading<unknown>): Promise<StoredVersie> {
    const now = clock.now();
    const entry: OwnEntry = {
      kind: 'log',
      actieNaam: 'Raadplegen verwerkingenlog',
      handelingNaam: reader.handelingNaam,
      consumer: reader.context,
      confidential: reading.confidential,
      uitvoerder,
      systeem: 'Verwerkingenlog',
      tijdstip: now,
      verwerkteObjecten: reading.persons.map(({ soortObjectId, objectId }) => ({
        soortObjectId,
        objectId,
        soortenGegevens: ['Verwerkingsacties'],
      })),
    };
    const actie = ownActie(entry, config.verwerkingenlog);
    return protectInTurns(eersteVersie(actie, newActieId(now), now, reader.auteur), log.keys);
  }

  async function appendEntry(db: pg.PoolClient, versie: StoredVersie): Promise<void> {
    for (const result of await appendVersies(db, [{ versie, refuseUnknownActivity: false }])) log.count(result);
  }

  return async (reader, read) => {
    try {
      return await once(reader, read);
    } catch (error) {
      if (!isMissingMonth(error)) throw error;
      await makeMonths(pool, clock.now(), MONTHS_AHEAD);
      return await once(reader, read);
    }
  };
}
