import { contract, extension, ldv, otlp } from './sources.ts';
import { DPL, id, ldvChapter, nanoseconds } from './subject.ts';

export const LINES = ldvChapter('L-LINE', ['Logregels', 'Log lines'], {
  'L-LINE-01': {
    open: ldv('attributes', 'De volgende velden zijn vereist in de namespace `core`: dpl.core.processing_activity_id'),
    nl: 'Wat er gebeurt met een regel over een persoon zonder verwerkingsactiviteit: die is vereist, maar nergens staat dat het logboek de regel weigert',
    en: 'What happens to a line about a person without a processing activity: it is required, but no text says that the logbook refuses the line',
    test: (intake) => intake.seen(intake.line({}, { [DPL.activity]: undefined })),
  },
  'L-LINE-02': {
    open: ldv(
      'Gedrag van Applicatie; attributes',
      'Een logregel kan naar 0 of 1 Betrokkenen verwijzen … vereist in de namespace `core` … dpl.core.data_subject_id',
    ),
    nl: 'Wat er gebeurt met een regel zonder betrokkene: het gedrag laat hem toe, de tabel noemt de betrokkene vereist',
    en: 'What happens to a line without a data subject: the behaviour allows it, the table requires the data subject',
    test: (intake) => intake.seen(intake.line({}, { [DPL.subject]: undefined, [DPL.subjectType]: undefined })),
  },
  'L-LINE-03': {
    must: ldv(
      'attributes',
      'Type … zoals BSN, personeelsnummer, of een URI naar een Register; versleutelde identificerende code',
    ),
    nl: 'Een pseudoniem met een URI als type wordt aangenomen',
    en: 'A pseudonym with a URI as its type is accepted',
    test: (intake) => {
      const pseudonym = Buffer.alloc(96, intake.subject.run).toString('base64');
      const attributes = { [DPL.subject]: pseudonym, [DPL.subjectType]: 'https://register.example/pseudoniem' };
      return intake.taken([intake.line({}, attributes)]);
    },
  },
  'L-LINE-04': {
    must: ldv('status', 'Unset, Ok, Error'),
    nl: 'Elke status wordt aangenomen, ook een fout, en ook een regel zonder status',
    en: 'Every status is accepted, including an error and none',
    test: (intake) =>
      intake.taken([{ code: 0 }, { code: 1 }, { code: 2 }, {}, undefined].map((status) => intake.line({ status }))),
  },
  'L-LINE-05': {
    must: ldv(
      'Loggen van Dataverwerkingen met persoonsdata',
      'voor elke Betrokkene een nieuwe actie met unieke `span_id` … als `parent_span_id`',
    ),
    nl: 'Een regel met daaronder een regel per betrokkene wordt aangenomen',
    en: 'A line with a child line for each data subject is accepted',
    test: (intake) => {
      const parent = intake.line();
      const child = () => intake.line({ traceId: parent.traceId, parentSpanId: parent.spanId });
      return intake.taken([parent, child(), child()]);
    },
  },
  'L-LINE-06': {
    must: ldv('attributes', 'dpl.core.foreign_operation.processor: Link naar externe applicatie'),
    nl: 'Een regel met de aanroepende applicatie wordt aangenomen',
    en: 'A line that names the calling application is accepted',
    test: (intake) => {
      const attributes = { 'dpl.core.foreign_operation.processor': 'https://conformance.example/app' };
      return intake.taken([intake.line({ parentSpanId: id(8) }, attributes)]);
    },
  },
  'L-LINE-07': {
    must: ldv('Interface', '`resource` … optioneel'),
    nl: 'Een regel zonder `resource` wordt aangenomen',
    en: 'A line without a `resource` is accepted',
    test: (intake) => {
      const spans = [intake.line()];
      const body = { resourceSpans: [{ scopeSpans: [{ spans }] }] };
      return intake.taken(spans, { body });
    },
  },
  'L-LINE-08': {
    should: otlp('trace.proto, Span', 'An ID with all zeroes OR of length other than 16 bytes is considered invalid'),
    nl: 'Een `traceId` of `spanId` met alleen nullen of een andere lengte wordt geweigerd',
    en: 'An all-zero `traceId` or `spanId`, or one of another length, is refused',
    test: async (intake) => {
      const wrong = [{ traceId: '0'.repeat(32) }, { spanId: '0'.repeat(16) }, { traceId: id(8) }, { spanId: id(16) }];
      for (const one of wrong) {
        const failed = await intake.refused(intake.line(one));
        if (failed !== undefined) return `${JSON.stringify(one)}: ${failed}`;
      }
      return undefined;
    },
  },
  'L-LINE-09': {
    should: otlp('trace.proto, Span', 'it is expected that end_time >= start_time'),
    nl: 'Een regel die eindigt voordat hij begint, wordt geweigerd',
    en: 'A line that ends before it begins is refused',
    test: (intake) => intake.refused(intake.line({ endTimeUnixNano: nanoseconds(120_000) })),
  },
  'L-LINE-10': {
    may: contract('info', 'Een regel die meer dan 24 uur in de toekomst ligt, wordt geweigerd'),
    nl: 'Een regel met een tijdstip van overmorgen wordt geweigerd',
    en: 'A line dated the day after tomorrow is refused',
    test: (intake) => {
      const [startTimeUnixNano, endTimeUnixNano] = [-172_800_000, -172_801_000].map(nanoseconds);
      return intake.refused(intake.line({ startTimeUnixNano, endTimeUnixNano }));
    },
  },
  'L-LINE-11': {
    may: contract('info', 'Een `parentSpanId` van nullen is geen ouder'),
    nl: 'Een `parentSpanId` met alleen nullen telt als geen',
    en: 'An all-zero `parentSpanId` counts as none',
    test: (intake) => intake.taken([intake.line({ parentSpanId: '0'.repeat(16) })]),
  },
  'L-LINE-12': {
    should: otlp('Duplicate Data', 'The client will typically choose to re-send such data to guarantee delivery'),
    nl: 'Dezelfde regel nog eens sturen slaagt',
    en: 'Sending the same line again succeeds',
    test: async (intake) => {
      const line = intake.line();
      return (await intake.taken([line])) ?? (await intake.taken([line]));
    },
  },
  'L-LINE-13': {
    open: ldv('span_id', 'Unieke identificerende code van Actie binnen de Dataverwerking'),
    nl: 'Wat er gebeurt met een andere regel met dezelfde `traceId` en `spanId`',
    en: 'What happens to a different line with the same `traceId` and `spanId`',
    test: async (intake) => {
      const line = intake.line();
      return (await intake.taken([line])) ?? (await intake.seen({ ...line, name: 'Een andere regel' }));
    },
  },
  'L-LINE-14': {
    open: ldv('start_time', 'in milliseconden sinds Epoch; OTLP: start_time_unix_nano'),
    nl: 'Wat er gebeurt met een tijdstip in milliseconden, zoals LDV voorschrijft; OTLP vereist nanoseconden',
    en: 'What happens to a time in milliseconds, as LDV prescribes; OTLP requires nanoseconds',
    test: (intake) => {
      const ms = String(Date.now());
      return intake.seen(intake.line({ startTimeUnixNano: ms, endTimeUnixNano: ms }));
    },
  },
  'L-LINE-15': {
    open: ldv(
      'Interface',
      '`span_id`, `parent_span_id` (1.0.0) … `operation_id`, `parent_operation_id` (eerdere tekst)',
    ),
    nl: 'Wat er gebeurt met een regel met `operationId`, de naam uit een eerdere tekst, in plaats van `spanId`',
    en: 'What happens to a line with `operationId`, the name in an earlier text, instead of `spanId`',
    test: (intake) => intake.seen(intake.line({ spanId: undefined, operationId: id(8) })),
  },
  'L-LINE-16': {
    open: ldv(
      'attributes',
      'dpl.core.foreign_operation.processor (1.0.0) … foreign_operation {trace_id, operation_id, entity} (eerdere tekst)',
    ),
    nl: 'Wat er gebeurt met de namen van `foreign_operation` uit een eerdere tekst',
    en: 'What happens to the names of `foreign_operation` from an earlier text',
    test: (intake) => {
      const attributes = {
        'dpl.core.foreign_operation.entity': 'https://conformance.example',
        'dpl.core.foreign_operation.trace_id': id(16),
      };
      return intake.seen(intake.line({}, attributes));
    },
  },
  'L-LINE-17': {
    open: ldv('attributes', 'De volgende velden zijn vereist … dpl.core.data_subject_id_type'),
    nl: 'Wat er gebeurt met een betrokkene zonder type',
    en: 'What happens to a data subject without a type',
    test: (intake) => intake.seen(intake.line({}, { [DPL.subjectType]: undefined })),
  },
  'L-LINE-18': {
    open: extension('attributes', 'dpl.objects.*'),
    nl: 'Wat er gebeurt met een regel over een object, zonder verwerkingsactiviteit en zonder persoon',
    en: 'What happens to a line about an object, without a processing activity or a person',
    test: (intake) => {
      const object = {
        'dpl.objects.data_object_id': `cf-${intake.subject.run}`,
        'dpl.objects.data_object_def': 'https://conformance.example/object',
      };
      const none = { [DPL.activity]: undefined, [DPL.subject]: undefined, [DPL.subjectType]: undefined };
      return intake.seen(intake.line({}, { ...none, ...object }));
    },
  },
});
