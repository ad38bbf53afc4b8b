/** Entries of registers: their kind, outcome and proposers. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { REGISTERS } from '../../../src/raadsfeed/aggregator/supplier/windows.ts';
import { programOnDatabase } from '../../cli/program.ts';
import { servicePool } from '../support.ts';
import { freshIbabs, feed as ibabsFeed, round, site } from './ibabs/fresh-ibabs.ts';
import {
  entryOf,
  guid,
  documentOf as ibabsDocumentOf,
  meetingOf as ibabsMeetingOf,
  siteOf,
  startIbabs,
} from './ibabs/server.ts';
import {
  agendaItemOf,
  documentOf,
  meetingOf,
  moduleItemReference,
  type Raw,
  registerItemOf,
} from './notubiz/supplier/answers.ts';
import { MemoryFeed } from './notubiz/supplier/memory-feed.ts';
import { type NotubizServer, startNotubiz } from './notubiz/supplier/server.ts';

describe('a motion in a register of iBabs', () => {
  freshIbabs();

  it.each(['Bijlage(s)', 'Moties', null])('is a motion whose files are called %j', async (DocumentsLabel) => {
    const values = { Onderwerp: 'Motie zwembad', Status: 'Aangenomen', 'Indiener(s)': 'A. Jansen (Partij X)' };
    const Documents = [ibabsDocumentOf(501)];
    site.registers = [{ id: guid(8001), name: 'Moties', entries: [entryOf(1, values, { DocumentsLabel, Documents })] }];
    await round({ window: REGISTERS });
    const lines = ['Status: Aangenomen', 'Indiener(s): A. Jansen (Partij X)'];
    expect(ibabsFeed.get(`Informatieobject/ibabs-document-${guid(501)}`)).toMatchObject({
      informatieobjecttype: 'Moties',
      titel: 'Stuk 501',
      omschrijving: (DocumentsLabel === 'Bijlage(s)' ? [DocumentsLabel, ...lines] : lines).join('\n'),
    });
  });

  it.each(['Ingekomen stukken', 'Raadsbrieven'])('does not publish the submitter of an entry of %s', async (name) => {
    const values = {
      Onderwerp: 'Brief',
      Status: 'Afgedaan',
      'Indiener(s)': 'J. Burger',
      'Ingediend door': 'J. Burger',
    };
    const files = entryOf(1, values, { ListName: name, Documents: [ibabsDocumentOf(501)] });
    site.registers = [{ id: guid(8001), name, entries: [files, entryOf(2, values, { ListName: null })] }];
    await round({ window: REGISTERS });
    const published = ibabsFeed.get(`Informatieobject/ibabs-document-${guid(501)}`);
    expect(published).toMatchObject({ informatieobjecttype: name, omschrijving: 'Status: Afgedaan' });
    expect(JSON.stringify([...ibabsFeed.resources])).not.toContain('Burger');
  });

  it('keeps its kind and description whichever of its places is read last', async () => {
    const Documents = [ibabsDocumentOf(501)];
    site.meetings = [ibabsMeetingOf(1, '2026-01-29', { Documents })];
    const entry = entryOf(1, { Status: 'Aangenomen' }, { DocumentsLabel: 'Bijlage(s)', Documents });
    site.registers = [{ id: guid(8001), name: 'Moties', entries: [entry] }];
    await round();
    await round({ window: REGISTERS });
    const want = { informatieobjecttype: 'Moties', omschrijving: 'Bijlage(s)\nStatus: Aangenomen' };
    for (const window of [undefined, REGISTERS, undefined, REGISTERS]) {
      expect(ibabsFeed.get(`Informatieobject/ibabs-document-${guid(501)}`)).toMatchObject(want);
      const before = JSON.stringify([...ibabsFeed.resources]);
      await round(window === undefined ? {} : { window });
      expect(JSON.stringify([...ibabsFeed.resources])).toBe(before);
    }
  });
});

it('a register is stored once: rereading publishes nothing', async () => {
  const supplier = await startIbabs();
  onTestFinished(() => supplier.close());
  const Documents = [ibabsDocumentOf(501, { DisplayName: 'Motie &eacute;&eacute;n' })];
  const entry = entryOf(1, { Status: 'Aangenomen' }, { DocumentsLabel: 'Bijlage(s)', Documents });
  const meetings = [ibabsMeetingOf(1, '2026-01-29', { Documents, Explanation: '<p>Inloop &amp; koffie</p>' })];
  const registers = [{ id: guid(8001), name: 'Moties', entries: [entry] }];
  supplier.sites.set('voorbeeldstad', siteOf({ meetings, registers }));
  const program = await programOnDatabase({ IBABS_URL: supplier.base });
  onTestFinished(() => program.drop());
  const adres = 'ibabs:voorbeeldstad';
  const words = ['--organisatie', 'gm0553', '--naam', 'Gemeente Lisse', '--from', '2026-01-01', '--yes'];
  expect(await program.run('bron', 'add', adres, ...words)).toMatchObject({ status: 0 });
  const sync = () => program.json('bron', 'sync', adres);
  expect(await sync()).toMatchObject({ status: 0, result: { complete: true, published: 3 } });
  expect(await sync()).toMatchObject({ status: 0, result: { complete: true, published: 0, deleted: 0 } });
  const pool = servicePool(program.databaseUrl, 1);
  onTestFinished(() => pool.end());
  const suffix = `select record_suffix from raadsfeed.current_records s
    join raadsfeed.texts t using (sequence_number) where s.resource_type = 'Informatieobject'`;
  const { rows } = await pool.query<{ record_suffix: string }>(suffix);
  expect(rows).toHaveLength(1);
  expect(rows[0]?.record_suffix).toContain('"titel":"Motie één"');
  expect(rows[0]?.record_suffix).toContain('"informatieobjecttype":"Moties"');
});

const OUTCOME = { id: 61, label: 'Uitslag', datatype: 'select', values: [{ content: 'Aangenomen', meta_data: null }] };
/** Persons and parties are shown by the names beside their numbers. */
const PROPOSERS = {
  id: 62,
  label: 'Indiener(s)',
  datatype: 'reference',
  values: [
    { content: '1201', meta_data: { reference_model: 'person', label: 'A. Jansen' } },
    { content: '1202', meta_data: { reference_model: 'person', label: 'B. de Vries &amp; Zn' } },
    { content: '1203', meta_data: { reference_model: 'person' } },
  ],
};
const OTHERS = [
  { id: 63, label: 'Mede-indieners', datatype: 'varchar', values: [{ content: '<p>C. Bakker</p>', meta_data: null }] },
  { id: 64, label: 'Voor', datatype: 'reference', values: [{ content: '7', meta_data: { label: 'D. Visser' } }] },
  { id: 65, label: 'Tegen', datatype: 'varchar', values: [{ content: 'E. Smit', meta_data: null }] },
];
const DESCRIPTION = 'Uitslag: Aangenomen\nIndiener(s): A. Jansen, B. de Vries & Zn\nMede-indieners: C. Bakker';

function motionOf(id: number, main: readonly Raw[] = [], more: readonly Raw[] = [OUTCOME, PROPOSERS, ...OTHERS]): Raw {
  const { attributes, ...item } = registerItemOf(id, { title: 'Motie zwembad', main });
  return { ...item, attributes: [...(Array.isArray(attributes) ? attributes : []), ...more] };
}

describe('a motion in a register of NotuBiz', () => {
  async function open(): Promise<{ supplier: NotubizServer; feed: MemoryFeed }> {
    const supplier = await startNotubiz();
    onTestFinished(() => supplier.close());
    const feed = new MemoryFeed(supplier);
    onTestFinished(() => feed.adapter.close());
    return { supplier, feed };
  }

  it('has its outcome and proposers, with files and without; not its votes', async () => {
    const { supplier, feed } = await open();
    supplier.organisation
      .addRegisterItem(6, motionOf(900))
      .addRegisterItem(6, motionOf(901, [documentOf(1, { types: [] }), documentOf(2)]))
      .addRegisterItem(6, motionOf(902, [documentOf(3)], []));
    expect((await feed.round()).reading.issues).toEqual([]);
    expect(feed.get('Informatieobject/registerstuk-900')).toMatchObject({
      titel: 'Motie zwembad',
      informatieobjecttype: 'Moties en amendementen',
      omschrijving: DESCRIPTION,
    });
    expect(feed.get('Informatieobject/document-1')).toMatchObject({
      informatieobjecttype: 'Moties en amendementen',
      omschrijving: DESCRIPTION,
    });
    expect(feed.get('Informatieobject/document-2')).toMatchObject({
      informatieobjecttype: 'Document',
      omschrijving: DESCRIPTION,
    });
    expect(feed.get('Informatieobject/document-3')).not.toHaveProperty('omschrijving');
    expect(JSON.stringify([...feed.resources])).not.toMatch(/Visser|Smit|1203/);
  });

  it('is the same whichever of its places is read last, and follows its register', async () => {
    const { supplier, feed } = await open();
    const { organisation } = supplier;
    const file = documentOf(1);
    const items = [agendaItemOf(201, { documents: [file], module_items: [moduleItemReference(900)] })];
    organisation.addMeeting(meetingOf(20, { agenda_items: items })).addRegisterItem(6, motionOf(900, [file]));
    await feed.round();
    expect(feed.get('Informatieobject/document-1').omschrijving).toBe(DESCRIPTION);
    for (const depth of ['quick', 'full', 'quick'] as const) {
      const before = JSON.stringify([...feed.resources]);
      await feed.round({ depth });
      expect(JSON.stringify([...feed.resources])).toBe(before);
    }
    const rejected = { ...OUTCOME, values: [{ content: 'Verworpen', meta_data: null }] };
    organisation.registers.clear();
    organisation.addRegisterItem(6, motionOf(900, [file], [rejected]));
    // The meeting itself was not modified.
    await feed.round({ depth: 'quick' });
    expect(feed.get('Informatieobject/document-1').omschrijving).toBe('Uitslag: Verworpen');
  });

  it.each([
    { given: 'is confidential', change: { confidential: 1 } },
    { given: 'is gone', change: undefined },
  ])('leaves nothing of itself in a document of the meeting once it $given', async ({ change }) => {
    const { supplier, feed } = await open();
    const { organisation } = supplier;
    const file = documentOf(1);
    const items = [agendaItemOf(201, { documents: [file], module_items: [moduleItemReference(900)] })];
    organisation.addMeeting(meetingOf(20, { agenda_items: items })).addRegisterItem(6, motionOf(900, [file]));
    await feed.round();
    expect(feed.get('Informatieobject/document-1').omschrijving).toBe(DESCRIPTION);
    organisation.registers.clear();
    if (change !== undefined) organisation.addRegisterItem(6, { ...motionOf(900, [file]), ...change });
    // The meeting itself was not modified.
    await feed.round({ depth: 'quick' });
    expect(JSON.stringify([...feed.resources])).not.toContain('Jansen');
  });
});
