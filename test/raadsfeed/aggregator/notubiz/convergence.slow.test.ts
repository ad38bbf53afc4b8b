import { expect, it } from 'vitest';
import { measureCoverage } from '../../../../src/raadsfeed/aggregator/supplier/coverage.ts';
import { quarters } from '../../../../src/raadsfeed/aggregator/supplier/windows.ts';
import { documentOf } from './supplier/answers.ts';
import { chanceOf, generateOrganisation } from './supplier/generate.ts';
import { MemoryFeed, type Round } from './supplier/memory-feed.ts';
import { publicResources } from './supplier/public-resources.ts';
import { type Misbehaviour, NO_RIGHTS, type Rule, startNotubiz, UNCAUGHT } from './supplier/server.ts';

const YEAR = quarters({ from: '2025-01-01', to: '2025-12-31' });
const FAILURES: readonly Misbehaviour[] = [UNCAUGHT, 'half', 'reset', { status: 504 }, { status: 200, body: '<html>' }];

/** Fails a part of the calls, each in one of the ways; with refusals the supplier calls anything not public. */
function failing(seed: number, part: number): Rule {
  const chance = chanceOf(seed);
  return () => (chance() < part ? FAILURES[Math.floor(chance() * FAILURES.length)] : undefined);
}

async function readYear(feed: MemoryFeed): Promise<Round[]> {
  const rounds: Round[] = [];
  for (const window of YEAR) rounds.push(await feed.round({ window }));
  return rounds;
}

it.each([1, 2, 3, 4])('converges to the public items, through failures and changes (seed %i)', async (seed) => {
  const supplier = await startNotubiz();
  const organisation = generateOrganisation({ seed, events: 20 });
  supplier.add(organisation);
  const feed = new MemoryFeed(supplier, { retry: { attempts: 2, firstDelay: 1, maxDelay: 50 } });
  try {
    supplier.rule = failing(seed, 0.15);
    await readYear(feed);
    const expected = new Set(publicResources(organisation));
    for (const key of feed.keys()) expect(expected).toContain(key);

    supplier.rule = undefined;
    const rounds = await readYear(feed);
    expect(feed.keys()).toEqual(publicResources(organisation));
    expect(rounds.flatMap(({ reading }) => reading.issues)).toEqual([]);
    for (const { reading } of rounds) {
      expect(measureCoverage(reading, [], (key) => feed.resources.has(key)).percentage).toBe(100);
    }

    change(organisation, seed);
    supplier.rule = failing(seed + 100, 0.15);
    const before = new Set(feed.keys());
    for (const { reading, deletes } of await readYear(feed)) if (!reading.complete) expect(deletes).toEqual([]);
    for (const key of publicResources(organisation)) if (before.has(key)) expect(feed.keys()).toContain(key);

    supplier.rule = undefined;
    await readYear(feed);
    await readYear(feed);
    expect(feed.keys()).toEqual(publicResources(organisation));
    const [again] = await readYear(feed);
    expect(again?.deletes).toEqual([]);
  } finally {
    await feed.adapter.close();
    await supplier.close();
  }
});

/** Meetings disappear, move, are closed to the public, and get documents. */
function change(organisation: ReturnType<typeof generateOrganisation>, seed: number): void {
  const chance = chanceOf(seed + 7);
  for (const id of [...organisation.meetings.keys()]) {
    const isChild = organisation.children.has(id);
    const luck = chance();
    if (luck < 0.1 && !isChild && !organisation.assemblies.has(id)) organisation.remove(Number(id));
    else if (luck < 0.2) organisation.change(Number(id), { permission_group: 'members' });
    else if (luck < 0.3) organisation.change(Number(id), { documents: [documentOf(Number(id) + 50_000)] });
    else if (luck < 0.4 && !isChild) {
      organisation.change(Number(id), { plannings: [{ start_date: '2025-08-08 10:00:00', end_date: null }] });
    }
  }
}

it('does not delete everything when everything is refused', async () => {
  const supplier = await startNotubiz();
  const organisation = generateOrganisation({ seed: 9, events: 30 });
  supplier.add(organisation);
  const feed = new MemoryFeed(supplier);
  try {
    await readYear(feed);
    const before = feed.keys();
    supplier.rule = ({ path }) => (path.startsWith('/events/meetings/') ? NO_RIGHTS : undefined);
    for (const window of YEAR) {
      const { reading, withheld } = await feed.round({ window, allowMassDelete: false });
      expect(reading.complete).toBe(true);
      expect(withheld.length).toBeGreaterThan(0);
    }
    expect(feed.keys()).toEqual(before);
  } finally {
    await feed.adapter.close();
    await supplier.close();
  }
});
