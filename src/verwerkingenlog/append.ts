import pg from 'pg';
import { Histogram } from 'prom-client';
import { isDatabaseUnavailable } from '../kernel/database/database-unavailable.ts';
import { eventLoopBudget } from '../kernel/event-loop.ts';
import type { OneAtATime } from '../kernel/one-at-a-time.ts';
import type { Platform } from '../kernel/platform.ts';
import { Problem } from '../kernel/problem.ts';
import type { IdentityKeys, KeyName } from './domain/identity-keys.ts';
import { type Actie, type Auteur, eersteVersie, newActieId, type Versie } from './domain/verwerkingsactie.ts';
import { createGroupCommit } from './group-commit.ts';
import { type Ahead, createAhead } from './prefetch.ts';
import { logFull, verwerkingenlogProblems } from './problems.ts';
import { type Append, type Appended, appendVersies, readIdempotency } from './store/append.ts';
import { isMissingMonth, MONTHS_AHEAD, makeMonths } from './store/months.ts';
import { protect, protectInTurns, readVersie, revealInTurns, type StoredVersie } from './store/versions.ts';

/** A second one would take few at a time, at the cost of a whole group: the first is large, and while it is committed few more come. */
const GROUPS_IN_FLIGHT = 1;
const MAX_WAITING = 20_000;
/** Processed objects that go to the database together, unless one action has more; and from how many on an action counts as large. */
const GROUP_OBJECTS = 5000;
const LARGE = 100;
/** An action about more persons is made and kept, or changed, one at a time. */
export const LARGE_OBJECTS = 1000;
/** What the database does not take, and what cannot even be written for it. */
const BAD_VALUE = [pg.DatabaseError, TypeError, RangeError];
/** A replayed key can vanish while it is looked at (its 24 hours end); then it is free. */
const REPLAY_TRIES = 3;

interface AppendOptions {
  readonly idempotencyKey?: string | undefined;
  /** An entry of the service itself is kept in any case: else who deletes its activity from the register stops what must be logged. */
  readonly isOwn?: boolean;
}

export interface AppendActie {
  /**
   * Resolves when the action is committed to disk, with its first version; with an idempotency key of the last 24 hours, with the
   * version that it stands for.
   * @throws {Problem} 409, 503, or 400 for an unknown activity when that is refused
   */
  append(actie: Actie, auteur: Auteur, options?: AppendOptions): Promise<Versie>;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

/** Appends first versions in groups that share a transaction. */
export function createAppendActie(
  { config, pool, clock, log, metrics }: Platform,
  keys: IdentityKeys,
  large: OneAtATime,
  appended: (result: Appended) => void,
): AppendActie {
  const { groupSize, unknownActivity } = config.verwerkingenlog;
  const groupSizes = new Histogram({
    name: 'verwerkingenlog_group_size',
    help: 'Appends that shared one transaction',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 1024],
    registers: [metrics],
  });

  async function keep(appends: readonly Append[]): Promise<Appended[]> {
    try {
      return await appendVersies(pool, appends);
    } catch (error) {
      if (!isMissingMonth(error)) throw error;
      log.info('making the partition of a month that was not made ahead');
      for (const month of registrationMonths(appends)) await makeMonths(pool, month, MONTHS_AHEAD);
      return await appendVersies(pool, appends);
    }
  }

  const ahead = createAhead<Asked, Made>((asked) => makeAppend(asked, keys));
  const groups = createGroupCommit<Ahead<Asked, Made>, Made & { readonly result: Appended }>({
    commit: async (group) => {
      const made = await allMade(group);
      const results = await keep(made.map(({ append }) => append));
      return made.flatMap((one, i) => {
        const result = results[i];
        return result === undefined ? [] : [{ ...one, result }];
      });
    },
    size: groupSize,
    inFlight: groupSize === 1 ? config.database.poolSize : GROUPS_IN_FLIGHT,
    maxWaiting: MAX_WAITING,
    key: ({ item: { auteur, idempotencyKey } }) =>
      idempotencyKey === undefined ? undefined : callersKey(auteur, idempotencyKey),
    isFaultOfItem: (error) => !isDatabaseUnavailable(error) && BAD_VALUE.some((kind) => error instanceof kind),
    full: logFull,
    // What is refused is not even encrypted. What is made of a large action is many times as large: that is made when it is its turn.
    taken: (asked) => {
      if (weightOf(asked) <= LARGE) asked.makeSoon();
    },
    weight: weightOf,
    maxWeight: GROUP_OBJECTS,
    observe: (size) => groupSizes.observe(size),
  });

  async function replay({ key, content }: NonNullable<Append['idempotency']>): Promise<Versie | undefined> {
    const known = await readIdempotency(pool, key);
    if (known === undefined) return undefined;
    if (known.content !== content) throw new Problem(verwerkingenlogProblems.sleutelGebruikt);
    const stored = await readVersie(pool, known.actieId, 1);
    if (stored !== undefined) return await revealInTurns(stored, keys);
    throw new Problem(verwerkingenlogProblems.sleutelGebruikt, {
      detail: 'De actie die onder deze sleutel is vastgelegd, is na haar bewaartermijn verwijderd.',
    });
  }

  /** While keys change, an idempotency key may have been kept by an instance that writes with another one. */
  const otherKeys = keys.names.filter((name) => name !== null && name !== keys.current);
  async function replayOfOtherKeys(actie: Actie, auteur: Auteur, idempotencyKey: string): Promise<Versie | undefined> {
    for (const name of otherKeys) {
      const earlier = await replay(idempotencyOf(actie, auteur, idempotencyKey, keys, name));
      if (earlier !== undefined) return earlier;
    }
    return undefined;
  }

  async function add(ask: () => Asked): Promise<Made & { readonly result: Appended }> {
    const asked = ask();
    if (asked.actie.verwerkteObjecten.length <= LARGE_OBJECTS) return await groups.add(ahead(asked));
    return await large.run(asked.auteur.door, async () => {
      const item = ask();
      const made = await makeAppendInTurns(item, keys);
      return await groups.add({ item, makeSoon: () => undefined, made: () => made });
    });
  }

  return {
    async append(actie, auteur, { idempotencyKey, isOwn = false } = {}) {
      const refuseUnknownActivity = unknownActivity === 'refuse' && !isOwn;
      if (idempotencyKey !== undefined && otherKeys.length > 0) {
        const earlier = await replayOfOtherKeys(actie, auteur, idempotencyKey);
        if (earlier !== undefined) return earlier;
      }
      for (let tries = 0; tries < REPLAY_TRIES; tries += 1) {
        const { versie, append, result } = await add(() => ({
          actie,
          auteur,
          at: clock.now(),
          idempotencyKey,
          refuseUnknownActivity,
        }));
        appended(result);
        if (result.kept) return versie;
        if (result.unknownActivity && refuseUnknownActivity) throw unknownActivityProblem();
        const earlier = append.idempotency && (await replay(append.idempotency));
        if (earlier !== undefined) return earlier;
      }
      throw logFull();
    },
    async idle() {
      await large.idle();
      await groups.idle();
    },
  };
}

/** What an action takes to keep grows with its processed objects; itself it counts as one. */
function weightOf({ item }: Ahead<Asked, Made>): number {
  return 1 + item.actie.verwerkteObjecten.length;
}

async function allMade(group: readonly Ahead<Asked, Made>[]): Promise<Made[]> {
  const all: Made[] = [];
  for (const one of group) {
    if (eventLoopBudget.exhausted()) await eventLoopBudget.yield();
    all.push(one.made());
  }
  return all;
}

function registrationMonths(group: readonly Append[]): Date[] {
  const months = new Set(group.map(({ versie }) => versie.tijdstipRegistratie.slice(0, 7)));
  return [...months].map((month) => new Date(`${month}-01T00:00:00Z`));
}

/** The register does not have the activity that an action names. */
export function unknownActivityProblem(): Problem {
  return new Problem(verwerkingenlogProblems.onbekendeVerwerkingsactiviteit, {
    detail: 'verwerkingsactiviteitId: staat niet in het register',
    invalidParams: [{ name: 'verwerkingsactiviteitId', code: 'onbekend', reason: 'staat niet in het register' }],
  });
}

/** An action that somebody asks to keep. */
interface Asked {
  readonly actie: Actie;
  readonly auteur: Auteur;
  /** When it was asked: the moment of registration. */
  readonly at: Date;
  readonly idempotencyKey: string | undefined;
  /** @see Append.refuseUnknownActivity */
  readonly refuseUnknownActivity: boolean;
}

/** Its first version, and what of that goes to the database. */
interface Made {
  readonly versie: Versie;
  readonly append: Append;
}

/** Makes a first version: gives the action its identity, and encrypts. */
function makeAppend(asked: Asked, keys: IdentityKeys): Made {
  const versie = firstOf(asked);
  return madeOf(asked, versie, protect(versie, keys), keys);
}

/** The same for an action about very many persons. */
async function makeAppendInTurns(asked: Asked, keys: IdentityKeys): Promise<Made> {
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
function idempotencyOf(
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
function callersKey({ door }: Auteur, key: string): string {
  return `${door}\n${key}`;
}
