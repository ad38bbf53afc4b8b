/** Cases of the processing log: their calls, with every answer checked against the contract. */
import { isRecord, type JsonObject, valueAt } from '../../src/lib/json/json-value.ts';
import { type CaseRun, Failed, Inconclusive, requireAvailable, writtenChapters } from '../case.ts';
import type { Exchange } from '../exchange.ts';
import { objectsIn } from '../json-members.ts';
import { KIND, type LogSubject, personOf, type Scope, wholeActie } from './subject.ts';

interface Call {
  readonly as?: Scope | 'other' | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | undefined>>;
}
export type LogCall = readonly [method: string, path: string, call?: Call];
type Query = Readonly<Record<string, string>>;

export type Log = ReturnType<typeof openLog>;

/** All fields of actions that were never confidential. */
export const NORMAL = { beperkteSet: 'false', vertrouwelijkheid: 'normaal' };
export const LIMITED = { beperkteSet: 'true', vertrouwelijkheid: 'normaal' };
export const EVERY = { beperkteSet: 'false', vertrouwelijkheid__in: 'normaal,vertrouwelijk,opgeheven' };

/** Without an action nothing else can be tested. */
export const logChapter = writtenChapters(openLog, 'B-LOG-13');

export function isActie(status: number, json: unknown): json is JsonObject {
  return status >= 200 && status < 300 && isRecord(json) && typeof json.actieId === 'string';
}

/** A processing log as seen by one case. Paths have a query, relative to the address of the log; names are those of persons, within the case. */
function openLog(subject: LogSubject, { ask }: CaseRun) {
  const { base, contract, written, processingHeaders, kept } = subject;

  const log = {
    subject,
    /** An identifier that belongs to nobody. */
    person: (name: string): string => personOf(subject, name),
    whole: (name: string, wishes?: JsonObject): JsonObject => wholeActie(subject, name, wishes),
    listPath: (name: string, query: Query = {}, of = '/verwerkingsacties'): string =>
      `${of}?${new URLSearchParams({ objecttype: 'persoon', soortObjectId: KIND, objectId: log.person(name), ...query })}`,
    async call(method: string, path: string, { as, body, headers }: Call = {}): Promise<Exchange> {
      const at = await ask({
        to: base + path,
        method,
        headers: { ...(method === 'GET' && processingHeaders), ...headers },
        as,
        body,
      });
      const [bare = ''] = path.split('?');
      contract.judge(bare, at);
      if (method === 'POST' && isActie(at.status, at.json))
        written.set(`${base}${bare}/${String(at.json.actieId)}`, 'delete:confidential');
      if (method === 'PUT' && at.status === 201) written.set(base + bare, 'register:write');
      if (method === 'DELETE' && at.status < 300) written.delete(base + bare);
      return at;
    },
    /** The same, but any other status fails the case. */
    async expect(status: number, method: string, path: string, call?: Call): Promise<Exchange> {
      const at = await log.call(method, path, call);
      if (at.status === status) return at;
      requireAvailable(at);
      throw new Failed(`${method} gets status ${at.status} instead of ${status}`);
    },
    get: (path: string, as: Scope = 'read:normal', status = 200): Promise<Exchange> =>
      log.expect(status, 'GET', path, { as }),
    /**
     * Stores an action: dependent cases need the action, not the status of the answer.
     * @throws {Failed} when there is none
     */
    async stored(...call: LogCall): Promise<JsonObject> {
      const at = await log.call(...call);
      if (isActie(at.status, at.json)) return at.json;
      requireAvailable(at);
      throw new Failed(`${at.method} gets status ${at.status} and no action`);
    },
    storing: (name: string, wishes?: JsonObject, call?: Call): LogCall => storingCall(log.whole(name, wishes), call),
    /**
     * Stores an action of the run, which is deleted at the end.
     * @throws {Inconclusive} when that fails
     */
    async store(name: string, wishes?: JsonObject): Promise<JsonObject> {
      const body = log.whole(name, wishes);
      const { status, json } = await log.call(...storingCall(body));
      if (isActie(status, json)) return { ...body, ...json };
      throw new Inconclusive(`no action could be stored: status ${status}`);
    },
    /** Stores it once for all cases that name the person. */
    kept(name: string, wishes?: JsonObject): Promise<JsonObject> {
      const made = kept.get(name) ?? log.store(name, wishes);
      kept.set(name, made);
      return made;
    },
    /** The same for a confidential action. */
    secret: (name: string): Promise<JsonObject> => log.kept(name, { vertrouwelijkheid: 'vertrouwelijk' }),
    /**
     * This run's actions in a person's list; reading is logged too, so it may contain others.
     * @throws {Failed} when there is no list
     */
    async list(name: string, query: Query = NORMAL, as?: Scope): Promise<readonly JsonObject[]> {
      const { json } = await log.get(log.listPath(name, query), as);
      return objectsIn(json, 'results').filter((one) => one.verwerkingNaam === `Conformancetest ${subject.run}`);
    },
    /** The ids in that list. */
    async ids(name: string, query?: Query, as?: Scope): Promise<readonly unknown[]> {
      return (await log.list(name, query, as)).map(({ actieId }) => actieId);
    },
  };
  return log;
}

/** The call that stores an action, by default with the scope for its confidentiality. */
export function storingCall(body: JsonObject, call?: Call): LogCall {
  const as = body.vertrouwelijkheid === 'vertrouwelijk' ? 'create:confidential' : 'create:normal';
  return ['POST', '/verwerkingsacties', { as, body, ...call }];
}

export function actiePath({ actieId }: JsonObject): string {
  return `/verwerkingsacties/${String(actieId)}`;
}

/** All actions of an action's processing. */
export function verwerkingPath({ verwerkingId }: JsonObject): string {
  return `/verwerkingsacties?verwerkingId=${String(verwerkingId)}`;
}

/** The ids of the actions in a list. */
export function idsIn(json: unknown): readonly unknown[] {
  return objectsIn(json, 'results').map(({ actieId }) => actieId);
}

/** The names of the members that an answer does not have as given. */
export function differing(given: JsonObject, answer: unknown): readonly string[] {
  return Object.keys(given).filter((name) => JSON.stringify(valueAt(answer, [name])) !== JSON.stringify(given[name]));
}

/** The message about an action's presence in a list. The action is stored first, and then the list is read. */
export function found({ actieId }: JsonObject, ids: readonly unknown[], expected: boolean): string | undefined {
  if (ids.includes(actieId) === expected) return undefined;
  return expected ? 'the action is not in the list' : 'the action is in the list';
}
