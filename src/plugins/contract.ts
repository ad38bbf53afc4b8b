/** Serves the operations of a contract: routes, access, media types and validation come from the document, types from code generated from it. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  FastifySchemaCompiler,
  onRequestHookHandler,
  preValidationHookHandler,
} from 'fastify';
import { addStandardFormats } from '../lib/json/formats.ts';
import { isRecord, type SchemaVerdict, schemaCheck } from '../lib/json/json-value.ts';
import { listOperations, type OpenapiDocument, type OpenapiOperation } from '../lib/openapi-document.ts';
import { type InvalidParam, Problem } from '../lib/problem.ts';
import { distinct, invalidParams, invalidRequest } from './faults.ts';
import { acceptedTypes } from './headers.ts';
import { platformProblems } from './problems.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Makes the 400 with all faults of a request in which a validator of the route found one. */
    invalidProblem?: (request: FastifyRequest) => Problem;
  }
}

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

/** A validated request of an operation: parameters, headers and body conform to the contract. */
export type RequestOf<O extends OperationTypes> = FastifyRequest<RouteOf<O>>;

/** The JSON of a successful answer of an operation. */
export type AnswerOf<O extends OperationTypes> = O extends { readonly Answer: infer Answer } ? Answer : never;

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
  /** Finds faults that a schema cannot express, once it has refused the request, which is not validated: all are reported together. */
  readonly furtherFaults?: (request: FastifyRequest) => readonly InvalidParam[];
  /** The handler reads the body itself, as raw bytes: the document only describes it. */
  readonly rawBody?: { readonly maxBytes: number };
}

/** A contract whose operations can be served. `Operations` are the types generated from it. */
export type Contract<Operations extends Record<keyof Operations, OperationTypes>> = ReturnType<
  typeof createContract<Operations>
>;

/**
 * @param document the published contract
 * @param validation the same with all rules that requests are validated by
 * @throws {TypeError} when the document cannot be served
 */
export function createContract<Operations extends Record<keyof Operations, OperationTypes>>(
  document: OpenapiDocument,
  validation = document,
) {
  const operations = new Map(listOperations(validation).map((operation) => [operation.operationId, operation]));
  const validators = createRequestValidators(validation);
  return {
    document,
    /** Registers the route of one operation, with the method, path, access, media types and validation of the document. */
    serve<Id extends keyof Operations & string>(
      app: FastifyInstance,
      operationId: Id,
      options: ServeOptions,
      handler: OperationHandler<Operations[Id]>,
    ): void {
      const operation = operations.get(operationId);
      if (operation === undefined) throw new TypeError(`${operationId} is not in the contract`);
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
          invalidProblem: (request) =>
            invalidRequest(withFurther(validator.faults(request), options.furtherFaults?.(request))),
          ...(operation.scopes === undefined ? { public: true } : { scopes: operation.scopes }),
        },
        onRequest: admission(operation, options),
        ...(options.beforeValidation === undefined ? {} : { preValidation: waiting(options.beforeValidation) }),
        handler,
      });
    },
  };
}

function withoutBody({ body: _, ...operation }: OpenapiOperation): OpenapiOperation {
  return operation;
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

type Parameters = OpenapiOperation['parameters'];
type Place = Parameters[number]['in'];

/** The schemas of the parts of a request, in the form of Fastify. */
interface RequestValidator {
  readonly schema: FastifySchema;
  readonly compile: FastifySchemaCompiler<unknown>;
  /** All faults of a request that the validators refuse, in every part: they stop at the first part. */
  readonly faults: (request: FastifyRequest) => InvalidParam[];
}

/** Holds no faults, because Fastify stops at the first part with one: `config.invalidProblem` of the route validates all parts again. */
export class InvalidRequestError extends Error {
  constructor() {
    super('a part of the request violates the contract');
    this.name = 'InvalidRequestError';
  }
}

const validators = new WeakMap<OpenapiDocument, (operation: OpenapiOperation) => RequestValidator>();

/** The validators of one document, each compiled once; they follow the `$ref`s of its operations within it. */
function createRequestValidators(document: OpenapiDocument): (operation: OpenapiOperation) => RequestValidator {
  const known = validators.get(document);
  if (known !== undefined) return known;
  const ajvs = createAjvs(document);
  const compiled = new Map<string, RequestValidator>();
  const validatorOf = (operation: OpenapiOperation): RequestValidator => {
    const validator = compiled.get(operation.operationId) ?? createValidator(operation, ajvs);
    compiled.set(operation.operationId, validator);
    return validator;
  };
  validators.set(document, validatorOf);
  return validatorOf;
}

function createAjvs(document: OpenapiDocument): Ajvs {
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

interface Ajvs {
  readonly first: Ajv2020;
  readonly all: Ajv2020;
  readonly text: Ajv2020;
}

function createValidator(operation: OpenapiOperation, { first, all, text }: Ajvs): RequestValidator {
  const parts: RequestPart[] = PARAMETERS.flatMap(({ name, place, of }) => {
    const parameters = operation.parameters.filter((parameter) => parameter.in === place);
    // The router gives no other parameters of a path, and unknown headers are ignored; an unknown part of a query is a fault.
    if (parameters.length === 0 && place !== 'query') return [];
    const schema = parametersSchema(parameters, place);
    return [{ name, schema, of, faults: parameterCheck(parameters, place, text.compile(schema)) }];
  });
  if (operation.body !== undefined) {
    const schema = absolute(operation.body.schema);
    const faults = bodyCheck(operation.body.required, schemaCheck(first, all, schema));
    parts.push({ name: 'body', schema, of: ({ body }) => body, faults });
  }
  return {
    schema: Object.fromEntries(parts.map(({ name, schema }) => [name, schema])),
    compile: ({ httpPart }) => {
      const part = parts.find(({ name }) => name === httpPart);
      return (given: unknown) =>
        part === undefined || part.faults(given).length === 0 ? true : { error: new InvalidRequestError() };
    },
    faults: (request) => parts.flatMap(({ of, faults }) => faults(of(request))),
  };
}

/** A part of a request, as Fastify names it. */
interface RequestPart {
  readonly name: string;
  readonly schema: object;
  readonly of: (request: FastifyRequest) => unknown;
  readonly faults: PartCheck;
}

const PARAMETERS = [
  { name: 'params', place: 'path', of: ({ params }: FastifyRequest): unknown => params },
  { name: 'querystring', place: 'query', of: ({ query }: FastifyRequest): unknown => query },
  { name: 'headers', place: 'header', of: ({ headers }: FastifyRequest): unknown => headers },
] as const;

/** The faults of a part of a request; it may change the part, from strings to the values they represent. */
type PartCheck = (given: unknown) => InvalidParam[];

function parameterCheck(parameters: Parameters, place: Place, validate: ValidateFunction): PartCheck {
  const integers = parameters
    .filter(({ schema }) => 'type' in schema && schema.type === 'integer')
    .map(({ name }) => keyOf(place, name));
  return (given) => {
    if (integers.length > 0) spoilOddNumbers(integers, given);
    if (validate(given)) return [];
    const lostPlus = place === 'query' && isRecord(given) ? namesWithLostPlus(given) : new Set<string>();
    const faults = invalidParams(validate.errors ?? []).filter(({ name }) => !lostPlus.has(name));
    return parameterFaults(place, parameters, [...[...lostPlus].map(lostPlusFault), ...faults]);
  };
}

/** A moment whose offset had a raw `+`, which a query takes for a blank. */
const LOST_PLUS = /T[\d:.,]{5,20} \d\d:?\d\d$/i;

function namesWithLostPlus(query: Record<string, unknown>): ReadonlySet<string> {
  const entries = Object.entries(query);
  return new Set(entries.flatMap(([name, value]) => (LOST_PLUS.test(String(value).slice(0, 100)) ? [name] : [])));
}

const lostPlusFault = (name: string): InvalidParam => ({
  name,
  code: 'format',
  reason: 'heeft een spatie in plaats van een `+`: schrijf die in een adres als `%2B`',
});

function bodyCheck(isRequired: boolean, judge: (value: unknown) => SchemaVerdict<unknown>): PartCheck {
  return (given) => {
    if (given === undefined || given === null)
      return isRequired ? [{ name: '', code: 'required', reason: 'de inhoud ontbreekt' }] : [];
    const verdict = judge(given);
    return 'faults' in verdict ? invalidParams(verdict.faults) : [];
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

function parametersSchema(parameters: Parameters, place: Place): object {
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [keyOf(place, name), absolute(schema)])),
    required: parameters.filter(({ required }) => required).map(({ name }) => keyOf(place, name)),
    additionalProperties: place === 'header',
  };
}

/** A copy in which references within the document lead to the document as `doc:`. */
function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' && value.startsWith('#') ? `doc:${value}` : value,
  );
}

/** A parameter is named as the contract spells it: a header too, and also when it was read as a list. */
function parameterFaults(place: Place, parameters: Parameters, faults: InvalidParam[]): InvalidParam[] {
  const spelled = new Map(parameters.map(({ name }) => [keyOf(place, name), name]));
  return distinct(
    faults.map((fault) => ({ ...fault, name: spelled.get(fault.name.replace(/\..*$/s, '')) ?? fault.name })),
  );
}

/** Header names in lower case, as Node gives them. */
function keyOf(place: Place, name: string): string {
  return place === 'header' ? name.toLowerCase() : name;
}
