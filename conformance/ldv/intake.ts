import { isRecord } from '../../src/lib/json/json-value.ts';
import { MEDIA_TYPES, requestOf, saidIn, text } from './otlp.ts';
import { ldv, otlp } from './sources.ts';
import { id, ldvChapter } from './subject.ts';

export const INTAKE = ldvChapter('L-OTLP', ['Aannemen over OTLP', 'Intake over OTLP'], {
  'L-OTLP-01': {
    must: ldv('Component: Logboek, gedrag', 'Het Logboek MOET het wegschrijven van elke logregel bevestigen'),
    nl: 'Een logregel in JSON wordt bevestigd',
    en: 'A log line in JSON is confirmed',
    needs: [],
    test: async (intake) => {
      const { status } = await intake.send([intake.line()]);
      if (status !== 415) return intake.taken([intake.line()]);
      const failed = await intake.taken([intake.line()], { form: 'protobuf' });
      return failed ?? { skipped: 'only protobuf is offered, and these cases write JSON' };
    },
  },
  'L-OTLP-02': {
    must: otlp('Binary Protobuf Encoding', 'set "Content-Type: application/x-protobuf" request and response headers'),
    nl: 'Een logregel in protobuf wordt bevestigd, in protobuf',
    en: 'A log line in protobuf is confirmed, in protobuf',
    test: async (intake) => {
      const { status } = await intake.send([], { form: 'protobuf', body: Buffer.alloc(0) });
      if (status === 415) return { skipped: 'protobuf is not offered' };
      const { headers } = await intake.send([intake.line()], { form: 'protobuf' });
      if (headers['content-type'] !== MEDIA_TYPES.protobuf)
        return `content type ${headers['content-type'] ?? '(none)'}`;
      return intake.taken([intake.line()], { form: 'protobuf' });
    },
  },
  'L-OTLP-03': {
    must: otlp(
      'OTLP/HTTP Response',
      'The server MUST use the same "Content-Type" in the response as it received in the request',
    ),
    nl: 'Een verzoek in JSON krijgt een antwoord in JSON',
    en: 'A request in JSON gets an answer in JSON',
    test: async (intake) => {
      const { headers } = await intake.send([intake.line()]);
      const type = headers['content-type'] ?? '(none)';
      return type.split(';')[0]?.trim() === MEDIA_TYPES.json ? undefined : `content type ${type}`;
    },
  },
  'L-OTLP-04': {
    must: otlp(
      'Full Success; trace_service.proto, ExportTracePartialSuccess',
      'MUST leave the `partial_success` field unset … A `partial_success` message with an empty value is equivalent to it not being set',
    ),
    nl: 'Is alles vastgelegd, dan heeft het antwoord geen `partial_success`, of een lege of een met alleen een waarschuwing',
    en: 'When all lines are stored, the answer has no `partial_success`, or one that is empty or only a warning',
    test: async (intake) => {
      const at = await intake.send([intake.line()]);
      const { partialSuccess } = isRecord(at.json) ? at.json : {};
      // In JSON, null means unset.
      if (partialSuccess === undefined || partialSuccess === null) return undefined;
      if (!isRecord(partialSuccess)) return 'its `partialSuccess` is not a message';
      const rejected = saidIn(at)?.rejected;
      return rejected === 0 ? undefined : `it refuses ${rejected} lines`;
    },
  },
  'L-OTLP-05': {
    must: otlp(
      'Protocol Details',
      'All server components MUST support the following transport compression options … Gzip compression',
    ),
    nl: 'Een body in gzip wordt aangenomen',
    en: 'A gzip-compressed body is accepted',
    test: (intake) => intake.taken([intake.line()], { gzip: true }),
  },
  'L-OTLP-06': {
    should: otlp('Full Success', 'If the server receives an empty request … the server SHOULD respond with success'),
    nl: 'Een verzoek zonder regels slaagt',
    en: 'A request without lines succeeds',
    test: async (intake) =>
      (await intake.taken([], { body: {} })) ?? (await intake.taken([], { body: { resourceSpans: [] } })),
  },
  'L-OTLP-07': {
    must: otlp('JSON Protobuf Encoding', 'OTLP/JSON receivers MUST ignore message fields with unknown names'),
    nl: 'Onbekende velden in JSON worden genegeerd',
    en: 'Unknown fields in JSON are ignored',
    test: (intake) => {
      const unknown = { onbekend: { diep: [1] } };
      const spans = [{ ...intake.line(), ...unknown }];
      const body = { resourceSpans: [{ scopeSpans: [{ spans, ...unknown }], ...unknown }], ...unknown };
      return intake.taken(spans, { body });
    },
  },
  'L-OTLP-08': {
    must: otlp('JSON Protobuf Encoding', 'This aligns with the behavior of the Binary Protobuf unmarshaler'),
    nl: 'Onbekende velden in protobuf worden genegeerd',
    en: 'Unknown fields in protobuf are ignored',
    needs: ['L-OTLP-02'],
    test: (intake) => intake.taken([intake.line({ unknownField: 'onbekend' })], { form: 'protobuf' }),
  },
  'L-OTLP-09': {
    must: otlp('JSON Protobuf Encoding', '`traceId` and `spanId` … case-insensitive hex-encoded strings'),
    nl: '`traceId` en `spanId` mogen in hoofdletters',
    en: '`traceId` and `spanId` may be in upper case',
    test: (intake) =>
      intake.taken([
        intake.line({ traceId: `AB${id(16).slice(2).toUpperCase()}`, spanId: `CD${id(8).slice(2).toUpperCase()}` }),
      ]),
  },
  'L-OTLP-10': {
    must: otlp(
      'JSON Protobuf Encoding',
      '64-bit integer numbers … either numbers or strings are accepted when decoding',
    ),
    nl: 'Een tijdstip mag een getal of een tekst zijn',
    en: 'A time may be a number or a string',
    test: (intake) => {
      const body = requestOf([intake.line()], 'json').toString();
      return intake.taken([], { body: body.replaceAll(/(UnixNano":)"(\d+)"/g, '$1$2') });
    },
  },
  'L-OTLP-11': {
    should: otlp('common.proto, AnyValue', 'AnyValue is used to represent any type of attribute value'),
    nl: 'Honderd regels met attributen van elk type worden in één verzoek aangenomen',
    en: 'A hundred lines with attributes of every type are accepted in one request',
    test: (intake) => {
      const values = [
        { boolValue: true },
        { intValue: '9007199254740993' },
        { doubleValue: 0.5 },
        { bytesValue: 'AAE=' },
        { arrayValue: { values: [{ stringValue: 'a' }] } },
        { kvlistValue: { values: [text('a', 'b')] } },
      ].map((value, i) => ({ key: `conformance.${i}`, value }));
      const lines = Array.from({ length: 100 }, () => {
        const line = intake.line();
        return { ...line, attributes: [...(Array.isArray(line.attributes) ? line.attributes : []), ...values] };
      });
      return intake.taken(lines);
    },
  },
});
