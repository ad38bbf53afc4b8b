/** Cases of the processing log: their calls, with every answer checked against the contract. */
import { isRecord, type JsonObject } from '../../src/lib/json/json-value.ts';
import { type CaseRun, Failed, Inconclusive, requireAvailable, writtenChapters } from '../case.ts';
import type { Exchange } from '../exchange.ts';
import { objectsIn } from '../json-members.ts';
import { KIND, type LogSubject, ownActies, personOf, type Scope, wholeActie } from './subject.ts';

interface Call {
  readonly as?: Scope | 'other' | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** A processing log as seen by one case. */
export interface Log {
  readonly subject: LogSubject;
  /** @param path with query, relative to the address of the log */
  call(method: string, path: string, call?: Call): Promise<Exchange>;
  /** The same, but any other status fails the case. */
  expect(status: number, method: string, path: string, call?: Call): Promise<Exchange>;
  /**
   * Stores an action: dependent cases need the action, not the status of the answer.
   * @throws {Failed} when there is none
   */
  stored(method: string, path: string, call?: Call): Promise<Exchange & { readonly json: JsonObject }>;
  /** An identifier that belongs to nobody. */
  person(name: string): string;
  /** An action with every field. */
  whole(person: string, wishes?: JsonObject): JsonObject;
  /**
   * The call that stores an action about a person.
   * @param name of the person, within the case
   */
  storing(name: string, wishes?: JsonObject, as?: Scope): readonly [method: string, path: string, call: Call];
  /**
   * Stores an action of the run, which is deleted at the end.
   * @throws {Inconclusive} when that fails
   */
  store(name: string, wishes?: JsonObject): Promise<JsonObject>;
  /** Stores it once for all cases that name the person. */
  kept(name: string, wishes?: JsonObject): Promise<JsonObject>;
  /**
   * This run's actions in a person's list.
   * @param name of the person, within the case
   * @throws {Failed} when there is no list
   */
  list(name: string, query?: Readonly<Record<string, string>>, as?: Scope): Promise<readonly JsonObject[]>;
  /** The ids in that list. */
  ids(name: string, query?: Readonly<Record<string, string>>, as?: Scope): Promise<readonly unknown[]>;
}

/** All fields of actions that were never confidential. */
export const NORMAL = { beperkteSet: 'false', vertrouwelijkheid: 'normaal' };
/** Every existing action. */
export const EVERY = { beperkteSet: 'false', vertrouwelijkheid__in: 'normaal,vertrouwelijk,opgeheven' };

/** Without an action nothing else can be tested. */
export const logChapter = writtenChapters(openLog, 'B-LOG-13');

export function isActie(status: number, json: unknown): json is JsonObject {
  return status >= 200 && status < 300 && isRecord(json) && typeof json.actieId === 'string';
}

function openLog(subject: LogSubject, { ask }: CaseRun): Log {
  const { base, contract, departures, written, processingHeaders, kept } = subject;

  const log: Log = {
    subject,
    person: (name) => personOf(subject, name),
    whole: (person, wishes) => wholeActie(subject, person, wishes),
    async call(method, path, { as, body, headers } = {}) {
      const at = await ask({
        ...{ to: base + path, method, headers: { ...(method === 'GET' ? processingHeaders : {}), ...headers } },
        ...(as === undefined ? {} : { as }),
        ...(body === undefined ? {} : { body }),
      });
      const [bare = ''] = path.split('?');
      departures.push(...contract.departures(bare, at).map((departure) => ({ ...departure, at })));
      if (method === 'POST' && isActie(at.status, at.json))
        written.set(`${base}${bare}/${String(at.json.actieId)}`, 'delete:confidential');
      if (method === 'PUT' && at.status === 201) written.set(base + bare, 'register:write');
      if (method === 'DELETE' && at.status < 300) written.delete(base + bare);
      return at;
    },
    async expect(status, method, path, call) {
      const at = await log.call(method, path, call);
      if (at.status === status) return at;
      requireAvailable(at);
      throw new Failed(`${method} gets status ${at.status} instead of ${status}`);
    },
    async stored(method, path, call) {
      const at = await log.call(method, path, call);
      const { json } = at;
      if (isActie(at.status, json)) return { ...at, json };
      requireAvailable(at);
      throw new Failed(`${method} gets status ${at.status} and no action`);
    },
    storing(name, wishes, as = 'create:normal') {
      return ['POST', '/verwerkingsacties', { as, body: log.whole(log.person(name), wishes) }];
    },
    async store(name, wishes = {}) {
      const as = wishes.vertrouwelijkheid === 'vertrouwelijk' ? 'create:confidential' : 'create:normal';
      const body = log.whole(log.person(name), wishes);
      const { status, json } = await log.call('POST', '/verwerkingsacties', { as, body });
      if (isActie(status, json)) return { ...body, ...json };
      throw new Inconclusive(`no action could be stored: status ${status}`);
    },
    kept(name, wishes) {
      const made = kept.get(name) ?? log.store(name, wishes);
      kept.set(name, made);
      return made;
    },
    async list(name, query = NORMAL, as = 'read:normal') {
      const { json } = await log.expect(200, 'GET', listPath(log.person(name), query), { as });
      return ownActies(subject, json);
    },
    async ids(name, query, as) {
      return (await log.list(name, query, as)).map(({ actieId }) => actieId);
    },
  };
  return log;
}

/** The list of a person. */
export function listPath(
  person: string,
  query: Readonly<Record<string, string>> = {},
  of = 'verwerkingsacties',
): string {
  return `/${of}?${new URLSearchParams({ objecttype: 'persoon', soortObjectId: KIND, objectId: person, ...query })}`;
}

export function actiePath({ actieId }: JsonObject): string {
  return `/verwerkingsacties/${String(actieId)}`;
}

/** The ids of the actions in a list. */
export function idsIn(json: unknown): readonly unknown[] {
  return objectsIn(json, 'results').map(({ actieId }) => actieId);
}

/** The message about an action's presence in a list. The action is stored first, and then the list is read. */
export function found({ actieId }: JsonObject, ids: readonly unknown[], expected: boolean): string | undefined {
  if (ids.includes(actieId) === expected) return undefined;
  return expected ? 'the action is not in the list' : 'the action is in the list';
}
