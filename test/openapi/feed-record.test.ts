import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compileDocument, faultsOf, readRules } from './contract-schemas.ts';

const compile = compileDocument(readRules('raadsfeed.yaml'));
const feedRecord = compile('#/components/schemas/FeedRecord');
const regel = compile('#/components/schemas/PubliceerRegel');
const examples = new URL('../../../shared/examples/raadsfeed/', import.meta.url);
const exampleFiles = existsSync(examples) ? readdirSync(examples) : [];

const organisatie = { gemeente: 'gm9901', naam: 'Gemeente Duinrand' };
const vergadering = { bronidentificatie: 'v/1', dossiertype: 'vergadering', organisatie, naam: 'Raad' };
const agendapunt = {
  bronidentificatie: 'a-1',
  dossiertype: 'agendapunt',
  organisatie,
  agendapuntnaam: 'Opening',
  vergadering: { bronidentificatie: 'v/1' },
};
const document = {
  bronidentificatie: 'd-1',
  dossiertype: 'informatieobject',
  organisatie,
  titel: 'Voorstel',
  webpaginalink: 'https://raad.duinrand.example/d/1',
  wooinformatiecategorie: 'c_db4862c3',
  datumingediend: '2026-01-08',
};
const head = {
  sequenceNumber: 3,
  resourceType: 'Vergadering',
  storedAt: '2026-01-15T18:00:00Z',
  resource: { organisatiecode: 'gm9901', bronidentificatie: 'v/1' },
};
const upsert = { ...head, op: 'upsert', contentHash: `sha256:${'a'.repeat(64)}`, data: vergadering };
const remove = { ...head, op: 'delete', verwijderreden: 'ingetrokken' };
const redact = { ...head, op: 'redact', verwijderreden: 'correctie', geredigeerdeSequenceNumbers: [1] };

describe('a record of the feed', () => {
  it.each([
    ['an upsert', upsert],
    ['a delete', remove],
    ['a redact', redact],
    ['a redact of content that was never here', { ...redact, geredigeerdeSequenceNumbers: [] }],
    [
      'a delete for another reason, with its explanation',
      { ...remove, verwijderreden: 'overig', toelichting: 'Dubbel' },
    ],
    ['an upsert from elsewhere', { ...upsert, herkomst: { feedUrl: 'https://bron.example/feed', sequenceNumber: 9 } }],
    ['members of other feeds only', { ...upsert, hunId: 'x' }],
    ['data with members of other feeds only', { ...upsert, data: { ...vergadering, bijnaam: 'x' } }],
    [
      'data with such members in nested objects',
      {
        ...upsert,
        data: {
          ...vergadering,
          organisatie: { ...organisatie, logo: 1 },
          agendapunten: [{ bronidentificatie: 'a', titel: 'T' }],
          georganiseerddoorgremium: { gremiumidentificatie: '1', gremiumnaam: 'R', soort: 'x' },
        },
      },
    ],
  ])('may be %s', (_what, value) => {
    expect(faultsOf(feedRecord, value)).toEqual([]);
  });

  it.each([
    ['an upsert without data', { ...upsert, data: undefined }, '/data'],
    ['an upsert without its hash', { ...upsert, contentHash: undefined }, '/contentHash'],
    ['an upsert with a reason', { ...upsert, verwijderreden: 'correctie' }, '/verwijderreden'],
    [
      'an upsert with redacted numbers',
      { ...upsert, geredigeerdeSequenceNumbers: [1] },
      '/geredigeerdeSequenceNumbers',
    ],
    ['data of another type', { ...upsert, data: agendapunt }, '/data/dossiertype'],
    ['a delete without a reason', { ...remove, verwijderreden: undefined }, '/verwijderreden'],
    ['a delete with data', { ...remove, data: vergadering }, '/data'],
    ['a delete with redacted numbers', { ...remove, geredigeerdeSequenceNumbers: [1] }, '/geredigeerdeSequenceNumbers'],
    ['overig without an explanation', { ...remove, verwijderreden: 'overig' }, '/toelichting'],
    ['a redact without numbers', { ...redact, geredigeerdeSequenceNumbers: undefined }, '/geredigeerdeSequenceNumbers'],
    ['a redact with a hash', { ...redact, contentHash: upsert.contentHash }, '/contentHash'],
    ['number 0', { ...upsert, sequenceNumber: 0 }, '/sequenceNumber'],
    [
      'a code in capitals',
      { ...remove, resource: { ...head.resource, organisatiecode: 'GM9901' } },
      '/resource/organisatiecode',
    ],
  ])('may not be %s', (_what, value, place) => {
    expect(faultsOf(feedRecord, JSON.parse(JSON.stringify(value)))).toContain(place);
  });
});

describe('a resource', () => {
  const upsertOf = (resourceType: string, data: object): object => ({ op: 'upsert', resourceType, data });

  it.each([
    ['Vergadering', { ...vergadering, aanvang: '2026-01-15T19:30:00+01:00', einde: '2026-01-15T22:00:00+01:00' }],
    ['Vergadering', { ...vergadering, organisatie: { waterschap: 'ws9901', naam: 'Duinstroom' } }],
    [
      'Vergadering',
      {
        ...vergadering,
        georganiseerddoorgremium: { gremiumidentificatie: '1', gremiumnaam: 'Raad' },
        agendapunten: [],
      },
    ],
    ['Agendapunt', { ...agendapunt, indicatiehamerstuk: null, volgnummer: '3.' }],
    [
      'Informatieobject',
      { ...document, omvang: 0, formaat: 'text/plain; charset=utf-8', gerelateerdinformatieobject: null },
    ],
  ])('of kind %s is accepted: %j', (kind, data) => {
    expect(faultsOf(regel, upsertOf(kind, data))).toEqual([]);
  });

  it.each([
    ['Vergadering', { ...vergadering, einde: '2026-01-15T22:00:00+01:00' }, '/data/aanvang'],
    ['Vergadering', { ...vergadering, bijnaam: 'x' }, '/data/bijnaam'],
    ['Vergadering', { ...vergadering, organisatie: { ...organisatie, logo: 'x' } }, '/data/organisatie/logo'],
    [
      'Vergadering',
      { ...vergadering, agendapunten: [{ bronidentificatie: 'a', titel: 'x' }] },
      '/data/agendapunten/0/titel',
    ],
    [
      'Vergadering',
      { ...vergadering, georganiseerddoorgremium: { gremiumidentificatie: '1', gremiumnaam: 'R', soort: 'x' } },
      '/data/georganiseerddoorgremium/soort',
    ],
    ['Agendapunt', { ...agendapunt, thema: 'x' }, '/data/thema'],
    ['Agendapunt', { ...agendapunt, vergadering: { bronidentificatie: 'v', x: 1 } }, '/data/vergadering/x'],
    ['Informatieobject', { ...document, thema: 'x' }, '/data/thema'],
    [
      'Informatieobject',
      { ...document, gerelateerdinformatieobject: { informatieobject: { bronidentificatie: 'd', x: 1 }, rol: 'r' } },
      '/data/gerelateerdinformatieobject/informatieobject/x',
    ],
    ['Vergadering', { ...vergadering, organisatie: { ...organisatie, provincie: 'pv99' } }, '/data/organisatie'],
    ['Vergadering', { ...vergadering, organisatie: { naam: 'Niemand' } }, '/data/organisatie'],
    ['Vergadering', { ...vergadering, organisatie: { gemeente: 'GM9901', naam: 'X' } }, '/data/organisatie/gemeente'],
    ['Vergadering', { ...vergadering, vergaderdatum: '2026-02-30' }, '/data/vergaderdatum'],
    [
      'Vergadering',
      { ...vergadering, agendapunten: [{ bronidentificatie: 'a' }, { bronidentificatie: 'a' }] },
      '/data/agendapunten',
    ],
    ['Agendapunt', { ...agendapunt, vergadering: undefined }, '/data/vergadering'],
    ['Agendapunt', { ...agendapunt, starttijd: '19:30' }, '/data/starttijd'],
    ['Informatieobject', { ...document, datumingediend: undefined }, '/data/datumingediend'],
    ['Informatieobject', { ...document, checksum: 'md5:1' }, '/data/checksum'],
    ['Informatieobject', { ...document, omvang: -1 }, '/data/omvang'],
    ['Informatieobject', { ...document, bronidentificatie: '' }, '/data/bronidentificatie'],
    ['Motie', vergadering, '/resourceType'],
  ])('of kind %s is refused: %j', (kind, data, place) => {
    expect(faultsOf(regel, JSON.parse(JSON.stringify(upsertOf(kind, data))))).toContain(place);
  });
});

describe('a line to publish', () => {
  const resource = head.resource;

  it('must identify the resource and the reason of a delete or redact', () => {
    const line = { op: 'redact', resourceType: 'Vergadering', resource, verwijderreden: 'persoonsgegevens' };
    expect(faultsOf(regel, line)).toEqual([]);
    expect(faultsOf(regel, { op: 'delete', resourceType: 'Vergadering' })).toEqual(['/resource', '/verwijderreden']);
  });

  it('has only the data of an upsert', () => {
    const line = { op: 'upsert', resourceType: 'Vergadering', data: vergadering, resource };
    expect(faultsOf(regel, line)).toContain('/resource');
    expect(
      faultsOf(regel, { op: 'upsert', resourceType: 'Vergadering', sequenceNumber: 1, data: vergadering }),
    ).toEqual(['/sequenceNumber']);
  });

  it.runIf(exampleFiles.length > 0).each(exampleFiles)('is each line of the real meeting %s', (file) => {
    const lines = readFileSync(new URL(file, examples), 'utf8').trim().split('\n');
    for (const [index, line] of lines.entries())
      expect(faultsOf(regel, JSON.parse(line)), `line ${index + 1}`).toEqual([]);
  });
});
