/** Ways to break a rule of a processing log. */
import { hash } from 'node:crypto';
import type { Answer, Mutation, Request } from '../proxy.ts';
import { isJson, type Json, list } from './breaking.ts';
import type { Mutant } from './mutant.ts';

export type LogMutant = Mutant<Mutation>;
type Is = (request: Request) => boolean;

/** The token for each scope, and one with every scope, for the run with the mutant. */
export const keys: { tokens: Readonly<Record<string, string>>; all: string } = { tokens: {}, all: '' };
/** Answers to POST, by the end of the person's identifier. */
export const stored = new Map<string, Json>();

const endOf = (person: string): string => hash('sha256', person, 'hex').slice(0, 8);

/** Keeps stored actions, for mutants that show them later. */
export function remembering(mutation: Mutation): Mutation {
  stored.clear();
  return {
    ...mutation,
    answer: async (answer, request) => {
      const { json, status } = answer;
      for (const { objectId } of status === 201 ? list(json, 'verwerkteObjecten') : [])
        stored.set(String(objectId).slice(-8), structuredClone(json ?? {}));
      await mutation.answer?.(answer, request);
    },
  };
}

export const storedOf = (person: string): Json => structuredClone(stored.get(endOf(person)) ?? {});

/**
 * A call of an operation.
 * @param person name of the person concerned
 */
export function call(method: string, path: RegExp, person?: string): Is {
  return (request) =>
    request.method === method &&
    path.test(request.path) &&
    (person === undefined || (request.path + request.body.toString()).includes(`-${endOf(person)}`));
}
const LIST = /^\/verwerkingsacties\?/;
const ONE = /^\/verwerkingsacties\/[^/?]+(\?|$)/;
export const post = (person?: string): Is => call('POST', /^\/verwerkingsacties$/, person);
export const query = (person?: string): Is => call('GET', LIST, person);
export const getOne: Is = call('GET', ONE);
export const put = (person?: string): Is => call('PUT', ONE, person);
export const patch: Is = call('PATCH', LIST);
export const remove: Is = call('DELETE', ONE);
export const objects = (person?: string): Is => call('GET', /^\/verwerkte-objecten\?/, person);
export const activity = (method: string): Is => call(method, /^\/verwerkingsactiviteiten\//);

export const both =
  (...all: readonly Is[]): Is =>
  (request) =>
    all.every((is) => is(request));
export const by =
  (...scopes: readonly string[]): Is =>
  ({ headers }) =>
    scopes.some((scope) => headers.authorization === `Bearer ${keys.tokens[scope]}`);
export const asks =
  (name: string, value?: string): Is =>
  ({ query: asked }) =>
    value === undefined ? !asked.has(name) : asked.get(name) === value;
/** The members of the body. */
export const sends =
  (test: (body: Json) => boolean): Is =>
  ({ body }) => {
    if (body.length === 0 || body[0] !== 123) return false;
    try {
      const json: unknown = JSON.parse(body.toString());
      return isJson(json) && test(json);
    } catch {
      return false;
    }
  };

/** Forwards it with every right. */
export const allowing = (is: Is): Mutation => ({
  forward: (request) => (is(request) ? { headers: { authorization: `Bearer ${keys.all}` } } : undefined),
});
/** Forwards it with other parameters and every right; undefined removes one. */
export const asking = (is: Is, parameters: Readonly<Record<string, string | undefined>>): Mutation => ({
  forward: (request) => {
    if (!is(request)) return undefined;
    const asked = new URLSearchParams(request.query);
    for (const [name, value] of Object.entries(parameters)) {
      asked.delete(name);
      if (value !== undefined) asked.set(name, value);
    }
    return { path: `${request.path.split('?')[0]}?${asked}`, headers: { authorization: `Bearer ${keys.all}` } };
  },
});
export const withHeaders = (is: Is, headers: Readonly<Record<string, string | undefined>>): Mutation => ({
  forward: (request) => (is(request) ? { headers } : undefined),
});
/** Changes the matching answers. */
export const answering = (is: Is, change: (answer: Answer, request: Request) => void): Mutation => ({
  answer: (answer, request) => {
    if (is(request)) change(answer, request);
  },
});
/** Replaces a correct status. */
export const giving = (is: Is, from: number, to: number): Mutation =>
  answering(is, (answer) => {
    if (answer.status !== from) return;
    answer.status = to;
    if (to === 204) {
      answer.json = undefined;
      answer.body = '';
    }
  });
/** Changes the JSON of successful answers. */
export const showing = (is: Is, change: (json: Json, request: Request) => void): Mutation =>
  answering(is, ({ json, status }, request) => {
    if (json !== undefined && status < 300) change(json, request);
  });
/** Changes the list in a successful answer. */
export const listing = (is: Is, change: (results: Json[]) => Json[]): Mutation =>
  showing(is, (json) => {
    json.results = change(list(json, 'results'));
  });
export const header = (is: Is, name: string, value?: string): Mutation =>
  answering(is, ({ headers }) => {
    if (value === undefined) delete headers[name];
    else headers[name] = value;
  });
export const anything: Is = () => true;
