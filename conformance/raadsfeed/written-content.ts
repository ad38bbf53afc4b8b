/** The content of resources that a suite publishes: their required members. */
import type { ResourceType } from '../../src/lib/feed/resource.ts';
import type { JsonObject } from '../../src/lib/json/json-value.ts';

export function organisationOf(code: string, naam: string): JsonObject {
  const member = { gm: 'gemeente', pv: 'provincie', ws: 'waterschap' }[code.slice(0, 2)] ?? 'gemeente';
  return { [member]: code, naam };
}

/** @param meeting the `bronidentificatie` of the meeting of an agenda item */
export function contentOf(kind: ResourceType, bronidentificatie: string, title: string, meeting: string): JsonObject {
  const contents = {
    Vergadering: { dossiertype: 'vergadering', naam: title },
    Agendapunt: {
      dossiertype: 'agendapunt',
      agendapuntnaam: title,
      vergadering: { bronidentificatie: meeting },
    },
    Informatieobject: {
      dossiertype: 'informatieobject',
      webpaginalink: 'https://raad.example/conformance',
      titel: title,
      wooinformatiecategorie: 'c_db4862c3',
      datumingediend: '2026-01-08',
    },
  };
  return { bronidentificatie, ...contents[kind] };
}
