import { describe, expect, it } from 'vitest';
import { measureCoverage } from '../../../../src/raadsfeed/aggregator/supplier/coverage.ts';
import { partKey } from '../../../../src/raadsfeed/aggregator/supplier/source-adapter.ts';
import { agendaItemOf, documentOf, meetingOf, moduleItemReference, registerItemOf } from './supplier/answers.ts';
import { feed, freshSupplier, supplier } from './supplier/fresh-supplier.ts';
import { QUARTER, SOURCE } from './supplier/memory-feed.ts';
import { NotubizOrganisation } from './supplier/organisation.ts';
import { UNCAUGHT } from './supplier/server.ts';

freshSupplier();

/** Documents in every place where the supplier puts them: 1 to 8. */
function hangEverywhere(): void {
  const child = meetingOf(11, {
    documents: [documentOf(1)],
    agenda_items: [
      agendaItemOf(101, {
        documents: [documentOf(2)],
        agenda_items: [agendaItemOf(102, { agenda_items: [agendaItemOf(103, { documents: [documentOf(3)] })] })],
      }),
    ],
  });
  supplier.organisation
    .addAssembly(meetingOf(10, { documents: [documentOf(4)] }), [child])
    .addMeeting(
      meetingOf(20, {
        module_items: [moduleItemReference(900)],
        agenda_items: [agendaItemOf(201, { module_items: [moduleItemReference(901)] })],
      }),
    )
    .addRegisterItem(6, registerItemOf(900, { date: '2019-05-01', main: [documentOf(5)] }))
    .addRegisterItem(6, registerItemOf(901, { date: '2019-05-01', attached: [documentOf(6)] }))
    .addRegisterItem(1, registerItemOf(902, { main: [documentOf(7)], attached: [documentOf(8)] }));
}

describe('the five complaints about harvesters', () => {
  it('1: never says "up to date" while documents are in parts that were not read', async () => {
    hangEverywhere();
    const { reading } = await feed.round();
    expect(reading.issues).toEqual([]);
    expect(reading.complete).toBe(true);
    const documents = feed.keys().filter((key) => key.startsWith('Informatieobject/'));
    expect(documents).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((id) => `Informatieobject/document-${id}`));
    expect(measureCoverage(reading, [], (key) => feed.resources.has(key)).percentage).toBe(100);
  });

  it('1: reports and measures it when a part of the documents could not be read', async () => {
    hangEverywhere();
    supplier.rule = ({ path }) => (path === '/events/assemblies/10' ? UNCAUGHT : undefined);
    const { reading } = await feed.round();
    expect(reading.complete).toBe(false);
    expect(reading.issues.map(({ what, where }) => `${what} ${where}`)).toEqual(['call-failed /events/assemblies/10']);
    const coverage = measureCoverage(reading, [], (key) => feed.resources.has(key));
    // The assembly, its child and the four announced documents are missing, by number.
    expect(coverage.months).toMatchObject([{ month: '2025-01', unnamed: 2 + 4 }]);
    expect(coverage.percentage).toBeLessThan(100);
  });

  it('2: items to store and records to publish are one result, so that neither can be stored without the other', async () => {
    hangEverywhere();
    const { items, upserts } = await feed.round();
    const published = new Set(upserts.map(({ resourceType, data }) => `${resourceType}/${data.bronidentificatie}`));
    const remembered = new Set(items.flatMap(({ parts }) => parts.map(partKey)));
    expect(published).toEqual(remembered);
    // Nothing is remembered of a window that could not be stored: the next reading returns all of it again.
    feed.items.clear();
    feed.resources.clear();
    const again = await feed.round({ depth: 'quick' });
    expect(again.upserts).toEqual(upserts);
  });

  it.each([
    ['2025-01-14 19:30:00', '2025-01-14T18:30:00Z', '2025-01-14'],
    ['2025-03-30 19:30:00', '2025-03-30T17:30:00Z', '2025-03-30'],
    ['2025-01-14T19:30:00+01:00', '2025-01-14T18:30:00Z', '2025-01-14'],
    ['2025-01-14 00:15:00', '2025-01-13T23:15:00Z', '2025-01-14'],
  ])('3: an evening meeting at %s is not an hour or two late', async (start, aanvang, vergaderdatum) => {
    supplier.organisation.addMeeting(meetingOf(20, { start }));
    await feed.round();
    expect(feed.get('Vergadering/meeting-20')).toMatchObject({ aanvang, vergaderdatum });
  });

  it('4: a replaced document points to its new version, which the supplier serves', async () => {
    supplier.organisation.addMeeting(meetingOf(20, { documents: [documentOf(1)] }));
    await feed.round();
    const before = feed.get('Informatieobject/document-1').bestandsurl;
    supplier.organisation.change(20, { documents: [documentOf(1, { version: 2 })] });
    await feed.round();
    const after = feed.get('Informatieobject/document-1').bestandsurl;
    expect(after).toBe(`${supplier.base}/document/1/2`);
    expect((await fetch(String(before))).status).toBe(400);
    expect((await fetch(String(after))).status).toBe(200);
  });

  it('5: a meeting of another organisation is reported, not published under this name', async () => {
    const other = new NotubizOrganisation(999);
    supplier.add(other);
    supplier.organisation.addMeeting(meetingOf(20, { organisation: { id: 999 } }));
    const { reading, upserts } = await feed.round();
    expect(upserts).toEqual([]);
    expect(reading).toMatchObject({ complete: false, issues: [{ what: 'other-organisation' }] });
  });

  it('5: all publications have the one organisation code that the source is bound to', async () => {
    hangEverywhere();
    const { upserts } = await feed.round({ window: QUARTER });
    const organisations = new Set(upserts.map(({ data }) => JSON.stringify(data.organisatie)));
    expect([...organisations]).toEqual([JSON.stringify({ gemeente: SOURCE.organisatiecode, naam: SOURCE.naam })]);
  });
});
