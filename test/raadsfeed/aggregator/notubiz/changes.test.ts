import { describe, expect, it } from 'vitest';
import { measureCoverage, totalCoverage } from '../../../../src/raadsfeed/aggregator/supplier/coverage.ts';
import { compareIdentities } from '../../../../src/raadsfeed/aggregator/switch-source.ts';
import { agendaItemOf, documentOf, meetingOf, registerItemOf } from './supplier/answers.ts';
import { feed, freshSupplier, supplier } from './supplier/fresh-supplier.ts';
import { NEXT_QUARTER } from './supplier/memory-feed.ts';

freshSupplier();

it("counts a whole round's deletes against the allowed tenth", async () => {
  for (let id = 20; id < 40; id += 1) supplier.organisation.addMeeting(meetingOf(id));
  await feed.round();
  supplier.organisation.remove(20);
  const round = await feed.round({ allowMassDelete: false, deletedBefore: 2 });
  expect(round).toMatchObject({ deletes: [], withheld: [{ resourceType: 'Vergadering' }], obsolete: [] });
  expect((await feed.round({ allowMassDelete: false, deletedBefore: 1 })).deletes).toHaveLength(1);
});

describe('coverage', () => {
  it('counts shown and held items per month, and names missing ones', async () => {
    supplier.organisation
      .addMeeting(meetingOf(20, { documents: [documentOf(1), documentOf(2)] }))
      .addMeeting(meetingOf(21, { start: '2025-02-10 19:30:00', documents: [documentOf(1), documentOf(3)] }))
      .addMeeting(meetingOf(30, { start: '2025-05-10 19:30:00' }));
    const readings = [(await feed.round()).reading, (await feed.round({ window: NEXT_QUARTER })).reading];
    feed.resources.delete('Informatieobject/document-3');
    const coverage = totalCoverage(
      readings.flatMap((reading) => [...measureCoverage(reading, [], (key) => feed.resources.has(key)).months]),
    );
    expect(coverage).toEqual({
      months: [
        { month: '2025-01', shown: 3, held: 3, missing: [], unnamed: 0 },
        { month: '2025-02', shown: 2, held: 1, missing: ['Informatieobject/document-3'], unnamed: 0 },
        { month: '2025-05', shown: 1, held: 1, missing: [], unnamed: 0 },
      ],
      shown: 6,
      held: 5,
      percentage: 83.3,
    });
  });

  it('counts unchanged items in a quick round, and announced ones that could not be read', async () => {
    supplier.organisation.addMeeting(meetingOf(20, { documents: [documentOf(1)] }));
    await feed.round();
    supplier.organisation.addMeeting(meetingOf(21, { documents: [documentOf(2)], agenda_items: [agendaItemOf(201)] }));
    supplier.rule = ({ path }) => (path === '/events/meetings/21' ? { status: 500 } : undefined);
    const { reading } = await feed.round({ depth: 'quick' });
    const coverage = measureCoverage(reading, [...feed.items.values()], (key) => feed.resources.has(key));
    expect(coverage.months).toEqual([{ month: '2025-01', shown: 5, held: 2, missing: [], unnamed: 3 }]);
    expect(coverage.percentage).toBe(40);
  });

  it('is complete if there is nothing', () => {
    expect(totalCoverage([])).toEqual({ months: [], shown: 0, held: 0, percentage: 100 });
  });
});

it('limits the issues of a reading: a fault that a register has thousands of times is counted', async () => {
  const items = Array.from({ length: 1500 }, (_, index) => registerItemOf(1000 + index, { attributes: null }));
  supplier.organisation.registers.set('1', items);
  const pagination = { page: 1, total_pages: 1, total_items: 1500, has_more_pages: false };
  supplier.rule = ({ path }) => (path.endsWith('/1/items') ? { status: 200, body: { items, pagination } } : undefined);
  const { reading } = await feed.round();
  expect(reading.issues.length).toBeLessThan(1010);
  expect(reading.issues.reduce((sum, { times }) => sum + times, 0)).toBe(1500);
});

describe('another source of the same organisation', () => {
  it('changes nothing if it uses the same identifiers', () => {
    const held = new Set(['Vergadering/meeting-1', 'Vergadering/meeting-2']);
    expect(compareIdentities(held, held)).toEqual({ same: 2, deleted: [], added: [], isMassDelete: false });
  });

  it('shows what would be deleted and added if it uses others', () => {
    const held = new Set(['Vergadering/meeting-1', 'Vergadering/meeting-2']);
    expect(compareIdentities(held, new Set(['Vergadering/meeting-1', 'Vergadering/v-2']))).toEqual({
      same: 1,
      deleted: ['Vergadering/meeting-2'],
      added: ['Vergadering/v-2'],
      // Fewer than ten resources count as ten.
      isMassDelete: false,
    });
    expect(compareIdentities(held, new Set(['Vergadering/v-1', 'Vergadering/v-2']))).toMatchObject({
      isMassDelete: true,
    });
  });
});
