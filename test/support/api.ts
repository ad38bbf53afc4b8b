import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { expect } from 'vitest';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { type OpenapiDocument, readValidation } from '../../src/lib/openapi-document.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body when it is JSON of any kind, else `undefined`. */
  readonly json: unknown;
}

export interface Call {
  readonly headers?: Record<string, string>;
  /** A string is sent unchanged; anything else as JSON. */
  readonly body?: unknown;
}

/** Calls one mount and checks every answer against its contract: status, media type, body, headers. */
export interface Api {
  /** @param path with query, relative to the mount: `/feed?limit=1` */
  call(method: string, path: string, call?: Call): Promise<Answer>;
}

/**
 * @param mount full address of the mount
 * @param contract file in `openapi/`, applied with all its rules, or the document as served
 */
export function createApi(mount: string, contract: string | OpenapiDocument): Api {
  const document =
    typeof contract === 'string' ? readValidation(new URL(`../../openapi/${contract}`, import.meta.url)) : contract;
  const check = createAnswerCheck(document);
  return {
    async call(method, path, { headers = {}, body } = {}) {
      const response = await fetch(mount + path, {
        method,
        redirect: 'manual',
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '');
      const answer = {
        status: response.status,
        headers: response.headers,
        text,
        json: isJson && text !== '' ? (JSON.parse(text) as unknown) : undefined,
      };
      check(method, path, answer);
      return answer;
    },
  };
}

const compiled = new WeakMap<OpenapiDocument, Ajv2020>();

/** A document's schemas, each compiled once. Another test checks that the contracts are OpenAPI. */
function schemasOf(document: OpenapiDocument): Ajv2020 {
  const known = compiled.get(document);
  if (known !== undefined) return known;
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  addFormatsModule.default(ajv);
  ajv.addSchema(document, 'doc:');
  compiled.set(document, ajv);
  return ajv;
}

/** Checks answers against an OpenAPI document; an answer at an unknown address must be a problem document. */
export function createAnswerCheck(document: OpenapiDocument): (method: string, path: string, answer: Answer) => void {
  const ajv = schemasOf(document);
  return (method, path, answer) => {
    const pathname = path.split('?', 1)[0] ?? path;
    const template = Object.keys(document.paths).find((candidate) =>
      new RegExp(`^${candidate.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname === '' ? '/' : pathname),
    );
    const item = template === undefined ? undefined : document.paths[template];
    const asked = method === 'HEAD' ? 'get' : method.toLowerCase();
    if (template === undefined || item?.[asked] === undefined) {
      if (answer.status >= 400) expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      return;
    }
    const place = ['paths', template, asked, 'responses'];
    const responses = follow(document, place);
    const key = [String(answer.status), 'default'].find(
      (status) => isRecord(responses.value) && status in responses.value,
    );
    if (key === undefined) throw new Error(`${method} ${template}: status ${answer.status} is not in the contract`);
    const response = follow(document, [...responses.place, key]);
    if (!isRecord(response.value)) throw new Error(`${template} ${key}: no response object`);
    checkHeaders(response.value, answer);
    const { content } = response.value;
    if (method === 'HEAD' || !isRecord(content)) {
      expect(answer.text, `${method} ${template} ${key} has no body in the contract`).toBe('');
      return;
    }
    const type = answer.headers.get('content-type')?.split(';', 1)[0] ?? '';
    if (!(type in content)) throw new Error(`${method} ${template} ${key}: ${type} is not in the contract`);
    if (answer.json === undefined) return;
    const pointer = [...response.place, 'content', type, 'schema'].map(encodeStep).join('/');
    const validate = ajv.getSchema(`doc:#/${pointer}`);
    if (validate === undefined) throw new Error(`${template} ${key}: no schema`);
    validate(answer.json);
    expect(validate.errors ?? [], `${method} ${template} ${key}`).toEqual([]);
  };
}

function checkHeaders(response: Record<string, unknown>, answer: Answer): void {
  for (const [name, header] of Object.entries(isRecord(response.headers) ? response.headers : {})) {
    if (isRecord(header) && header.required === true) {
      expect(answer.headers.get(name), `header ${name} on ${answer.status}`).not.toBeNull();
    }
  }
}

/** The value at a location, and its real location once references are followed. */
function follow(document: unknown, place: readonly string[]): { value: unknown; place: readonly string[] } {
  let value: unknown = document;
  for (const step of place) value = isRecord(value) ? value[step] : undefined;
  const reference = isRecord(value) ? value.$ref : undefined;
  if (typeof reference !== 'string') return { value, place };
  const steps = reference.replace(/^#\//, '').split('/');
  return follow(
    document,
    steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')),
  );
}

function encodeStep(step: string): string {
  return encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'));
}
