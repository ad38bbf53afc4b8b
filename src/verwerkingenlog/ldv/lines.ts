/** Storing lines of LDV: a request is one transaction, and requests that arrive together share one. A line is stored once. */
import type { FastifyInstance } from 'fastify';
import { type Db, transaction } from '../../database/transaction.ts';
import { eventLoopBudget } from '../../lib/scheduling.ts';
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
  /** OIN of the organisation, when the token has one. */
  readonly oin: string | undefined;
  readonly mayBeConfidential: boolean;
}

/** A line to be stored, its stored text, and its action. */
export interface NewLine extends LdvLine {
  readonly text: string;
  readonly actie: Actie;
}

/** `conflict`: the client has stored another line under the same ids. */
export type LineOutcome = 'stored' | 'known' | 'conflict';

/** Resolves when all lines are committed to disk, with the outcome of each. @throws {Problem} 503 when too much waits */
export type StoreLines = (lines: readonly NewLine[], sender: LineSender) => Promise<readonly LineOutcome[]>;

/** A line with its stored form. */
interface PreparedLine {
  readonly version: NewVersion;
  readonly key: LineKey;
  /** Its key as hashed with the other log keys: before a rotation it may have been stored under one of those. */
  readonly otherKeys: readonly LineKey[];
}

/** Another log key became the one that hashes new lines since the lines were prepared. */
class HashingChangedError extends Error {}

/**
 * Groups of lines are separate from those of actions: a single action should not wait for a batch of thousands. A second group is prepared while the
 * first is committed.
 */
const GROUPS_IN_FLIGHT = 2;
/** Lines of several requests that share a transaction; one request may have more. */
const GROUP_LINES = 5000;
const MAX_WAITING = 5000;
const STATEMENT_LINES = 5000;

export function createLineStore(app: FastifyInstance): StoreLines {
  const { settings: config, clock, proof, actieLog } = app;
  const pool = app.database.appendPool;
  const { keys, keyWatch } = actieLog;
  const writer = proof('verwerkingen');

  async function prepare(
    line: NewLine,
    hashedWith: string,
    at: Date,
    { auteur, trace }: LineSender,
  ): Promise<PreparedLine> {
    const versie = eersteVersie(line.actie, newActieId(at), at, auteur, line.text);
    const otherNames = keys.names.filter((name) => name !== hashedWith);
    return {
      version: {
        ...(await toStoreWithinBudget(writer, versie, keys)),
        ...(actieLog.forwards ? { trace: trace() } : {}),
      },
      key: lineKeyOf(line, (text) => keys.hashIdempotency(hashedWith, text)),
      otherKeys: otherNames.map((name) => lineKeyOf(line, (text) => keys.hashIdempotency(name, text))),
    };
  }

  async function storeGroup(
    group: readonly { readonly lines: readonly NewLine[]; readonly sender: LineSender }[],
  ): Promise<StoredLines> {
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
          if ((await keyWatch.lockHashing(db)) !== hashedWith) throw new HashingChangedError();
          // A line may have been stored with a log key that is missing here.
          await keyWatch.requireAll(db);
          return await storeLines(db, all, hashedWith === keys.current ? null : hashedWith, actieLog.store);
        }),
      ),
    );
  }

  const groups = createGroupCommit<{ lines: readonly NewLine[]; sender: LineSender }, readonly LineOutcome[]>({
    commit: async (group) => {
      const stored = await storeGroup(group).catch((error: unknown) => {
        if (!(error instanceof HashingChangedError)) throw error;
        return storeGroup(group);
      });
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

interface StoredLines {
  readonly outcomes: readonly LineOutcome[];
  readonly appended: readonly Appended[];
}

/** Stores, in the transaction of `db`, the lines that are not there yet. */
async function storeLines(
  db: Db,
  lines: readonly PreparedLine[],
  hashedWith: string | null,
  store: VersionStore,
): Promise<StoredLines> {
  // Of lines with the same key, the first is the one that may be stored.
  const firsts = new Map<string, PreparedLine>();
  for (const line of lines) if (!firsts.has(line.key.key)) firsts.set(line.key.key, line);
  /** The content that is stored under a key, by any log key. */
  const stored = new Map<string, string>();
  const others = [...firsts.values()].flatMap(({ otherKeys }) => otherKeys.map(({ key }) => key));
  if (others.length > 0) for (const [key, content] of await readLineKeys(db, others)) stored.set(key, content);
  const isElsewhere = ({ otherKeys }: PreparedLine): boolean => otherKeys.some(({ key }) => stored.has(key));

  const wanted = [...firsts.values()].filter((line) => !isElsewhere(line));
  const taken = await takeLineKeys(
    db,
    wanted.map(({ key, version }) => ({ ...key, actieId: version.versie.actieId })),
    hashedWith,
  );
  const missed = wanted.filter(({ key }) => !taken.has(key.key)).map(({ key }) => key.key);
  if (missed.length > 0) for (const [key, content] of await readLineKeys(db, missed)) stored.set(key, content);

  const appended: Appended[] = [];
  const fresh = wanted.filter(({ key }) => taken.has(key.key));
  for (let i = 0; i < fresh.length; i += STATEMENT_LINES) {
    const part = fresh.slice(i, i + STATEMENT_LINES);
    appended.push(
      ...(await store.add(
        db,
        part.map(({ version }) => version),
      )),
    );
  }

  const outcomes = lines.map((line): LineOutcome => {
    const first = firsts.get(line.key.key);
    if (taken.has(line.key.key)) {
      if (first === line) return 'stored';
      return first?.key.content === line.key.content ? 'known' : 'conflict';
    }
    const isSame = [line.key, ...line.otherKeys].some(({ key, content }) => stored.get(key) === content);
    return isSame ? 'known' : 'conflict';
  });
  return { outcomes, appended };
}
