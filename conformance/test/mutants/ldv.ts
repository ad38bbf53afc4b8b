/** Mistakes that an intake of log lines can make. */
import type { Answer, Mutation, Request } from '../proxy.ts';
import { isJson, type Json, list, OVER_HTTP } from './breaking.ts';
import type { Mutant } from './mutant.ts';

type LdvMutant = Mutant<Mutation>;
type Is = (request: Request) => boolean;

/** A token with every right, for the run with the mutant. */
export const keys = { all: '' };

const isProtobuf: Is = ({ headers }) => headers['content-type'] === 'application/x-protobuf';
const isPlain: Is = (request) => !isProtobuf(request) && request.method === 'POST';
/** The text of an uncompressed JSON request. */
const saying =
  (pattern: RegExp): Is =>
  (request) =>
    isPlain(request) && pattern.test(request.body.toString());
const body = (at: Answer, json: Json): void => {
  Object.assign(at, { status: 200, json });
  at.headers['content-type'] = 'application/json';
};
const answering = (is: Is, change: (answer: Answer, request: Request) => void): Mutation => ({
  answer: (answer, request) => {
    if (is(request)) change(answer, request);
  },
});
/** Accepts matching lines that should be refused. */
const taking = (is: Is): Mutation => answering(is, (answer) => body(answer, {}));
/** Refuses one line of a valid request. */
const refusing = (is: Is): Mutation =>
  answering(is, (answer) => body(answer, { partialSuccess: { rejectedSpans: '1', errorMessage: 'geweigerd' } }));
const giving = (is: Is, from: number, to: number): Mutation =>
  answering(is, (answer) => {
    if (answer.status === from) answer.status = to;
  });
const allowing = (is: Is): Mutation => ({
  forward: (request) => (is(request) ? { headers: { authorization: `Bearer ${keys.all}` } } : undefined),
});
const partial = (change: (partialSuccess: Json) => void): Mutation =>
  answering(isPlain, ({ json }) => {
    if (isJson(json?.partialSuccess)) change(json.partialSuccess);
  });
/** Matches JSON requests with such a line. */
const withLine =
  (is: (line: Json) => boolean): Is =>
  (request) =>
    isPlain(request) && linesIn(request).some(is);

export const LDV_MUTANTS: readonly LdvMutant[] = [
  { kills: 'L-OTLP-01', what: 'lines are accepted without confirmation (202)', mutation: giving(isPlain, 200, 202) },
  {
    kills: 'L-OTLP-02',
    what: 'protobuf is answered in JSON',
    mutation: answering(isProtobuf, (answer) => {
      if (answer.status === 200) body(answer, {});
    }),
  },
  {
    kills: 'L-OTLP-03',
    what: 'JSON is answered as plain text',
    mutation: answering(
      isPlain,
      ({ status, headers }) => void (status === 200 && Object.assign(headers, { 'content-type': 'text/json' })),
    ),
  },
  {
    kills: 'L-OTLP-04',
    what: 'partial success is a list',
    mutation: answering(isPlain, ({ status, json }) => {
      if (status === 200) Object.assign(json ?? {}, { partialSuccess: json?.partialSuccess ?? [] });
    }),
  },
  {
    kills: 'L-OTLP-05',
    what: 'gzip is refused',
    mutation: giving(({ headers }) => headers['content-encoding'] === 'gzip', 200, 415),
  },
  {
    kills: 'L-OTLP-06',
    what: 'a request without lines is refused',
    mutation: giving(saying(/^\{("resourceSpans":\[\])?\}$/), 200, 400),
  },
  { kills: 'L-OTLP-07', what: 'unknown fields are refused', mutation: giving(saying(/onbekend/), 200, 400) },
  {
    kills: 'L-OTLP-08',
    what: 'unknown fields in protobuf are refused',
    mutation: giving((request) => isProtobuf(request) && request.body.includes('onbekend'), 200, 400),
  },
  { kills: 'L-OTLP-09', what: 'upper case is refused', mutation: refusing(saying(/"traceId":"AB/)) },
  { kills: 'L-OTLP-10', what: 'a numeric time is refused', mutation: refusing(saying(/UnixNano":\d/)) },
  { kills: 'L-OTLP-11', what: 'a list value is refused', mutation: giving(saying(/arrayValue/), 200, 400) },
  {
    kills: 'L-LINE-03',
    what: 'the type must be from a list',
    mutation: refusing(saying(/register\.example\/pseudoniem/)),
  },
  { kills: 'L-LINE-04', what: 'an error status is refused', mutation: refusing(saying(/"code":2/)) },
  { kills: 'L-LINE-05', what: 'child lines are refused', mutation: refusing(saying(/"parentSpanId".*"parentSpanId"/)) },
  {
    kills: 'L-LINE-06',
    what: 'a calling application is refused',
    mutation: refusing(saying(/foreign_operation\.processor/)),
  },
  {
    kills: 'L-LINE-07',
    what: 'a resource is required',
    mutation: refusing(saying(/^\{"resourceSpans":\[\{"scopeSpans":\[\{"spans":\[\{(?!.*onbekend)/)),
  },
  { kills: 'L-LINE-08', what: 'an all-zero id is accepted', mutation: taking(saying(/"traceId":"0{32}"/)) },
  {
    kills: 'L-LINE-09',
    what: 'a reversed time span is accepted',
    mutation: taking(withLine((line) => timeOf(line, 'end') < timeOf(line, 'start') && !isAhead(line))),
  },
  { kills: 'L-LINE-10', what: 'a future time is accepted', mutation: taking(withLine(isAhead)) },
  { kills: 'L-LINE-11', what: 'an all-zero parent is used', mutation: refusing(saying(/"parentSpanId":"0{16}"/)) },
  {
    kills: 'L-LINE-12',
    what: 'a repeated line is refused',
    mutation: answering(isPlain, (answer, { body: sent }) => {
      if (repeated.has(sent.toString()))
        body(answer, { partialSuccess: { rejectedSpans: '1', errorMessage: 'dubbel' } });
      if (sent.length > 100) repeated.add(sent.toString());
    }),
  },
  {
    kills: 'L-ANS-01',
    what: 'only one refused line is counted',
    mutation: partial((partialSuccess) => Object.assign(partialSuccess, { rejectedSpans: '1' })),
  },
  {
    kills: 'L-ANS-02',
    what: 'a protobuf answer omits the refused lines',
    mutation: answering(isProtobuf, (answer) => void (answer.status === 200 && Object.assign(answer, { body: '' }))),
  },
  {
    kills: 'L-ANS-03',
    what: 'no reason',
    mutation: partial((partialSuccess) => Object.assign(partialSuccess, { errorMessage: '' })),
  },
  { kills: 'L-ANS-04', what: 'unreadable bodies get 422', mutation: giving(isPlain, 400, 422) },
  { kills: 'L-ANS-05', what: 'truncated protobuf is accepted', mutation: giving(isProtobuf, 400, 200) },
  {
    kills: 'L-ANS-06',
    what: 'errors are problems',
    mutation: answering(isPlain, (answer) => {
      if (answer.status !== 401) return;
      answer.headers['content-type'] = 'application/problem+json';
    }),
  },
  {
    kills: 'L-ANS-07',
    what: 'no message',
    mutation: answering(
      isPlain,
      ({ status, json }) => void (status === 400 && Object.assign(json ?? {}, { message: '' })),
    ),
  },
  { kills: 'L-ANS-08', what: 'too large a body gets 400', mutation: giving(() => true, 413, 400) },
  { kills: 'L-ANS-09', what: 'another media type gets 400', mutation: giving(() => true, 415, 400) },
  { kills: 'L-ANS-10', what: 'a missing token gets 403', mutation: giving(() => true, 401, 403) },
  {
    kills: 'L-ANS-11',
    what: 'signatures are not checked',
    mutation: allowing(({ headers }) => /(A{8}|B{8})$/.test(headers.authorization ?? '')),
  },
  {
    kills: 'L-ANS-12',
    what: 'no Allow',
    mutation: answering(
      ({ method }) => method === 'GET',
      ({ headers }) => void delete headers.allow,
    ),
  },
  {
    kills: 'L-ANS-13',
    what: 'the number of refused lines is a JSON number',
    mutation: partial((partialSuccess) =>
      Object.assign(partialSuccess, { rejectedSpans: Number(partialSuccess.rejectedSpans) }),
    ),
  },
  {
    kills: 'L-ANS-14',
    what: 'too busy, without saying for how long',
    mutation: answering(saying(/pseudoniem/), (answer) => {
      answer.status = 503;
      delete answer.headers['retry-after'];
    }),
  },
  {
    kills: 'L-ANS-16',
    what: 'no challenge',
    mutation: answering(
      () => true,
      ({ headers }) => void delete headers['www-authenticate'],
    ),
  },
  { kills: 'L-ANS-17', what: 'no TLS', mutation: OVER_HTTP },
];

const repeated = new Set<string>();

function linesIn({ body: sent }: Request): Json[] {
  try {
    const whole: unknown = JSON.parse(sent.toString());
    const scopes = list(isJson(whole) ? whole : {}, 'resourceSpans').flatMap((one) => list(one, 'scopeSpans'));
    return scopes.flatMap((one) => list(one, 'spans'));
  } catch {
    return [];
  }
}
const timeOf = (line: Json, name: 'start' | 'end'): bigint => BigInt(String(line[`${name}TimeUnixNano`] ?? 0));
function isAhead(line: Json): boolean {
  return timeOf(line, 'start') > BigInt(Date.now()) * 1_000_000n + 86_400_000_000_000n;
}
