import type { Platform } from '../kernel/platform.ts';
import { Problem } from '../kernel/problem.ts';
import { LARGE_OBJECTS, unknownActivityProblem } from './append-actie.ts';
import { TooManyObjectsError } from './domain/change-versie.ts';
import type { Versie } from './domain/verwerkingsactie.ts';
import { verwerkingenlogProblems } from './problems.ts';
import type { LogOfActies } from './processing-log.ts';
import { lockOfActie, lockOfVerwerking } from './store/lock-changes.ts';
import { readCurrent, readStanding } from './store/read-versie.ts';
import { lastObjectNumber, replaceVersie } from './store/replace-versie.ts';
import { protectInTurns, revealInTurns } from './store/stored-versie.ts';

export interface ActieChange {
  readonly actieId: string;
  /** The processing that the action will belong to. */
  readonly verwerkingId: string | null;
  /** How many objects the action will have. */
  readonly objects: number;
  /** Who asks. */
  readonly client: string;
  /** Fires when the client went away. */
  readonly gone: AbortSignal;
  /**
   * Judges the current version and makes the next one; throws to change nothing.
   * @param lastNumber highest number that any version has given to an object
   */
  readonly change: (current: Versie, lastNumber: number) => Versie;
}

/** A change of the processing while its locks were taken is as rare as can be; each try locks what the last one saw. */
const TRIES = 5;

/**
 * Gives an action a new version. Changes of one action, or of its processing, happen one after another.
 * @returns undefined when the action is unknown or deleted
 * @throws {Problem} 400 for an unknown activity (when refused) or too many objects, 503 when too many wait, and what `change` throws
 */
export async function changeActie(
  { config }: Platform,
  log: LogOfActies,
  { actieId, verwerkingId, objects, client, gone, change }: ActieChange,
): Promise<Versie | undefined> {
  const options = { refuseUnknownActivity: config.verwerkingenlog.unknownActivity === 'refuse' };
  for (let tries = 0; tries < TRIES; tries += 1) {
    const seen = await log.changes.read({ client, gone }, (db) => readStanding(db, actieId));
    if (seen === undefined) return undefined;
    const names = [lockOfActie(actieId), ...lockOfVerwerking(seen.verwerkingId), ...lockOfVerwerking(verwerkingId)];
    const isLarge = Math.max(objects, seen.objects) > LARGE_OBJECTS;
    const outcome = await log.changes.run({ names, client, gone, isLarge }, async (db) => {
      const current = await readCurrent(db, actieId);
      if (current === undefined) return {};
      if (current.verwerkingId !== seen.verwerkingId) return { again: true };
      const lastNumber = await lastObjectNumber(db, actieId);
      const next = changed(change, await revealInTurns(current, log.keys), lastNumber);
      const appended = await replaceVersie(db, current, await protectInTurns(next, log.keys), options);
      if (!appended.kept) throw unknownActivityProblem();
      log.count(appended);
      return { next };
    });
    if (outcome.again !== true) return outcome.next;
  }
  throw new Problem(verwerkingenlogProblems.verwerkingBezet, { headers: { 'retry-after': '1' } });
}

function changed(change: ActieChange['change'], current: Versie, lastNumber: number): Versie {
  try {
    return change(current, lastNumber);
  } catch (error) {
    if (!(error instanceof TooManyObjectsError)) throw error;
    throw new Problem(verwerkingenlogProblems.teVeelObjecten, { invalidParams: [TOO_MANY], cause: error });
  }
}

const TOO_MANY = {
  name: 'verwerkteObjecten',
  code: 'maxItems',
  reason: 'mag over alle versies samen hoogstens 65 535 onderdelen hebben',
};
