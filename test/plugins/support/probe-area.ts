import type { FastifyInstance } from 'fastify';
import { parse } from 'yaml';
import { isOpenapiDocument, type OpenapiDocument } from '../../../src/lib/openapi-document.ts';
import { authenticate } from '../../../src/plugins/auth.ts';
import { type Contract, createContract } from '../../../src/plugins/contract.ts';
import type { LimitMount } from '../../../src/plugins/limits.ts';
import { mount } from '../../../src/plugins/requests.ts';
import { createTokenVerifier } from '../../../src/plugins/tokens.ts';

/** The two mounts of the probe: one requires a token, one is public. */
export const CLOSED = '/dicht/v1';
export const OPEN = '/open/v1';

/** Characters in the large answer: more than the buffers of a connection hold. */
export const LARGE = 16 * 1024 * 1024;

const CONTRACT = `
openapi: 3.1.0
info: { title: Proef, version: 1.2.3 }
paths:
  /dingen:
    post:
      operationId: postDing
      ACCESS
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [naam]
              additionalProperties: false
              properties:
                naam: { type: string, maxLength: 40 }
                aantal: { type: integer, minimum: 1 }
      responses:
        '201': { description: gemaakt, content: { application/json: { schema: { type: object } } } }
  /dingen/{id}:
    get:
      operationId: getDing
      ACCESS
      parameters:
        - { name: id, in: path, required: true, schema: { type: string } }
        - { name: soort, in: query, schema: { type: string, enum: [klein, groot] } }
        - { name: limit, in: query, schema: { type: integer, minimum: 1, maximum: 10 } }
      responses:
        '200': { description: ding, content: { application/json: { schema: { type: object } } } }
  /databank:
    get:
      operationId: getDatabank
      ACCESS
      responses:
        '200': { description: gevraagd, content: { application/json: { schema: { type: object } } } }
  /traag:
    get:
      operationId: getTraag
      ACCESS
      responses:
        '200': { description: losgelaten, content: { application/json: { schema: { type: object } } } }
    post:
      operationId: postTraag
      ACCESS
      requestBody: { required: true, content: { application/json: { schema: { type: object } } } }
      responses:
        '200': { description: losgelaten, content: { application/json: { schema: { type: object } } } }
  /groot:
    get:
      operationId: getGroot
      ACCESS
      responses:
        '200': { description: meer dan er onderweg past, content: { application/json: { schema: { type: object } } } }
  /fout:
    get:
      operationId: getFout
      ACCESS
      responses:
        '200': { description: nooit, content: { application/json: { schema: { type: object } } } }
`;

/** Like the generated types of a contract, for one that has none. */
interface Operation {
  readonly Params?: object;
  readonly Body: object;
  readonly Answer: unknown;
}
type Operations = Readonly<
  Record<'postDing' | 'getDing' | 'getDatabank' | 'getTraag' | 'postTraag' | 'getGroot' | 'getFout', Operation>
>;

/** A test's handles on the probe. */
export interface Probe {
  readonly open: (app: FastifyInstance) => Promise<void>;
  /** Resolves when a request waits in `/traag`. */
  readonly arrived: Promise<void>;
  /** Releases the requests in `/traag`. */
  readonly release: () => void;
}

export interface ProbeOptions {
  readonly issuer?: string;
  readonly audience?: string;
  readonly jwksUrl?: string;
  readonly rateLimit?: number;
  /** The mount that requires a token. */
  readonly share?: LimitMount;
}

/** An area with one route for each thing that the service must handle, on the real server. */
export function createProbe({ issuer, audience, jwksUrl, rateLimit = 0, share }: ProbeOptions = {}): Probe {
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const open = async (app: FastifyInstance): Promise<void> => {
    const verifier = createTokenVerifier({
      log: app.log,
      clock: app.clock,
      clientCertificates: false,
      ...(issuer === undefined || audience === undefined ? {} : { oauth: { issuer, audience, jwksUrl } }),
    });
    const serve = (scope: FastifyInstance, contract: Contract<Operations>): void => {
      const options = { authenticate: authenticate({ verifier }) };
      contract.serve(scope, 'postDing', options, async (request, reply) => reply.code(201).send(request.body));
      contract.serve(scope, 'getDing', options, async (request) => request.params);
      contract.serve(
        scope,
        'getDatabank',
        options,
        async () => (await app.database.pool.query('select 1 as een')).rows[0],
      );
      for (const slow of ['getTraag', 'postTraag'] as const) {
        contract.serve(scope, slow, options, async () => {
          arrived.resolve();
          await released.promise;
          return { klaar: true };
        });
      }
      contract.serve(scope, 'getGroot', options, async () => ({ inhoud: 'x'.repeat(LARGE) }));
      contract.serve(scope, 'getFout', options, async () => {
        throw new Error('relation geheim does not exist');
      });
    };
    const closed = createContract<Operations>(readContract("x-scopes: ['create:normal']"));
    const publicOne = createContract<Operations>(readContract('x-public: true'));
    app.addHook('onClose', async () => verifier.close());
    await mount(app, {
      prefix: CLOSED,
      contract: closed,
      rateLimit,
      isPersonal: true,
      ...(share === undefined ? {} : { share }),
      routes: (scope) => serve(scope, closed),
    });
    await mount(app, {
      prefix: OPEN,
      contract: publicOne,
      rateLimit,
      isOpen: true,
      isPersonal: true,
      routes: (scope) => serve(scope, publicOne),
    });
  };
  return { open, arrived: arrived.promise, release: () => released.resolve() };
}

function readContract(access: string): OpenapiDocument {
  const document: unknown = parse(CONTRACT.replaceAll('ACCESS', access));
  if (!isOpenapiDocument(document)) throw new TypeError('the contract of the probe is not an OpenAPI document');
  return document;
}
