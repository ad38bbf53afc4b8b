import { randomBytes } from 'node:crypto';
import { isRecord } from '../../lib/json/json-value.ts';
import { processingHeaders } from '../demo-client.ts';
import type { TourNeeds } from '../demo-part.ts';
import { persons, uitvoerder } from '../example-data.ts';

const ACTIVITY = 'https://register.example/verwerkingsactiviteiten/00000009-0000-4000-8000-000000000001';

export async function tourLdv({ transcript, demo, client }: TourNeeds): Promise<void> {
  const { ldv = '', verwerkingenlog } = demo.file.mounts;
  transcript.section('The Logboek Dataverwerkingen: the same log, for applications that log with OpenTelemetry', 'ldv');
  await transcript.part('an LDV line is logged and found', async () => {
    const traceId = randomBytes(16).toString('hex');
    const spanId = randomBytes(8).toString('hex');
    const send = (span: object) =>
      client.call('POST', `${ldv}/traces`, {
        as: 'applicatie',
        body: { resourceSpans: [{ ...RESOURCE, scopeSpans: [{ spans: [span] }] }] },
      });
    const start = BigInt(Date.now()) * 1_000_000n;
    const span = {
      traceId,
      spanId,
      name: 'Uitkering opgevraagd',
      startTimeUnixNano: String(start),
      endTimeUnixNano: String(start + 5_000_000n),
      status: { code: 1 },
      attributes: [
        text('dpl.core.processing_activity_id', ACTIVITY),
        text('dpl.core.data_subject_id', persons.eerste),
        text('dpl.core.data_subject_id_type', 'BSN'),
      ],
    };
    transcript.line(`POST ${ldv}/traces   (the endpoint for an OpenTelemetry exporter: ${ldv.replace(/\/v1$/, '')})`);
    const logged = await send(span);
    transcript.line(`client \`applicatie\` sends one span on BSN ${persons.eerste} -> ${logged.status}`);
    transcript.check(
      'a span is stored (200, empty answer)',
      logged.status === 200 && Object.keys(logged.body).length === 0,
    );
    const { attributes: _, ...bare } = span;
    const refused = await send({ ...bare, spanId: randomBytes(8).toString('hex') });
    const partial = refused.body.partialSuccess;
    transcript.check(
      'a span that names no processing activity is refused, and the answer says so',
      refused.status === 200 && isRecord(partial) && partial.rejectedSpans === '1',
    );
    const query = `objecttype=persoon&soortObjectId=BSN&objectId=${persons.eerste}&limit=1000&beperkteSet=false&vertrouwelijkheid=normaal`;
    const { body } = await client.call('GET', `${verwerkingenlog}/verwerkingsacties?${query}`, {
      as: 'applicatie',
      headers: processingHeaders(uitvoerder),
    });
    const results = (Array.isArray(body.results) ? body.results : []).filter(isRecord);
    const found = results.find(({ verwerkingId }) => String(verwerkingId).replaceAll('-', '') === traceId);
    transcript.line(`GET ${verwerkingenlog}/verwerkingsacties?… finds it by its trace, the \`verwerkingId\``);
    transcript.check(
      'the span is an action in the processing log',
      found?.actieNaam === span.name && found.systeem === 'Rondleiding' && found.verwerkingsactiviteitUrl === ACTIVITY,
    );
  });
}

const RESOURCE = { resource: { attributes: [text('service.name', 'Rondleiding')] } };

function text(key: string, stringValue: string): object {
  return { key, value: { stringValue } };
}
