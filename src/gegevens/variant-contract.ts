import type { operations } from '../contracts/gegevens.ts';
import { CONTRACT_MEMBER, type Mapping, type Variant } from '../lib/exchange-model/mapping.ts';
import type { Model } from '../lib/exchange-model/model.ts';
import { isRecord, type JsonObject, pointerSteps, toPointer, valueAt, withValueAt } from '../lib/json/json-value.ts';
import { type OpenapiDocument, readOpenapi, readValidation } from '../lib/openapi-document.ts';
import { type Contract, createContract } from '../plugins/contract.ts';
import type { Config } from '../settings/read-config.ts';

const TEMPLATE = new URL('../../openapi/gegevens.yaml', import.meta.url);

const TEXTS: Readonly<Record<Variant, { readonly title: string; readonly subject: string }>> = {
  shv: { title: 'Gegevensuitwisseling schuldhulptrajecten (SHV)', subject: 'gegevens over schuldhulptrajecten' },
  vs: { title: 'Gegevensuitwisseling vroegsignalen (VS)', subject: 'gegevens over vroegsignalen' },
};

/** The contract of one variant: the template with the variant's own words, limits and exchange model. */
export function variantContract(variant: Variant, model: Model, maximum: number, config: Config): Contract<operations> {
  const fill = (template: OpenapiDocument): OpenapiDocument => filledIn(template, variant, model, maximum, config);
  return createContract<operations>(fill(readOpenapi(TEMPLATE)), fill(readValidation(TEMPLATE)));
}

function filledIn(
  template: OpenapiDocument,
  variant: Variant,
  model: Model,
  maximum: number,
  config: Config,
): OpenapiDocument {
  const { title, subject } = TEXTS[variant];
  const request = ['components', 'schemas', 'GegevensRequest'];
  const flow = ['components', 'securitySchemes', 'oauth2', 'flows', 'clientCredentials'];
  const { oauthIssuer } = config.tokens;
  const replacements: readonly (readonly [path: readonly string[], value: unknown])[] = [
    [['info', 'title'], title],
    [['info', 'description'], template.info.description?.replace('gegevens', subject)],
    [['components', 'schemas'], { ...Object(valueAt(template, ['components', 'schemas'])), ...embedded(model.schema) }],
    [request, withOrganisationMembers(valueAt(template, request), model.mapping)],
    [[...request, 'properties', 'pageSize', 'maximum'], maximum],
    [['paths', '/gegevens', 'post', 'responses', '200', 'content', 'application/json', 'examples'], undefined],
    [[...flow, 'scopes', 'read'], `Ophalen van ${subject}`],
    ...(oauthIssuer === undefined ? [] : [[[...flow, 'tokenUrl'], `${oauthIssuer}/token`] as const]),
  ];
  let document: JsonObject = { ...template };
  for (const [path, value] of replacements) {
    if (valueAt(template, path) === undefined) throw new TypeError(`the template has no ${path.join(' ')}`);
    document = withValueAt(document, path, value);
  }
  document = JSON.parse(JSON.stringify(document));
  assertDocument(document);
  return document;
}

/** The request with the member for the organisation under each name that the model defines; only one may be used. */
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

/** The model as schemas of the document. Its definitions stand beside it: client generators follow no reference into a schema. */
function embedded(schema: JsonObject): JsonObject {
  const { $schema: _dialect, $id: _id, $defs: definitions, ...model } = schema;
  const defined = Object.entries(isRecord(definitions) ? definitions : {}).map(([name, one]) => [nameOf(name), one]);
  return JSON.parse(JSON.stringify({ ...Object.fromEntries(defined), Gegevens: model }), (key, value: unknown) => {
    if (key !== '$ref' || typeof value !== 'string' || !value.startsWith('#/')) return value;
    const [defs, name, ...rest] = pointerSteps(value.slice(1));
    const steps =
      defs === '$defs' && name !== undefined ? [nameOf(name), ...rest] : ['Gegevens', ...pointerSteps(value.slice(1))];
    return `#/components/schemas${toPointer(steps)}`;
  });
}

/** The name of a definition of the model in the document: `Gegevens.datum`. */
function nameOf(definition: string): string {
  return `Gegevens.${definition.replaceAll(/[^\w-]/g, '_')}`;
}

function assertDocument(document: JsonObject): asserts document is JsonObject & OpenapiDocument {
  if (!isRecord(document.info) || !isRecord(document.paths)) throw new TypeError('the contract is no OpenAPI document');
}
