import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  preValidationHookHandler,
} from 'fastify';
import fp from 'fastify-plugin';
import findMyWay from 'find-my-way';
import { type InvalidParam, Problem } from '../lib/problem.ts';
import { acceptedTypes, MAX_TARGET_LENGTH } from './headers.ts';
import { listOperations, type OpenapiDocument, type OpenapiOperation } from './openapi-document.ts';
import { platformProblems } from './problems.ts';
import { createRequestValidators, invalidRequest } from './request-validator.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True on routes that anyone may call; every other route names `scopes`. */
    public?: boolean;
    scopes?: readonly string[];
    operationId?: string;
    /** The problem of a request that the validators of the route refuse, with all faults. */
    refuse?: (request: FastifyRequest) => Problem;
  }
}

/** An operation as the types generated into `src/contracts/` describe it. */
interface OperationTypes {
  readonly parameters: { readonly query?: object; readonly header?: object; readonly path?: object };
  readonly requestBody?: { readonly content: { readonly 'application/json': unknown } };
  readonly responses: object;
}

/** An operation without parameters of a kind has `never` there. */
type Given<T> = [NonNullable<T>] extends [never] ? unknown : NonNullable<T>;
/** Node gives header names in lower case. */
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

/** Returns the answer after setting status and headers on the reply, or returns the reply when it sent something else (204, prepared text). */
type OperationHandler<O extends OperationTypes> = (
  request: RequestOf<O>,
  reply: FastifyReply,
) => Promise<AnswerOf<O> | FastifyReply>;

/** A step that may be asynchronous; it throws or rejects to refuse. */
export type RequestHook = (request: FastifyRequest, reply: FastifyReply) => Promise<void> | undefined;

/** How an operation is served, beyond what its document says. */
export interface ServeOptions {
  /** Authenticates the caller before the body is read. Required unless the operation is public. */
  readonly authenticate?: (operation: OpenapiOperation) => RequestHook;
  /** Runs once the body is read, before it is validated. */
  readonly beforeValidation?: RequestHook;
  /**
   * Finds faults that a schema cannot express in a request that the schema refuses already, so that all are reported together. The request
   * is not validated.
   */
  readonly furtherFaults?: (request: FastifyRequest) => readonly InvalidParam[];
  /** The handler reads the body itself, as the bytes that came: the document only describes it. */
  readonly rawBody?: { readonly maxBytes: number };
}

/** A contract whose operations can be served. `Operations` are the types generated from it. */
export interface Contract<Operations extends Record<keyof Operations, OperationTypes>> {
  readonly document: OpenapiDocument;
  /**
   * Registers the route of one operation. Method, path, access, media types and validation come from the document; the types of request and
   * answer from `Operations`.
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
      const { rawBody } = options;
      const validator = validators(rawBody === undefined ? operation : withoutBody(operation));
      app.route<RouteOf<Operations[Id]>>({
        method: operation.method,
        url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
        ...(rawBody === undefined ? {} : { bodyLimit: rawBody.maxBytes }),
        schema: validator.schema,
        validatorCompiler: validator.compile,
        config: {
          operationId,
          refuse: (request) => invalidRequest(validator.faults(request), options.furtherFaults?.(request)),
          ...(operation.scopes === undefined ? { public: true } : { scopes: operation.scopes }),
        },
        onRequest: admission(operation, options),
        ...(options.beforeValidation === undefined ? {} : { preValidation: waiting(options.beforeValidation) }),
        handler,
      });
    },
    unserved: () => [...operations.keys()].filter((operationId) => !served.has(operationId)),
  };
}

function withoutBody({ body: _, ...operation }: OpenapiOperation): OpenapiOperation {
  return operation;
}

/** A hook for a step that may be asynchronous. */
function waiting(step: RequestHook): preValidationHookHandler {
  return (request, reply, done) => {
    const pending = step(request, reply);
    if (pending === undefined) done();
    else pending.then(() => done(), done);
  };
}

/** Whether the address exists, who calls, and whether the caller takes what the operation answers with, in this order. */
function admission(operation: OpenapiOperation, { authenticate }: ServeOptions): onRequestHookHandler {
  const { operationId, path, scopes, produces } = operation;
  if (scopes !== undefined && authenticate === undefined)
    throw new TypeError(`${operationId} is not public: authenticate it`);
  const authenticated = scopes === undefined ? undefined : authenticate?.(operation);
  const endsInParameter = path.endsWith('}');
  const acceptable = ({ headers: { accept } }: FastifyRequest): void => {
    if (accept === undefined || accept === '*/*' || produces.length === 0) return;
    if (acceptedTypes(accept, produces).length === 0) throw new Problem(platformProblems.notAcceptable);
  };
  return (request, reply, done) => {
    if (endsInParameter && endsInSlash(request.url)) throw new Problem(platformProblems.notFound);
    const pending = authenticated?.(request, reply);
    // A promise would cost every request a turn of the event loop.
    if (pending === undefined) {
      acceptable(request);
      done();
    } else {
      pending.then(() => acceptable(request)).then(() => done(), done);
    }
  };
}

/** The router lets a final parameter be empty: an address that ends in a slash. Such an address does not exist. */
function endsInSlash(url: string): boolean {
  const end = url.indexOf('?');
  return url.charAt((end === -1 ? url.length : end) - 1) === '/';
}

/** What the server knows of its own routes: who may call each, and which methods an address has. To be registered before any route. */
export const routes = fp(
  async (app: FastifyInstance) => {
    methodNotAllowed(app);
    requireAccessPolicy(app);
  },
  { name: 'routes' },
);

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
 * Requires every route to declare who may call it: `public` or `scopes`. The server does not start with a route that does not.
 */
function requireAccessPolicy(app: FastifyInstance): void {
  const routes: (() => RoutePolicy)[] = [];
  app.decorate('routePolicies', () => routes.map((policy) => policy()));
  app.addHook('onRoute', (options) => {
    for (const method of [options.method].flat()) {
      // Read later, because hooks of a scope may still set the configuration of its routes.
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

/** Makes the routes of a scope public that do not name scopes. */
export function publicUnlessSaid(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.scopes === undefined) route.config = { ...route.config, public: true };
  });
}

/** Characters of one path parameter: a `bronidentificatie` of 500 characters, each percent-encoded in up to 12. */
export const MAX_PARAM_LENGTH = 6000;

// Fastify can tell whether a pattern has a method, but not which pattern matches a path; hence a second router.
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
type Method = (typeof METHODS)[number];

function isMethod(method: string): method is Method {
  return METHODS.some((known) => known === method);
}

/** Remembers the methods of every route, so that another one on a known path gets 405 and not 404. */
function methodNotAllowed(app: FastifyInstance): void {
  const router = findMyWay({ maxParamLength: MAX_PARAM_LENGTH });
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) {
      if (isMethod(one) && !router.hasRoute(one, url)) router.on(one, url, () => undefined);
    }
  });
  app.decorate('allowedMethods', (url: string) => {
    const path = url.split('?', 1)[0] ?? url;
    // No route is that long, and the router would decode it for each method.
    if (path.length > MAX_TARGET_LENGTH) return undefined;
    const found = METHODS.filter((method) => router.find(method, path) != null);
    if (found.length === 0) return undefined;
    return (found.includes('GET') ? [...found, 'OPTIONS'] : found).join(', ');
  });
}
