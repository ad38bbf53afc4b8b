/** Storing lines of LDV: a request is one transaction, and requests that arrive together share one. A line is stored once. */
import type { FastifyInstance } from 'fastify';
import { type Db, transaction } from '../../database/transaction.ts';
import { eventLoopBudget } from '../../lib/scheduling.ts';
import { moment } from '../../lib/time.ts';
import type { TraceContext } from '../../lib/trace-context.ts';
import { createGroupCommit } from '../append.ts';
import { toStoreWithinBudget } from '../domain/encryption.ts';
import type { LineKey } from '../domain/line-key.ts';
import { type Actie, type Auteur, eersteVersie, newActieId } from '../domain/verwerkingsactie.ts';
import { logFull } from '../problems.ts';
import {
  type Appended,
  isFaultOfValue,
  type NewVersion,
  retryConflicts,
  type VersionStore,
  withMonths,
} from '../store/append.ts';
import { lineKeyOf, readLineKeys, takeLineKeys } from './store/line-keys.ts';
import type { LdvLine } from './stored-line.ts';

export interface LineSender {
  /** The owner of the lines: ids are unique for this client only. */
  readonly client: string;
  readonly auteur: Auteur;
  readonly trace: () => TraceContext;
  /** Another logbook, whose account of the route of a line is trusted. */
  readonly isPeer: boolean;
  readonly oin: string | undefined;
  readonly mayBeConfidential: boolean;
}

export interface NewLine extends LdvLine {
  readonly text: string;
  readonly actie: Actie;
}

/** `conflict`: the client has stored another line under the same ids. */
export type LineOutcome = 'stored' | 'known' | 'conflict';

/** Resolves when all lines are committed to disk, with the outcome of each. @throws {Problem} 503 when too much waits */
export type StoreLines = (lines: readonly NewLine[], sender: LineSender) => Promise<readonly LineOutcome[]>;

interface PreparedLine {
  readonly version: NewVersion;
  readonly key: LineKey;
  /** Its key as hashed with the other log keys: before a rotation it may have been stored under one of those. */
  readonly otherKeys: readonly LineKey[];
}

/** Apart from the groups of actions, which should not wait for a batch of thousands. A second group is prepared while the first is committed. */
const GROUPS_IN_FLIGHT = 2;
/** Lines of several requests that share a transaction; one request may have more. */
const GROUP_LINES = 5000;
const MAX_WAITING = 5000;
const STATEMENT_LINES = 5000;

interface Batch {
  readonly lines: readonly NewLine[];
  readonly sender: LineSender;
}

export function createLineStore(app: FastifyInstance): StoreLines {
  const { settings: config, clock, actieLog } = app;
  const pool = app.database.appendPool;
  const { keys, keyWatch } = actieLog;
  const writer = app.proof('verwerkingen');

  async function prepare(line: NewLine, hashedWith: string, at: Date, { auteur, trace }: LineSender) {
    const versie = eersteVersie(line.actie, newActieId(at), moment(at), auteur, line.text);
    const version = await toStoreWithinBudget(writer, versie, keys);
    const keyBy = (name: string): LineKey => lineKeyOf(line, (text) => keys.hashIdempotency(name, text));
    return {
      version: actieLog.forwards ? { ...version, trace: trace() } : version,
      key: keyBy(hashedWith),
      otherKeys: keys.names.filter((name) => name !== hashedWith).map(keyBy),
    };
  }

  /** @returns undefined when another log key became the one that hashes new lines since the lines were prepared */
  async function storeGroup(group: readonly Batch[]) {
    const { hashing: hashedWith } = keys;
    const all: PreparedLine[] = [];
    for (const { lines, sender } of group) {
      const at = clock.now();
      for (const line of lines) {
        if (eventLoopBudget.exhausted()) await eventLoopBudget.yield();
        all.push(await prepare(line, hashedWith, at, sender));
      }
    }
    return await withMonths({ pool, clock }, () =>
      retryConflicts(() =>
        transaction(pool, async (db) => {
          if ((await keyWatch.lockHashing(db)) !== hashedWith) return undefined;
          // A line may have been stored with a log key that is missing here.
          await keyWatch.requireAll(db);
          return await storeLines(db, all, hashedWith === keys.current ? null : hashedWith, actieLog.store);
        }),
      ),
    );
  }

  const groups = createGroupCommit<Batch, readonly LineOutcome[]>({
    commit: async (group) => {
      const stored = (await storeGroup(group)) ?? (await storeGroup(group));
      if (stored === undefined) throw new Error('the log key that hashes lines changed twice');
      for (const result of stored.appended) actieLog.count(result);
      let next = 0;
      return group.map(({ lines }) => lines.map(() => stored.outcomes[next++] ?? 'conflict'));
    },
    size: config.verwerkingenlog.groupSize,
    inFlight: GROUPS_IN_FLIGHT,
    maxWaiting: MAX_WAITING,
    weight: ({ lines }) => lines.length,
    maxWeight: GROUP_LINES,
    maxWaitMs: config.database.statementTimeoutMs,
    isFaultOfItem: isFaultOfValue,
    full: logFull,
  });

  app.addHook('onClose', groups.idle);
  return async (lines, sender) => (lines.length === 0 ? [] : await groups.add({ lines, sender }));
}

async function storeLines(db: Db, lines: readonly PreparedLine[], hashedWith: string | null, store: VersionStore) {
  // Of lines with the same key, the first is the one that may be stored.
  const firsts = new Map<string, PreparedLine>();
  for (const line of lines) if (!firsts.has(line.key.key)) firsts.set(line.key.key, line);
  const stored = new Map<string, string>();
  const readStored = async (keys: readonly string[]): Promise<void> => {
    if (keys.length > 0) for (const [key, content] of await readLineKeys(db, keys)) stored.set(key, content);
  };
  await readStored([...firsts.values()].flatMap(({ otherKeys }) => otherKeys.map(({ key }) => key)));
  const wanted = [...firsts.values()].filter(({ otherKeys }) => !otherKeys.some(({ key }) => stored.has(key)));
  const keysToTake = wanted.map(({ key, version }) => ({ ...key, actieId: version.versie.actieId }));
  const taken = await takeLineKeys(db, keysToTake, hashedWith);
  await readStored(keysToTake.map(({ key }) => key).filter((key) => !taken.has(key)));

  const fresh = wanted.filter(({ key }) => taken.has(key.key)).map(({ version }) => version);
  const appended: Appended[] = [];
  for (let i = 0; i < fresh.length; i += STATEMENT_LINES)
    appended.push(...(await store.add(db, fresh.slice(i, i + STATEMENT_LINES))));

  const outcomes = lines.map((line): LineOutcome => {
    const first = firsts.get(line.key.key);
    const isTaken = taken.has(line.key.key);
    if (isTaken && first === line) return 'stored';
    const isKnown = isTaken
      ? first?.key.content === line.key.content
      : [line.key, ...line.otherKeys].some(({ key, content }) => stored.get(key) === content);
    return isKnown ? 'known' : 'conflict';
  });
  return { outcomes, appended };
}
