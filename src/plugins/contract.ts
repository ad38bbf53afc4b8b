/** Serves the operations of a contract: routes, access, media types and validation come from the document, types from code generated from it. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  preValidationHookHandler,
} from 'fastify';
import { addStandardFormats } from '../lib/json/formats.ts';
import { isRecord, schemaCheck } from '../lib/json/json-value.ts';
import { listOperations, type OpenapiDocument, type OpenapiOperation } from '../lib/openapi-document.ts';
import { type InvalidParam, Problem } from '../lib/problem.ts';
import { distinct, invalidParams, invalidRequest } from './faults.ts';
import { acceptedTypes } from './headers.ts';
import { platformProblems } from './problems.ts';

/** An operation as the types generated into `src/contracts/` describe it; a member without parts or without JSON is absent. */
interface OperationTypes {
  readonly Params?: object;
  readonly Querystring?: object;
  readonly Headers?: object;
  readonly Body?: unknown;
  readonly Answer?: unknown;
}

type RouteOf<O extends OperationTypes> = {
  readonly [Part in 'Params' | 'Querystring' | 'Headers' | 'Body']: O[Part];
};

export type RequestOf<O extends OperationTypes> = FastifyRequest<RouteOf<O>>;

export type AnswerOf<O extends OperationTypes> = O extends { readonly Answer: infer Answer } ? Answer : never;

/** Returns the answer after setting status and headers on the reply, or returns the reply when it sent something else (204, prepared text). */
type OperationHandler<O extends OperationTypes> = (
  request: RequestOf<O>,
  reply: FastifyReply,
) => Promise<AnswerOf<O> | FastifyReply>;

/** A step that may be asynchronous; it throws or rejects to refuse. */
export type RequestHook = (request: FastifyRequest, reply: FastifyReply) => Promise<void> | undefined;

export interface ServeOptions {
  /** Authenticates the caller before the body is read. Required unless the operation is public. */
  readonly authenticate?: (operation: OpenapiOperation) => RequestHook;
  readonly beforeValidation?: RequestHook;
  /** Finds faults that a schema cannot express, once it has refused the request, which is not validated: all are reported together. */
  readonly furtherFaults?: (request: FastifyRequest) => readonly InvalidParam[];
  /** The handler reads the body itself, as raw bytes: the document only describes it. */
  readonly rawBody?: { readonly maxBytes: number };
}

export type Contract<Operations extends Record<keyof Operations, OperationTypes>> = ReturnType<
  typeof createContract<Operations>
>;

/** @param validation the document with all rules that requests are validated by @throws {TypeError} when it cannot be served */
export function createContract<Operations extends Record<keyof Operations, OperationTypes>>(
  document: OpenapiDocument,
  validation = document,
) {
  const operations = new Map(listOperations(validation).map((operation) => [operation.operationId, operation]));
  const checkOf = requestChecks(validation);
  return {
    document,
    serve<Id extends keyof Operations & string>(
      app: FastifyInstance,
      operationId: Id,
      options: ServeOptions,
      handler: OperationHandler<Operations[Id]>,
    ): void {
      const operation = operations.get(operationId);
      if (operation === undefined) throw new TypeError(`${operationId} is not in the contract`);
      const { beforeValidation, furtherFaults, rawBody } = options;
      const check = checkOf(operation, rawBody === undefined);
      const validate: preValidationHookHandler = (request, _reply, done) => {
        const faults = check(request);
        if (faults.length === 0) done();
        else done(invalidRequest(withFurther(faults, furtherFaults?.(request))));
      };
      app.route<RouteOf<Operations[Id]>>({
        method: operation.method,
        url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
        ...(rawBody === undefined ? {} : { bodyLimit: rawBody.maxBytes }),
        config: { operationId, ...(operation.scopes === undefined ? { public: true } : { scopes: operation.scopes }) },
        onRequest: admission(operation, options),
        // Fastify's own validation would stop at the first part with a fault.
        preValidation: beforeValidation === undefined ? validate : [waiting(beforeValidation), validate],
        handler,
      });
    },
  };
}

function waiting(step: RequestHook): preValidationHookHandler {
  return (request, reply, done) => {
    const pending = step(request, reply);
    if (pending === undefined) done();
    else pending.then(() => done(), done);
  };
}

/** Checks in this order: whether the address exists, the caller, and whether the caller accepts the media types of the operation. */
function admission(operation: OpenapiOperation, { authenticate }: ServeOptions): onRequestHookHandler {
  const { operationId, path, scopes, produces } = operation;
  if (scopes !== undefined && authenticate === undefined)
    throw new TypeError(`${operationId} is not public: authenticate it`);
  const authenticated = scopes === undefined ? undefined : authenticate?.(operation);
  const endsInParameter = path.endsWith('}');
  const refusalOf = ({ headers: { accept } }: FastifyRequest): Problem | undefined => {
    if (accept === undefined || accept === '*/*' || produces.length === 0) return undefined;
    return acceptedTypes(accept, produces).length === 0 ? new Problem(platformProblems.notAcceptable) : undefined;
  };
  return (request, reply, done) => {
    if (endsInParameter && endsInSlash(request.url)) throw new Problem(platformProblems.notFound);
    const pending = authenticated?.(request, reply);
    // A promise would cost every request a turn of the event loop.
    if (pending === undefined) done(refusalOf(request));
    else pending.then(() => done(refusalOf(request)), done);
  };
}

/** The router lets a final parameter be empty: an address that ends in a slash. Such an address does not exist. */
function endsInSlash(url: string): boolean {
  const end = url.indexOf('?');
  return url.charAt((end === -1 ? url.length : end) - 1) === '/';
}

const OPENAPI_KEYWORDS = ['openapi', 'info', 'servers', 'tags', 'paths', 'components', 'security'];
const SCHEMA_KEYWORDS = ['example', 'discriminator'];

/** All faults of a request, in every part. It changes parameters from strings to the values they represent. */
type RequestCheck = (request: FastifyRequest) => readonly InvalidParam[];
type PartCheck = (given: unknown) => readonly InvalidParam[];

const NO_FAULTS: readonly InvalidParam[] = [];

const known = new WeakMap<OpenapiDocument, ReturnType<typeof requestChecks>>();

/** The checks of one document, each compiled once; they follow the `$ref`s of its operations within it. */
function requestChecks(document: OpenapiDocument): (operation: OpenapiOperation, hasBody: boolean) => RequestCheck {
  const before = known.get(document);
  if (before !== undefined) return before;
  const ajvs = createAjvs(document);
  const compiled = new Map<string, RequestCheck>();
  const checkOf = (operation: OpenapiOperation, hasBody: boolean): RequestCheck => {
    const key = `${operation.operationId} ${hasBody}`;
    const check = compiled.get(key) ?? createCheck(operation, hasBody, ajvs);
    compiled.set(key, check);
    return check;
  };
  known.set(document, checkOf);
  return checkOf;
}

type Ajvs = ReturnType<typeof createAjvs>;

function createAjvs(document: OpenapiDocument) {
  const options = {
    // The contracts are ours, and checked by the tests: compiling the schema of schemas takes longer than compiling them.
    validateSchema: false,
    allErrors: true,
    strict: true,
    strictTypes: false,
    allowUnionTypes: true,
    useDefaults: true,
  } as const;
  const ajvs = {
    first: new Ajv2020({ ...options, allErrors: false, coerceTypes: false }),
    all: new Ajv2020({ ...options, coerceTypes: false }),
    text: new Ajv2020({ ...options, coerceTypes: 'array' }),
  };
  for (const ajv of Object.values(ajvs)) {
    addStandardFormats(ajv);
    ajv.addVocabulary([...OPENAPI_KEYWORDS, ...SCHEMA_KEYWORDS]);
    ajv.addSchema(document, 'doc:');
  }
  return ajvs;
}

const PARTS = { path: 'params', query: 'query', header: 'headers' } as const;
const PLACES = ['path', 'query', 'header'] as const;

function createCheck(operation: OpenapiOperation, hasBody: boolean, { first, all, text }: Ajvs): RequestCheck {
  const parts: { readonly part: 'params' | 'query' | 'headers' | 'body'; readonly faultsOf: PartCheck }[] = [];
  for (const place of PLACES) {
    const parameters = operation.parameters.filter((parameter) => parameter.in === place);
    // The router gives no other parameters of a path, and unknown headers are ignored; an unknown part of a query is a fault.
    if (parameters.length > 0 || place === 'query')
      parts.push({ part: PARTS[place], faultsOf: parameterCheck(parameters, place, text) });
  }
  if (operation.body !== undefined && hasBody)
    parts.push({ part: 'body', faultsOf: bodyCheck(operation.body, first, all) });
  return (request) => {
    let found = NO_FAULTS;
    for (const { part, faultsOf } of parts) {
      const faults = faultsOf(request[part]);
      if (faults.length > 0) found = [...found, ...faults];
    }
    return found;
  };
}

function parameterCheck(
  parameters: OpenapiOperation['parameters'],
  place: keyof typeof PARTS,
  ajv: Ajv2020,
): PartCheck {
  // Node gives header names in lower case.
  const keyed = parameters.map((one) => ({ ...one, key: place === 'header' ? one.name.toLowerCase() : one.name }));
  const validate = ajv.compile({
    type: 'object',
    properties: Object.fromEntries(keyed.map(({ key, schema }) => [key, absolute(schema)])),
    required: keyed.filter(({ required }) => required).map(({ key }) => key),
    additionalProperties: place === 'header',
  });
  const integers = keyed.filter(({ schema }) => 'type' in schema && schema.type === 'integer').map(({ key }) => key);
  const spelled = new Map(keyed.map(({ key, name }) => [key, name]));
  return (given) => {
    if (integers.length > 0) spoilOddNumbers(integers, given);
    if (validate(given)) return NO_FAULTS;
    const lostPlus = place === 'query' && isRecord(given) ? namesWithLostPlus(given) : [];
    const faults = invalidParams(validate.errors ?? []).filter(({ name }) => !lostPlus.includes(name));
    // A parameter is named as the contract spells it: a header too, and also when it was read as a list.
    const contractName = (name: string): string => spelled.get(name.replace(/\..*$/s, '')) ?? name;
    return distinct(
      [...lostPlus.map(lostPlusFault), ...faults].map((fault) => ({ ...fault, name: contractName(fault.name) })),
    );
  };
}

/** A moment whose offset had a raw `+`, which a query takes for a blank. */
const LOST_PLUS = /T[\d:.,]{5,20} \d\d:?\d\d$/i;

function namesWithLostPlus(query: Record<string, unknown>): string[] {
  return Object.keys(query).filter((name) => LOST_PLUS.test(String(query[name]).slice(0, 100)));
}

const lostPlusFault = (name: string): InvalidParam => ({
  name,
  code: 'format',
  reason: 'heeft een spatie in plaats van een `+`: schrijf die in een adres als `%2B`',
});

function bodyCheck(body: NonNullable<OpenapiOperation['body']>, first: Ajv2020, all: Ajv2020): PartCheck {
  const judge = schemaCheck(first, all, absolute(body.schema));
  return (given) => {
    if (given === undefined || given === null)
      return body.required ? [{ name: '', code: 'required', reason: 'de inhoud ontbreekt' }] : NO_FAULTS;
    const verdict = judge(given);
    return 'faults' in verdict ? invalidParams(verdict.faults) : NO_FAULTS;
  };
}

/** @param further faults that the document cannot express, left out where the document has a fault of the same member */
function withFurther(faults: readonly InvalidParam[], further: readonly InvalidParam[] = []): InvalidParam[] {
  const named = new Set(faults.map(({ name }) => name));
  return [...faults, ...further.filter(({ name }) => !named.has(name))];
}

/** Coercion also reads `1e2` and `0x10` as numbers; a whole-number parameter has digits only, so any other value is made one that is refused. */
function spoilOddNumbers(names: readonly string[], given: unknown): void {
  if (!isRecord(given)) return;
  for (const name of names) {
    const value = given[name];
    // A value that is not a number in any notation, so that the validator reports its fault with the others.
    if (typeof value === 'string' && !/^-?\d+$/.test(value)) given[name] = '-';
  }
}

/** A copy in which references within the document lead to the document as `doc:`. */
function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' && value.startsWith('#') ? `doc:${value}` : value,
  );
}
