import type { operations } from '../contracts/gegevens.ts';
import { CONTRACT_MEMBER, type Mapping, type Variant } from '../lib/exchange-model/mapping.ts';
import type { Model } from '../lib/exchange-model/model.ts';
import { isRecord, type JsonObject, pointerSteps, toPointer, valueAt, withValueAt } from '../lib/json/json-value.ts';
import { type OpenapiDocument, readOpenapi, readValidation } from '../lib/openapi-document.ts';
import { type Contract, createContract } from '../plugins/contract.ts';
import type { Config } from '../settings/read-config.ts';

const TEMPLATE = new URL('../../openapi/gegevens.yaml', import.meta.url);

const TEXTS = {
  shv: { title: 'Gegevensuitwisseling schuldhulptrajecten (SHV)', subject: 'gegevens over schuldhulptrajecten' },
  vs: { title: 'Gegevensuitwisseling vroegsignalen (VS)', subject: 'gegevens over vroegsignalen' },
} as const;

/** The contract of one variant: the template with the variant's own words, limits and exchange model. */
export function variantContract(variant: Variant, model: Model, maximum: number, config: Config): Contract<operations> {
  const { title, subject } = TEXTS[variant];
  const { oauthIssuer } = config.tokens;
  const schemas = ['components', 'schemas'];
  const request = [...schemas, 'GegevensRequest'];
  const flow = ['components', 'securitySchemes', 'oauth2', 'flows', 'clientCredentials'];
  const fill = (template: OpenapiDocument): OpenapiDocument => {
    const replacements: readonly (readonly [path: readonly string[], value: unknown])[] = [
      [['info', 'title'], title],
      [['info', 'description'], template.info.description?.replace('gegevens', subject)],
      [schemas, { ...Object(valueAt(template, schemas)), ...embedded(model.schema) }],
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
    // Without the members that are undefined.
    return JSON.parse(JSON.stringify(document));
  };
  return createContract<operations>(fill(readOpenapi(TEMPLATE)), fill(readValidation(TEMPLATE)));
}

/** The request with the member for the organisation under each name that the model defines; only one may be used. */
function withOrganisationMembers(schema: unknown, { organisatieLeden }: Mapping): unknown {
  if (!isRecord(schema) || !isRecord(schema.properties))
    throw new TypeError('the template has no members of the request');
  if (organisatieLeden.length === 1 && organisatieLeden[0] === CONTRACT_MEMBER) return schema;
  const { [CONTRACT_MEMBER]: member, ...others } = schema.properties;
  const each = (value: unknown) => Object.fromEntries(organisatieLeden.map((lid) => [lid, value]));
  const properties = { ...each(member), ...others };
  if (organisatieLeden.length === 1) return { ...schema, properties };
  return { ...schema, properties, not: { properties: each({}), required: organisatieLeden } };
}

/** The model as schemas of the document. Its definitions stand beside it: client generators follow no reference into a schema. */
function embedded(schema: JsonObject): JsonObject {
  const { $schema: _dialect, $id: _id, $defs: definitions, ...model } = schema;
  const defined = Object.entries(isRecord(definitions) ? definitions : {}).map(([name, one]) => [nameOf(name), one]);
  return JSON.parse(JSON.stringify({ ...Object.fromEntries(defined), Gegevens: model }), (key, value: unknown) => {
    if (key !== '$ref' || typeof value !== 'string' || !value.startsWith('#/')) return value;
    const path = pointerSteps(value.slice(1));
    const [defs, name, ...rest] = path;
    const steps = defs === '$defs' && name !== undefined ? [nameOf(name), ...rest] : ['Gegevens', ...path];
    return `#/components/schemas${toPointer(steps)}`;
  });
}

/** The name of a definition of the model in the document: `Gegevens.datum`. */
function nameOf(definition: string): string {
  return `Gegevens.${definition.replaceAll(/[^\w-]/g, '_')}`;
}
