import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  preValidationHookHandler,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
  RouteGenericInterface,
  RouteHandlerMethod,
} from 'fastify';
import { type InvalidParam, Problem } from '../kernel/problem.ts';
import { acceptedTypes } from './negotiation.ts';
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

type Handler<R extends RouteGenericInterface> = RouteHandlerMethod<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  R
>;
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

/** A contract whose operations can be served; the document leads, the code follows. */
export interface Contract {
  readonly document: OpenapiDocument;
  /** Registers the route of one operation: access, acceptable form and validation come from the document. */
  serve<R extends RouteGenericInterface>(
    app: FastifyInstance,
    operationId: string,
    options: ServeOptions,
    handler: Handler<R>,
  ): void;
  /** Operations of the document that no route serves. */
  unserved(): string[];
}

/** @throws {TypeError} when the document is not one that can be served */
export function createContract(document: OpenapiDocument): Contract {
  const operations = new Map(listOperations(document).map((operation) => [operation.operationId, operation]));
  const validators = createRequestValidators(document);
  const served = new Set<string>();
  return {
    document,
    serve<R extends RouteGenericInterface>(
      app: FastifyInstance,
      operationId: string,
      options: ServeOptions,
      handler: Handler<R>,
    ) {
      const operation = operations.get(operationId);
      if (operation === undefined) throw new TypeError(`${operationId} is not in the contract`);
      served.add(operationId);
      const validator = validators(operation);
      app.route<R>({
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
