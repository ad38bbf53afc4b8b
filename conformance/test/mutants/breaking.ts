/** Ways to break a rule of a feed. */
import type { Answer, Mutation, Request } from '../proxy.ts';
import type { Mutant } from './mutant.ts';

export type FeedMutant = Mutant<Mutation>;

export type Json = Record<string, unknown>;

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function list(page: Json | undefined, member: string): Json[] {
  const found = page?.[member];
  return Array.isArray(found) ? found.filter(isJson) : [];
}

/** An address that does not look local, but that the system connects to this machine. */
export const OVER_HTTP: Mutation = { host: '0.0.0.0' };

export const isFeed = ({ path }: Request): boolean => /^\/feed(\?|$)/.test(path);
export const isSnapshot = ({ path }: Request): boolean => /^\/snapshot(\?|$)/.test(path);
export const isService = ({ path, headers }: Request): boolean =>
  (path === '/' || path === '') && !String(headers.accept).includes('html');
export const isCollection = ({ path }: Request): boolean => /^\/organisaties\/[^/]+\/[^/?]+(\?|$)/.test(path);
export const isResource = ({ path }: Request): boolean => /^\/organisaties\/[^/]+\/[^/]+\/./.test(path);

export const where = (
  isMeant: (request: Request) => boolean,
  change: (answer: Answer, request: Request) => void,
): Mutation => ({
  answer: (answer, request) => {
    if (isMeant(request)) change(answer, request);
  },
});
/** Changes the JSON of successful answers. */
export const json = (
  isMeant: (request: Request) => boolean,
  change: (body: Json, request: Request) => void,
): Mutation =>
  where(isMeant, ({ json: body, status }, request) => {
    if (body !== undefined && status === 200) change(body, request);
  });
/** Changes each matching record of the feed. */
export const record = (isMeant: (record: Json) => boolean, change: (record: Json) => void): Mutation =>
  json(isFeed, (page) => {
    for (const one of list(page, 'records')) if (isMeant(one)) change(one);
  });
export const header = (isMeant: (request: Request) => boolean, name: string, value: string | undefined): Mutation =>
  where(isMeant, ({ headers }) => {
    if (value === undefined) delete headers[name];
    else headers[name] = value;
  });
export const status = (isMeant: (request: Request, answer: Answer) => boolean, code: number): Mutation => ({
  answer: (answer, request) => {
    if (isMeant(request, answer)) answer.status = code;
  },
});
/** Accepts an invalid request, by forwarding it without its fault. */
export const accepting = (isMeant: (request: Request) => boolean, without: readonly string[]): Mutation => ({
  forward: (request) => {
    if (!isMeant(request)) return undefined;
    const query = new URLSearchParams(request.query);
    for (const name of without) query.delete(name);
    const [path] = request.path.split('?');
    return { path: `${path}?${query}` };
  },
});
export const has =
  (name: string, test: (value: string) => boolean) =>
  (request: Request): boolean => {
    const value = request.query.get(name);
    return value !== null && test(value);
  };
export const isUpsert = ({ op }: Json): boolean => op === 'upsert';
export const isRedact = ({ op }: Json): boolean => op === 'redact';
export const dataOf = ({ data }: Json): Json => (isJson(data) ? data : {});
export const resourceOf = ({ resource }: Json): Json => (isJson(resource) ? resource : {});
export const GARBLED = /^(geen-cursor|.*x$|\0)/s;
