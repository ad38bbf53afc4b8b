import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  preValidationHookHandler,
} from 'fastify';
import findMyWay from 'find-my-way';
import { type InvalidParam, Problem } from '../kernel/problem.ts';
import { acceptedTypes, MAX_TARGET_LENGTH } from './headers.ts';
import { listOperations, type OpenapiDocument, type OpenapiOperation } from './openapi-document.ts';
import { platformProblems } from './problems.ts';
import { createRequestValidators } from './request-validator.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True on routes that anyone may call; every other route names `scopes`. */
    public?: boolean;
    scopes?: readonly string[];
    operationId?: string;
  }
}

/** What a generated `operations` (`src/contracts/`) says of one operation. */
interface OperationTypes {
  readonly parameters: { readonly query?: object; readonly header?: object; readonly path?: object };
  readonly requestBody?: { readonly content: { readonly 'application/json': unknown } };
  readonly responses: object;
}

/** An operation without parameters of a kind has `never` there. */
type Given<T> = [NonNullable<T>] extends [never] ? unknown : NonNullable<T>;
/** Node has the names of headers in lower case. */
type Headers<T> = { readonly [Name in keyof T & string as Lowercase<Name>]: T[Name] };

/** What a validated request of an operation holds. */
interface RouteOf<O extends OperationTypes> {
  readonly Params: Given<O['parameters']['path']>;
  readonly Querystring: Given<O['parameters']['query']>;
  readonly Headers: Headers<Given<O['parameters']['header']>>;
  readonly Body: O['requestBody'] extends { readonly content: { readonly 'application/json': infer Body } }
    ? Body
    : undefined;
}

/** A validated request of an operation: parameters, headers and body are as the contract has them. */
export type RequestOf<O extends OperationTypes> = FastifyRequest<RouteOf<O>>;

/** What an operation answers with when it succeeds, as JSON. */
export type AnswerOf<O extends OperationTypes> = {
  [Status in keyof O['responses']]: O['responses'][Status] extends {
    readonly content: { readonly 'application/json': infer Answer };
  }
    ? Answer
    : never;
}[keyof O['responses']];

/** Gives the answer, after setting status and headers on the reply; or the reply, when it has sent something else (204, ready-made text). */
type OperationHandler<O extends OperationTypes> = (
  request: RequestOf<O>,
  reply: FastifyReply,
) => Promise<AnswerOf<O> | FastifyReply>;

/** A step that may wait; it throws or rejects to refuse. */
export type RequestHook = (request: FastifyRequest, reply: FastifyReply) => Promise<void> | undefined;
/** A check that waits for nothing; it throws to refuse. */
type Check = (request: FastifyRequest) => void;

/** How an operation is served beside what its document says. */
export interface ServeOptions {
  /** Runs before the body is read: who is calling? Required unless the operation is public. */
  readonly authenticate?: (operation: OpenapiOperation) => RequestHook;
  /** Runs with the body read, before it is validated. */
  readonly beforeValidation?: RequestHook;
  /**
   * Names what the handler would have refused in a request that the document already refuses, so that all faults are told together.
   * The request may hold anything.
   */
  readonly furtherFaults?: (request: FastifyRequest) => readonly InvalidParam[];
}

/** A contract whose operations can be served; the document leads, the code follows. `Operations` are the types generated from it. */
export interface Contract<Operations extends Record<keyof Operations, OperationTypes>> {
  readonly document: OpenapiDocument;
  /**
   * Registers the route of one operation: method, path, access, acceptable form and validation come from the document, what the request
   * holds and what is answered from its types.
   */
  serve<Id extends keyof Operations & string>(
    app: FastifyInstance,
    operationId: Id,
    options: ServeOptions,
    handler: OperationHandler<Operations[Id]>,
  ): void;
  /** Operations of the document that no route serves. */
  unserved(): string[];
}

/** @throws {TypeError} when the document is not one that can be served */
export function createContract<Operations extends Record<keyof Operations, OperationTypes>>(
  document: OpenapiDocument,
): Contract<Operations> {
  const operations = new Map(listOperations(document).map((operation) => [operation.operationId, operation]));
  const validators = createRequestValidators(document);
  const served = new Set<string>();
  return {
    document,
    serve<Id extends keyof Operations & string>(
      app: FastifyInstance,
      operationId: Id,
      options: ServeOptions,
      handler: OperationHandler<Operations[Id]>,
    ) {
      const operation = operations.get(operationId);
      if (operation === undefined) throw new TypeError(`${operationId} is not in the contract`);
      served.add(operationId);
      const validator = validators(operation);
      app.route<RouteOf<Operations[Id]>>({
        method: operation.method,
        url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
        config: { operationId, ...(operation.scopes === undefined ? { public: true } : { scopes: operation.scopes }) },
        onRequest: [...existing(operation), ...access(operation, options), checking(acceptable(operation))],
        preValidation: [
          ...(options.beforeValidation === undefined ? [] : [waiting(options.beforeValidation)]),
          checking((request) => validator.check(request, options.furtherFaults)),
        ],
        handler,
      });
    },
    unserved: () => [...operations.keys()].filter((operationId) => !served.has(operationId)),
  };
}

/** A path that ends in a parameter would also be met by one that ends in a slash, with nothing for the parameter: that address does not exist. */
function existing({ path }: OpenapiOperation): onRequestHookHandler[] {
  if (!path.endsWith('}')) return [];
  return [
    checking(({ url }) => {
      const end = url.indexOf('?');
      if (url.charAt((end === -1 ? url.length : end) - 1) === '/') throw new Problem(platformProblems.notFound);
    }),
  ];
}

/** A hook of a step that waits only when it says so. */
function waiting(step: RequestHook): onRequestHookHandler & preValidationHookHandler {
  return (request, reply, done) => {
    const pending = step(request, reply);
    if (pending === undefined) done();
    else pending.then(() => done(), done);
  };
}

/** A hook of a check: as one with a promise it would cost every request a turn. The framework catches what it throws. */
function checking(check: Check): onRequestHookHandler & preValidationHookHandler {
  return (request, _reply, done) => {
    check(request);
    done();
  };
}

function access(operation: OpenapiOperation, options: ServeOptions): onRequestHookHandler[] {
  if (operation.scopes === undefined) return [];
  if (options.authenticate === undefined)
    throw new TypeError(`${operation.operationId} is not public: authenticate it`);
  return [waiting(options.authenticate(operation))];
}

/** Refuses a request whose `Accept` none of the answers can meet (RFC 9110 12.5.1). */
function acceptable({ produces }: OpenapiOperation): Check {
  return ({ headers: { accept } }) => {
    if (accept === undefined || accept === '*/*' || produces.length === 0) return;
    if (acceptedTypes(accept, produces).length === 0) throw new Problem(platformProblems.notAcceptable);
  };
}

/** What the server knows of its own routes: who may call each, and which methods an address has. */

declare module 'fastify' {
  interface FastifyInstance {
    /** Every route of the server with who may call it. */
    readonly routePolicies: () => readonly RoutePolicy[];
    /** The value for `Allow` on an address, or `undefined` when no route has it. */
    readonly allowedMethods: (url: string) => string | undefined;
  }
}

export interface RoutePolicy {
  readonly method: string;
  readonly url: string;
  readonly public: boolean;
  readonly scopes: readonly string[] | undefined;
  readonly operationId: string | undefined;
}

/**
 * Requires of every route that it says who may call: `public`, or the `scopes`. A route that forgot keeps the server from
 * starting. Call before any route.
 */
export function requireAccessPolicy(app: FastifyInstance): void {
  const routes: (() => RoutePolicy)[] = [];
  app.decorate('routePolicies', () => routes.map((policy) => policy()));
  app.addHook('onRoute', (options) => {
    for (const method of [options.method].flat()) {
      // Read late: hooks of a scope still set the configuration of its routes.
      routes.push(() => ({
        method,
        url: options.url,
        public: options.config?.public ?? false,
        scopes: options.config?.scopes,
        operationId: options.config?.operationId,
      }));
    }
  });
  app.addHook('onReady', async () => {
    const open = app.routePolicies().filter(({ public: isPublic, scopes }) => !isPublic && scopes === undefined);
    if (open.length > 0) {
      throw new TypeError(`who may call ${open.map(({ method, url }) => `${method} ${url}`).join(', ')}?`);
    }
  });
}

/** Characters of one path parameter: a `bronidentificatie` of 500 characters, each percent-encoded in up to 12. */
export const MAX_PARAM_LENGTH = 6000;

// Fastify can say whether a pattern has a method, not which patterns a path meets; so the same router is kept beside it.
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
type Method = (typeof METHODS)[number];

function isMethod(method: string): method is Method {
  return METHODS.some((known) => known === method);
}

/** Keeps the methods of every route, so that another one on a known path gets 405 and not 404. Call before any route. */
export function methodNotAllowed(app: FastifyInstance): void {
  const router = findMyWay({ maxParamLength: MAX_PARAM_LENGTH });
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) {
      if (isMethod(one) && !router.hasRoute(one, url)) router.on(one, url, () => undefined);
    }
  });
  app.decorate('allowedMethods', (url: string) => {
    const path = url.split('?', 1)[0] ?? url;
    // No route is that long, and each method would decode it anew.
    if (path.length > MAX_TARGET_LENGTH) return undefined;
    const found = METHODS.filter((method) => router.find(method, path) != null);
    if (found.length === 0) return undefined;
    return (found.includes('GET') ? [...found, 'OPTIONS'] : found).join(', ');
  });
}
