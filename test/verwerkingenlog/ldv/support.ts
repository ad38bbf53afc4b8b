import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import {
  type ExportResponse,
  MEDIA_TYPES,
  type OtlpForm,
  type RpcStatus,
} from '../../../src/verwerkingenlog/ldv/otlp.ts';
import { type AttributeValue, DPL, type Span } from '../../../src/verwerkingenlog/ldv/span.ts';
import { type LogServer, newPerson, startLog } from '../support.ts';
import { decodeResponse, decodeStatus, encodeRequest } from './otlp-forms.ts';

export const FORMS = ['protobuf', 'json'] as const;
export const ACTIVITY = '5f0bef4c-f66f-4311-84a5-19e8bf359eaf';
export const ACTIVITY_URL = `https://register.example/${ACTIVITY}`;
export const START = 1_775_000_000_123_456_789n;

export interface Sending {
  readonly form?: OtlpForm;
  readonly gzip?: boolean;
  readonly scopes?: readonly string[];
  readonly subject?: string;
  readonly headers?: Record<string, string>;
  /** The raw body, instead of spans. */
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

export interface Sent {
  readonly status: number;
  readonly type: string | null;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** Members of a 200 answer. */
  readonly answer: ExportResponse | undefined;
  /** Members of an error. */
  readonly error: RpcStatus | undefined;
}

export interface LdvServer extends LogServer {
  readonly traces: string;
  send(spans: readonly Span[], how?: Sending): Promise<Sent>;
}

/** A log that accepts lines of activities missing from its register, unless the test decides otherwise. */
export async function startLdv(options: Parameters<typeof startLog>[0] = {}): Promise<LdvServer> {
  const log = await startLog({ ...options, env: { LDV_UNKNOWN_ACTIVITY: 'normaal', ...options.env } });
  const traces = `${log.server.url}/ldv/v1/traces`;
  return {
    ...log,
    traces,
    async send(spans, { form = 'protobuf', gzip = false, scopes = ['create:normal'], subject, headers, body } = {}) {
      const plain = body ?? encodeRequest(spans, form);
      const sent = gzip ? gzipSync(plain) : plain;
      const response = await fetch(traces, {
        method: 'POST',
        headers: {
          'content-type': MEDIA_TYPES[form],
          ...(gzip ? { 'content-encoding': 'gzip' } : {}),
          ...(await log.tokens.bearer(scopes, subject === undefined ? {} : { subject })),
          ...headers,
        },
        body: typeof sent === 'string' ? sent : Uint8Array.from(sent),
      });
      const bytes = Buffer.from(await response.arrayBuffer());
      const type = response.headers.get('content-type');
      const inForm = type?.startsWith(MEDIA_TYPES.protobuf) ? 'protobuf' : 'json';
      return {
        status: response.status,
        type,
        headers: response.headers,
        bytes,
        answer: response.status === 200 ? decodeResponse(bytes, inForm) : undefined,
        error: response.status === 200 ? undefined : decodeStatus(bytes, inForm),
      };
    },
  };
}

export function newId(bytes: 8 | 16): string {
  return randomBytes(bytes).toString('hex');
}

/** A line about one person; `undefined` attributes are omitted. */
export function line(
  wishes: Partial<Omit<Span, 'attributes' | 'resource'>> & {
    attributes?: Record<string, AttributeValue | undefined>;
    resource?: Record<string, AttributeValue>;
  } = {},
): Span {
  const { attributes, resource, ...rest } = wishes;
  const all: Record<string, AttributeValue | undefined> = {
    [DPL.activity]: ACTIVITY_URL,
    [DPL.subject]: newPerson(),
    [DPL.subjectType]: 'BSN',
    ...attributes,
  };
  return {
    traceId: newId(16),
    spanId: newId(8),
    name: 'Zoeken persoon',
    start: START,
    end: START + 1_000_000n,
    status: 'Ok',
    resource: new Map(Object.entries({ 'service.name': 'Balie', ...resource })),
    attributes: new Map(
      Object.entries(all).filter((entry): entry is [string, AttributeValue] => entry[1] !== undefined),
    ),
    ...rest,
  };
}

export function subjectIn(span: Span): string {
  return String(span.attributes.get(DPL.subject));
}

/** Adds the activity to the register. */
export async function register(log: LogServer, id: string, wishes: Record<string, unknown> = {}): Promise<void> {
  const body = {
    naam: 'Beoordelen aanvraag',
    verantwoordelijkeOrganisatie: '00000099000000001000',
    doel: 'Vaststellen of iemand hulp kan krijgen',
    grondslag: 'Publieke taak',
    ...wishes,
  };
  const answer = await log.call(['register:write'], 'PUT', `/verwerkingsactiviteiten/${id}`, body);
  if (answer.status > 201) throw new Error(`the register answered ${answer.status}: ${answer.text}`);
}
