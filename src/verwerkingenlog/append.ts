/** Storing first versions of actions: prepared here, and stored in groups that share a transaction. */
import { isDeepStrictEqual } from 'node:util';
import { Counter, Histogram, type Registry } from 'prom-client';
import { Problem } from '../lib/problem.ts';
import type { OneAtATime } from '../lib/scheduling.ts';
import type { TraceContext } from '../lib/trace-context.ts';
import { type ActieLog, type Appender, LARGE_OBJECTS, type LogNeeds } from './actie-log.ts';
import { type Actie, type Auteur, eersteVersie, newActieId, type Versie } from './domain/verwerkingsactie.ts';
import { createGroupCommit } from './group-commit.ts';
import { logFull, verwerkingenlogProblems } from './problems.ts';
import { type Append, type Appended, appendCommitted, isFaultOfValue, withMonths } from './store/append.ts';
import { readIdempotency } from './store/idempotency.ts';
import { readVersie, reveal, sealed } from './store/versions.ts';

/** The first group is large, and few actions arrive while it is committed: a second one would cost a whole statement for those few. */
const GROUPS_IN_FLIGHT = 1;
const MAX_WAITING = 20_000;
/** Processed objects that go to the database together, unless one action has more. */
const GROUP_OBJECTS = 5000;
/** An idempotency key that was used can end its 24 hours before it is read; then it is free. And another key can hash it by then. */
const REPLAY_TRIES = 4;

/** An append that waits for its group. */
interface AppendRequest {
  readonly actie: Actie;
  readonly auteur: Auteur;
  readonly idempotencyKey: string | undefined;
  /** The key that the idempotency key is hashed with. */
  readonly hashing: string;
  readonly trace: TraceContext | undefined;
  /** Of a large one; all others are prepared with the group. */
  readonly prepared?: PreparedAppend;
}

interface PreparedAppend {
  /** The first version, in clear: for its caller, and not for the store. */
  readonly clear: Versie;
  readonly append: Append;
}

/** What storing an append needs. */
type AppenderNeeds = Pick<LogNeeds, 'config' | 'pool' | 'clock' | 'metrics' | 'proof' | 'forward'>;

export function createAppender(
  needs: AppenderNeeds,
  {
    keys,
    requireAllKeys,
    lockHashing,
    distributed,
  }: Pick<ActieLog, 'keys' | 'requireAllKeys' | 'lockHashing' | 'distributed'>,
  large: OneAtATime,
): Appender {
  const { config, pool, clock, metrics, forward } = needs;
  const { groupSize } = config.verwerkingenlog;
  const writer = needs.proof('verwerkingen');
  const count = createCounters(metrics);
  const groupSizes = new Histogram({
    name: 'koppelvlak_verwerkingenlog_group_size',
    help: 'Appends that shared one transaction',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 1024],
    registers: [metrics],
  });

  /** The stored form of an idempotency key: a keyed hash, because the key itself may reveal whom the action is about. */
  const hashedKey = ({ auteur, idempotencyKey: key }: AppendRequest, name: string): string | undefined =>
    key === undefined ? undefined : keys.hashIdempotency(name, `sleutel\n${callersKey(auteur, key)}`);

  /** Gives the action its identity, and encrypts its persons. */
  async function prepare(request: AppendRequest): Promise<PreparedAppend> {
    const now = clock.now();
    const clear = eersteVersie(request.actie, newActieId(now), now, request.auteur);
    const made = await sealed(writer, clear, keys);
    const { hashing, trace } = request;
    return { clear, append: { ...made, idempotencyKey: hashedKey(request, hashing), hashing, trace } };
  }

  const groups = createGroupCommit<AppendRequest, Appended & Pick<PreparedAppend, 'clear'>>({
    commit: async (group) => {
      const prepared = await Promise.all(group.map((request) => request.prepared ?? prepare(request)));
      const appends = prepared.map(({ append }) => append);
      const target = { forward, distributed, knownKeys: keys.names };
      const results = await withMonths(needs, () => appendCommitted(pool, appends, target));
      return prepared.flatMap(({ clear }, i) => {
        const result = results[i];
        return result === undefined ? [] : [{ ...result, clear }];
      });
    },
    size: groupSize,
    inFlight: groupSize === 1 ? config.database.poolSize : GROUPS_IN_FLIGHT,
    maxWaiting: MAX_WAITING,
    // Behind a group that waits as long as a statement may, an append waits for two of them at most.
    maxWaitMs: config.database.statementTimeoutMs,
    key: ({ auteur, idempotencyKey }) =>
      idempotencyKey === undefined ? undefined : callersKey(auteur, idempotencyKey),
    isFaultOfItem: isFaultOfValue,
    full: logFull,
    weight: weightOf,
    maxWeight: GROUP_OBJECTS,
    observe: (size) => groupSizes.observe(size),
  });

  function add(request: AppendRequest): ReturnType<typeof groups.add> {
    if (request.actie.verwerkteObjecten.length <= LARGE_OBJECTS) return groups.add(request);
    return large.run(request.auteur.door, async () => groups.add({ ...request, prepared: await prepare(request) }));
  }

  /** The first version under the idempotency key of a request, by one of these keys of the log. @throws {Problem} 409 for another action */
  async function replay(request: AppendRequest, names: readonly string[]): Promise<Versie | undefined> {
    for (const name of names) {
      const key = hashedKey(request, name);
      const actieId = key === undefined ? undefined : await readIdempotency(pool, key);
      if (actieId === undefined) continue;
      const stored = await readVersie(pool, actieId, 1);
      if (stored === undefined)
        throw new Problem(verwerkingenlogProblems.sleutelGebruikt, {
          detail: 'De actie die onder deze sleutel is vastgelegd, is na haar bewaartermijn verwijderd.',
        });
      const versie = await reveal(stored, keys);
      if (!isDeepStrictEqual(actieIn(versie, request.actie), request.actie))
        throw new Problem(verwerkingenlogProblems.sleutelGebruikt);
      return versie;
    }
    return undefined;
  }

  return {
    count,
    async append(actie, auteur, { idempotencyKey, trace } = {}) {
      for (let tries = 0; tries < REPLAY_TRIES; tries += 1) {
        const { hashing } = keys;
        const request = { actie, auteur, idempotencyKey, hashing, trace: forward === undefined ? undefined : trace };
        // Before a rotation it may have been stored under another key; under that nothing is stored any more.
        const others = keys.names.filter((name) => name !== hashing);
        const before = others.length === 0 ? undefined : await replay(request, others);
        if (before !== undefined) return before;
        const result = await add(request);
        count(result);
        if (result.kept) return result.clear;
        // It may have been used with a key of the log that is not here.
        await requireAllKeys(pool);
        await lockHashing(pool);
        const earlier = await replay(request, [hashing]);
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

/** An action weighs one, and one for each of its processed objects. */
function weightOf({ actie }: AppendRequest): number {
  return 1 + actie.verwerkteObjecten.length;
}

/** The action that a first version was made of, with the members that another one has. */
function actieIn(versie: Versie, { verwerkteObjecten: _, ...fields }: Actie): object {
  const members = Object.entries(versie).filter(([name]) => Object.hasOwn(fields, name));
  return { ...Object.fromEntries(members), verwerkteObjecten: versie.objecten.map(({ nummer, ...object }) => object) };
}

/** An idempotency key belongs to one caller. */
const callersKey = ({ door }: Auteur, key: string): string => `${door}\n${key}`;

function createCounters(metrics: Registry): Appender['count'] {
  const appends = new Counter({
    name: 'koppelvlak_verwerkingenlog_appends_total',
    help: 'Versions that were added to the log',
    registers: [metrics],
  });
  const unknown = new Counter({
    name: 'koppelvlak_verwerkingenlog_unknown_activity_total',
    help: 'Actions that name a processing activity that is not in the register',
    registers: [metrics],
  });
  return ({ kept, unknownActivity }) => {
    if (kept) appends.inc();
    if (unknownActivity) unknown.inc();
  };
}
