import type pg from 'pg';
import { pipelinedTransaction } from '../kernel/database/transaction.ts';
import type { Platform } from '../kernel/platform.ts';
import type { ProcessingContext } from '../kernel/processing-headers.ts';
import type { OwnEntry } from '../kernel/processing-log.ts';
import { newActieId } from './domain/actie-id.ts';
import { type Auteur, eersteVersie } from './domain/verwerkingsactie.ts';
import { type LogOfActies, ownActie } from './processing-log.ts';
import { appendVersies } from './store/append-versies.ts';
import { isMissingMonth, MONTHS_AHEAD, makeMonths } from './store/make-months.ts';
import { protect } from './store/stored-versie.ts';

/** What a reading of the log was about, for the entry that it leaves. */
export interface Reading<T> {
  /** May still be under way: nothing waits for it before the entry is sent. */
  readonly result: T | Promise<T>;
  readonly persons: readonly { readonly soortObjectId: string; readonly objectId: string }[];
  /** Whether confidential actions were asked for: then that somebody looked is confidential too. */
  readonly confidential: boolean;
}

export interface Reader {
  readonly context: ProcessingContext;
  readonly auteur: Auteur;
  /** What was asked, as a citizen would understand it. */
  readonly handelingNaam: string;
}

export type ReadInLog = <T>(reader: Reader, read: (db: pg.PoolClient) => Promise<Reading<T>>) => Promise<T>;

/** Reads the log and leaves an entry of that reading, in one transaction: without the entry nothing is answered. */
export function createReadInLog({ pool, pipelinePool, clock, config }: Platform, log: LogOfActies): ReadInLog {
  const { logReads } = config.verwerkingenlog;
  const { fscPeerId } = config.tokens;
  const uitvoerder = fscPeerId !== undefined && /^\d{20}$/.test(fscPeerId) ? fscPeerId : undefined;

  /** The entry goes out behind the questions of the reading, and the commit behind the entry. */
  function once<T>(reader: Reader, read: (db: pg.PoolClient) => Promise<Reading<T>>): Promise<T> {
    return pipelinedTransaction(pipelinePool, async (db) => {
      const reading = await read(db);
      const entry = logReads ? appendEntry(db, reader, reading) : undefined;
      return { result: Promise.all([reading.result, entry]).then(([result]) => result) };
    });
  }

  async function appendEntry(db: pg.PoolClient, reader: Reader, reading: Reading<unknown>): Promise<void> {
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
    const versie = protect(eersteVersie(actie, newActieId(now), now, reader.auteur), log.keys);
    for (const result of await appendVersies(db, [{ versie }], { refuseUnknownActivity: false })) log.count(result);
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
