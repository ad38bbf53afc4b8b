/** A contract as one readable page: its purpose, every operation, every schema. Without script; the texts are those of the contract. */
import { isRecord } from '../../lib/json/json-value.ts';
import { type DescribedInterface, type OpenapiDocument, resolve } from '../../lib/openapi-document.ts';
import { type Html, type HtmlValue, html, safeUrl, withCode } from '../../lib/template.ts';
import { htmlPage } from '../../plugins/pages.ts';
import { type Brand, dutyNav, iconLink } from '../brand.ts';
import { TRYOUT } from './swagger.ts';

type Members = Readonly<Record<string, unknown>>;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const PLACES: Readonly<Record<string, string>> = { path: 'in het pad', query: 'in de query', header: 'als kop' };

export function apiPage({ document, url, prefix }: DescribedInterface, brand: Brand): string {
  const { info, components = {} } = document;
  const contact = safeUrl(info.contact?.url);
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method] !== undefined).map((method) => ({ path, method, item })),
  );
  const schemas = listSchemas(components.schemas ?? {});
  const parts = reader(document, new Set(schemas.map(([name]) => name)));
  const described = operations.map(({ path, method, item }) => parts.operation(path, method, item));
  return htmlPage({
    title: `${info.title} ${info.version}`,
    head: iconLink(brand),
    footer: dutyNav(brand, { list: 'links', link: '' }),
    content: [
      html`<p><code>${url()}</code></p>
<ul class="links"><li><a href="${prefix}/openapi.json">Deze beschrijving als OpenAPI (JSON)</a></li><li><a href="${prefix}/docs${TRYOUT}">Uitproberen met Swagger UI</a></li>${contact && html`<li><a href="${contact}">Contact</a></li>`}</ul>`,
      markdown(info.description),
      html`<nav aria-label="Inhoud"><h2>Inhoud</h2><ul>${described.map(({ id, heading }) => html`<li><a href="#${id}">${heading}</a></li>`)}${schemas.length > 0 && html`<li><a href="#schemas">Gegevens</a></li>`}</ul></nav>`,
      html`<h2>Functies</h2>`,
      described.map(
        ({ id, heading, body }) =>
          html`<section aria-labelledby="${id}"><h3 id="${id}">${heading}</h3>${body}</section>`,
      ),
      schemas.length > 0 && html`<h2 id="schemas">Gegevens</h2>`,
      schemas.map(
        ([name, schema]) =>
          html`<section aria-labelledby="${anchorOf(name)}"><h3 id="${anchorOf(name)}"><code>${name}</code></h3>${parts.schema(schema)}</section>`,
      ),
    ],
  });
}

const anchorOf = (schema: string): string => `schema-${schema.replaceAll(/[^\w-]/g, '-')}`;

function listSchemas(schemas: Members, above = ''): [string, Members][] {
  return Object.entries(schemas).flatMap(([name, schema]) =>
    isRecord(schema)
      ? [[`${above}${name}`, schema] as [string, Members], ...listSchemas(Object(schema.$defs), `${above}${name}.`)]
      : [],
  );
}

const entriesOf = (value: unknown): [string, Members][] =>
  Object.entries(Object(value)).filter((entry): entry is [string, Members] => isRecord(entry[1]));

/** The parts of a contract as HTML. @param names schemas that the page has, to which references lead */
function reader(document: OpenapiDocument, names: ReadonlySet<string>) {
  const resolved = (value: unknown): Members => resolve(document, value);

  const reference = (address: string): Html => {
    const name = address.replace(/^#\/components\/schemas\//, '').replaceAll('/$defs/', '.');
    return names.has(name) ? html`<a href="#${anchorOf(name)}">${code(name)}</a>` : code(address);
  };

  const typeOf = (schema: Members): HtmlValue => {
    const { $ref, type, items, oneOf, anyOf, allOf } = schema;
    if (typeof $ref === 'string') return reference($ref);
    if (Array.isArray(schema.enum)) return ['een van ', listed(schema.enum.map(code))];
    if ('const' in schema) return code(schema.const);
    const choices = [oneOf, anyOf].flat().filter(isRecord);
    if (choices.length > 0) return joined(choices.map(typeOf), ' of ');
    if (Array.isArray(allOf) && type === undefined) {
      const named = allOf.filter(isRecord).filter((one) => typeof one.$ref === 'string');
      return named.length > 0 ? joined(named.map(typeOf), ' en ') : 'object';
    }
    const types = [type].flat().filter((one) => one !== undefined);
    const words = types.map((one): HtmlValue => {
      if (one !== 'array') return TYPES[String(one)] ?? String(one);
      return isRecord(items) ? ['lijst van ', typeOf(items)] : 'lijst';
    });
    return words.length > 0 ? joined(words, ' of ') : isRecord(schema.properties) ? 'object' : '';
  };

  /** Of an object, or of the objects of a list. */
  const properties = (schema: Members): HtmlValue => {
    const { items, required } = schema;
    const parts = [items, schema.allOf, schema.oneOf, schema.anyOf].flat().filter(isRecord);
    const mustHave: unknown[] = Array.isArray(required) ? required : [];
    const rows = entriesOf(schema.properties).map(([name, member]) =>
      row(name, mustHave.includes(name) ? 'verplicht' : 'mag ontbreken', member),
    );
    return [rows.length > 0 && html`<dl>${rows}</dl>`, parts.filter(({ $ref }) => $ref === undefined).map(properties)];
  };

  const row = (name: string, presence: string, schema: Members): Html =>
    html`<dt>${code(name)} ${presence}</dt><dd>${typeOf(schema)}${limitsOf(schema)}${markdown(schema.description)}${properties(schema)}</dd>`;

  const parameterRow = ({ name, required, description, schema, in: where }: Members): Html => {
    const place = PLACES[String(where)] ?? String(where);
    const presence = `${place}, ${required === true ? 'verplicht' : 'mag'}`;
    return row(String(name), presence, { ...resolved(schema), description });
  };

  const contents = ({ content }: Members): Html[] =>
    entriesOf(content).map(
      ([type, { schema }]) =>
        html`<dt>${code(type)}</dt><dd>${isRecord(schema) && [typeOf(schema), properties(schema)]}</dd>`,
    );

  const responseRow = ([status, given]: [string, Members]): Html => {
    const response = resolved(given);
    const headers = entriesOf(response.headers).map(([name]) => code(name));
    return html`<dt>${code(status === 'default' ? 'anders' : status)}</dt><dd>${markdown(response.description)}${headers.length > 0 && html`<p>Koppen: ${listed(headers)}</p>`}<dl>${contents(response)}</dl></dd>`;
  };

  return {
    operation(path: string, method: string, item: Members) {
      const operation = resolved(item[method]);
      const parameters = [item.parameters, operation.parameters].flat().filter(isRecord).map(resolved);
      const scopes = operation['x-scopes'];
      const body = operation.requestBody === undefined ? undefined : resolved(operation.requestBody);
      const access = Array.isArray(scopes)
        ? ['Toegang: een token met een van de scopes ', listed(scopes.map(code))]
        : 'Toegang: openbaar';
      return {
        id: String(operation.operationId),
        heading: html`<code>${method.toUpperCase()} ${path}</code> ${String(operation.summary ?? '')}`,
        body: html`${markdown(operation.description)}<p>${access}.</p>
${parameters.length > 0 && html`<h4>Parameters</h4><dl>${parameters.map(parameterRow)}</dl>`}
${body && html`<h4>Inhoud van het verzoek</h4>${markdown(body.description)}<dl>${contents(body)}</dl>`}
<h4>Antwoorden</h4><dl>${entriesOf(operation.responses).map(responseRow)}</dl>`,
      };
    },
    schema: (schema: Members): Html =>
      html`${markdown(schema.description)}<p>${typeOf(schema)}${limitsOf(schema)}</p>${properties(schema)}`,
  };
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'tekst',
  integer: 'geheel getal',
  number: 'getal',
  boolean: 'waar of onwaar',
  null: 'null',
};

const LIMITS: Readonly<Record<string, readonly [before: string, after: string]>> = {
  format: ['vorm', ''],
  pattern: ['patroon', ''],
  default: ['anders', ''],
  minLength: ['minstens', ' tekens'],
  maxLength: ['hoogstens', ' tekens'],
  minimum: ['minstens', ''],
  maximum: ['hoogstens', ''],
  minItems: ['minstens', ' stuks'],
  maxItems: ['hoogstens', ' stuks'],
};

function limitsOf(schema: Members): HtmlValue {
  return Object.entries(LIMITS).flatMap(([name, [before, after]]) =>
    schema[name] === undefined ? [] : [`, ${before} `, code(schema[name]), after],
  );
}

const code = (value: unknown): Html => html`<code>${typeof value === 'string' ? value : JSON.stringify(value)}</code>`;

const listed = (values: readonly HtmlValue[]): HtmlValue => joined(values, ', ');

function joined(values: readonly HtmlValue[], between: string): HtmlValue {
  return values.map((value, i) => (i === 0 ? value : [between, value]));
}

/** The Markdown of our contracts: paragraphs, lists, tables, bold words and code. */
function markdown(text: unknown): HtmlValue {
  if (typeof text !== 'string') return undefined;
  return text
    .trim()
    .split(/\n\s*\n/)
    .map((block) => {
      if (/^- /.test(block))
        return html`<ul>${block
          .slice(2)
          .split(/\n- /)
          .map((item) => html`<li>${inline(item)}</li>`)}</ul>`;
      if (/^\|/.test(block)) return table(block);
      // A list directly below a sentence.
      const [sentence = '', ...items] = block.split(/\n- /);
      return html`<p>${inline(sentence)}</p>${items.length > 0 && html`<ul>${items.map((item) => html`<li>${inline(item)}</li>`)}</ul>`}`;
    });
}

function table(block: string): Html {
  const [header = [], , ...rows] = block.split('\n').map((line) => line.split('|').slice(1, -1));
  const cells = (row: readonly string[], cell: (text: HtmlValue) => Html): Html[] =>
    row.map((one) => cell(inline(one.trim())));
  return html`<table><thead><tr>${cells(header, (text) => html`<th scope="col">${text}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${cells(row, (text) => html`<td>${text}</td>`)}</tr>`)}</tbody></table>`;
}

function inline(text: string): HtmlValue {
  return text.split('**').map((part, i) => (i % 2 === 0 ? withCode(part) : html`<strong>${withCode(part)}</strong>`));
}
