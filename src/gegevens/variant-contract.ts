import type { operations } from '../contracts/gegevens.ts';
import { isRecord, type JsonObject } from '../lib/json/json-value.ts';
import { type FscCode, Problem } from '../lib/problem.ts';
import { type Contract, createContract } from '../plugins/contract.ts';
import { type OpenapiDocument, readOpenapi } from '../plugins/openapi-document.ts';
import type { ProblemStyle } from '../plugins/problem-reply.ts';
import type { Config } from '../settings/read-config.ts';
import { CONTRACT_MEMBER, type Mapping, type Variant } from './model/mapping.ts';
import type { Model } from './model/model.ts';
import { gegevensProblems } from './problems.ts';

const TEMPLATE = new URL('../../openapi/gegevens.yaml', import.meta.url);

const TEXTS: Readonly<Record<Variant, { readonly title: string; readonly subject: string }>> = {
  shv: { title: 'Gegevensuitwisseling schuldhulptrajecten (SHV)', subject: 'gegevens over schuldhulptrajecten' },
  vs: { title: 'Gegevensuitwisseling vroegsignalen (VS)', subject: 'gegevens over vroegsignalen' },
};

/** The contract of one variant: the template with the variant's own words, limits and exchange model. */
export function variantContract(variant: Variant, model: Model, maximum: number, config: Config): Contract<operations> {
  const { title, subject } = TEXTS[variant];
  const replacements: Replacement[] = [
    [['info', 'title'], () => title],
    [['info', 'description'], (text) => String(text).replace('gegevens', subject)],
    [['components', 'schemas', 'GegevensRequest', 'properties', 'pageSize', 'maximum'], () => maximum],
    [['components', 'schemas', 'GegevensRequest'], (schema) => withOrganisationMembers(schema, model.mapping)],
    [['components', 'schemas', 'Gegevens'], () => embedded(model.schema)],
    [['paths', '/gegevens', 'post', 'responses', '200', 'content', 'application/json', 'examples'], () => undefined],
    [
      ['components', 'securitySchemes', 'oauth2', 'flows', 'clientCredentials', 'scopes', 'read'],
      () => `Ophalen van ${subject}`,
    ],
  ];
  const { oauthIssuer } = config.tokens;
  if (oauthIssuer !== undefined) {
    const token = ['components', 'securitySchemes', 'oauth2', 'flows', 'clientCredentials', 'tokenUrl'];
    replacements.push([token, () => `${oauthIssuer}/token`]);
  }
  let document: JsonObject = { ...readOpenapi(TEMPLATE) };
  for (const [path, change] of replacements) document = replaced(document, path, change);
  assertDocument(document);
  return createContract<operations>(document);
}

type Replacement = readonly [path: readonly string[], change: (value: unknown) => unknown];

/** A copy with one value changed; `undefined` removes the member. @throws {TypeError} when the template has no such path */
function replaced(
  object: JsonObject,
  [step, ...rest]: readonly string[],
  change: (value: unknown) => unknown,
): JsonObject {
  if (step === undefined || !(step in object)) throw new TypeError(`the template of the contract has no ${step}`);
  const child = object[step];
  if (rest.length > 0 && !isRecord(child)) throw new TypeError(`the template of the contract has nothing in ${step}`);
  const value = rest.length > 0 && isRecord(child) ? replaced(child, rest, change) : change(child);
  const { [step]: _old, ...others } = object;
  return value === undefined ? others : { ...object, [step]: value };
}

/** The request with the member for the organisation under each name that the model defines, of which only one is allowed. */
function withOrganisationMembers(schema: unknown, { organisatieLeden }: Mapping): unknown {
  if (!isRecord(schema) || !isRecord(schema.properties))
    throw new TypeError('the template has no members of the request');
  const { [CONTRACT_MEMBER]: member, ...others } = schema.properties;
  const properties = { ...Object.fromEntries(organisatieLeden.map((lid) => [lid, member])), ...others };
  if (organisatieLeden.length === 1 && organisatieLeden[0] === CONTRACT_MEMBER) return schema;
  return {
    ...schema,
    properties,
    ...(organisatieLeden.length > 1
      ? {
          not: { properties: Object.fromEntries(organisatieLeden.map((lid) => [lid, {}])), required: organisatieLeden },
        }
      : {}),
  };
}

/** The model as a part of the document, with its references adapted. */
function embedded(schema: JsonObject): unknown {
  const { $schema: _dialect, $id: _id, ...rest } = schema;
  return JSON.parse(JSON.stringify(rest), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' && value.startsWith('#/')
      ? `#/components/schemas/Gegevens${value.slice(1)}`
      : value,
  );
}

function assertDocument(document: JsonObject): asserts document is JsonObject & OpenapiDocument {
  if (!isRecord(document.info) || !isRecord(document.paths)) throw new TypeError('the contract is no OpenAPI document');
}

/** Problems of the platform for which this contract has an error of the FSC standard. */
const CODES: Readonly<Record<string, FscCode>> = {
  'not-found': 'ERROR_CODE_SERVICE_NOT_FOUND',
  'method-not-allowed': 'ERROR_CODE_METHOD_UNSUPPORTED',
  unavailable: 'ERROR_CODE_SERVICE_UNREACHABLE',
};

/**
 * The errors of area A: those of the FSC standard in its shape, with their code in a header too; the others as plain problem
 * documents.
 * @see FSC Core 1.1, "Error handling"
 */
export const fscStyle: ProblemStyle = {
  translate: (problem) => {
    const fsc = problem.fsc ?? CODES[problem.kind.slug];
    if (fsc === undefined) return problem;
    // The contract has no 503; 502 says that the service cannot be reached.
    const kind = problem.kind.status === 503 ? gegevensProblems.dienstOnbereikbaar : problem.kind;
    return new Problem(kind, {
      detail: problem.detail,
      headers: { ...problem.headers, 'fsc-error-code': fsc },
      fsc,
      cause: problem.cause,
    });
  },
  body: ({ fsc }, plain) => {
    const { type, title, status, detail, instance } = plain;
    const common = { title, status, ...(detail === undefined ? {} : { detail }) };
    if (fsc === undefined) return { type, ...common, instance };
    // Only a wrong method is a fault on the caller's side.
    const domain = fsc === 'ERROR_CODE_METHOD_UNSUPPORTED' ? 'ERROR_DOMAIN_OUTWAY' : 'ERROR_DOMAIN_INWAY';
    // The FSC standard has `message`, the published contract of this interface `title`.
    return { code: fsc, domain, message: detail ?? title, ...common };
  },
};
