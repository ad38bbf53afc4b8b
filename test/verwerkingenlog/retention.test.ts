/** How long an action is kept: the latest of its term, the minimum and the grace period. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRetention, type RetentionLog } from './retention-support.ts';
import { actie, HEADERS, listIn, newPerson, ofPerson } from './support.ts';

let log: RetentionLog;
beforeAll(async () => {
  log = await openRetention(new Date('2026-01-31T23:59:59.999Z'));
});
afterAll(() => log?.close());

/** True when runs on both days leave it on the first and remove it on the second. */
async function staysUntil(actieId: string, before: string, after: string): Promise<void> {
  log.at(before);
  await log.prune();
  expect(await log.versionsOf(actieId), `on ${before}`).toBeGreaterThan(0);
  log.at(after);
  await log.prune();
  expect(await log.versionsOf(actieId), `on ${after}`).toBe(0);
}

describe('a term', () => {
  it('hides nothing: an expired action is found, read, changed and deleted like any other', async () => {
    log.at('2031-07-15');
    const kept = await log.keep({ tijdstip: '2001-01-01T00:00:00Z', bewaartermijn: 'P1D' });
    const [object] = Object(kept).verwerkteObjecten;
    expect((await log.call('GET', `/verwerkingsacties/${kept.actieId}`)).status).toBe(200);
    expect(listIn(await log.call('GET', `/verwerkingsacties?${ofPerson(kept.person)}`)).count).toBe(1);
    expect(listIn(await log.call('GET', `/verwerkte-objecten?${ofPerson(kept.person)}`)).count).toBe(1);
    expect((await log.call('GET', `/verwerkte-objecten/${object.verwerktObjectId}`)).status).toBe(200);
    expect((await log.patch(kept, { bewaartermijn: 'P2D' })).status).toBe(204);
    expect((await log.put(kept, { bewaartermijn: 'P3D' })).status).toBe(200);
    expect((await log.call('DELETE', `/verwerkingsacties/${kept.actieId}`)).status).toBe(204);
    expect((await log.call('GET', `/verwerkingsacties/${kept.actieId}`)).status).toBe(404);
    expect((await log.patch(kept, { bewaartermijn: 'P2D' })).status).toBe(400);
  });

  it.each(['PT0S', 'P0D', 'P0Y0M0DT0H0M0S', 'P0W', 'P1001Y', 'P1000Y1D', 'P12001M', 'P99999W'])(
    'of %s is refused, wherever it is given',
    async (bewaartermijn) => {
      log.at('2031-07-15');
      const kept = await log.keep({});
      const activity = {
        naam: 'x',
        verantwoordelijkeOrganisatie: HEADERS.OIN,
        doel: 'x',
        grondslag: 'Publieke taak',
        bewaartermijn,
      };
      const refused = [
        await log.call('POST', '/verwerkingsacties', actie(newPerson(), { bewaartermijn })),
        await log.patch(kept, { bewaartermijn }),
        await log.put(kept, { bewaartermijn }),
        await log.call('PUT', '/verwerkingsactiviteiten/5f0bef4c-f66f-4311-84a5-19e8bf359ea0', activity),
      ];
      for (const answer of refused) {
        expect(answer.json).toMatchObject({ status: 400, invalidParams: [{ name: 'bewaartermijn' }] });
      }
      expect(await log.versionsOf(kept.actieId)).toBe(1);
    },
  );

  it('of a thousand years is accepted', async () => {
    const kept = await log.keep({ bewaartermijn: 'P12000M' });
    expect((await log.patch(kept, { bewaartermijn: 'P1000Y' })).status).toBe(204);
  });
});

describe('retention', () => {
  it('removes an action at its time plus its term, counted in calendar months', async () => {
    log.at(new Date('2031-07-15T12:00:00Z'));
    const kept = await log.keep({ tijdstip: '2028-02-29T10:00:00+01:00', bewaartermijn: 'P5Y1M' });
    log.at(new Date('2033-03-29T08:59:59.999Z'));
    await log.prune();
    expect(await log.prune({}, { dryRun: true })).toMatchObject({ removed: 0 });
    log.at(new Date('2033-03-29T09:00:00Z'));
    expect(await log.prune({}, { dryRun: true })).toMatchObject({
      removed: 1,
      byMonth: { 203107: 1 },
      droppedMonths: [],
    });
    expect(await log.versionsOf(kept.actieId)).toBe(1);
    expect(await log.prune()).toMatchObject({ removed: 1, byMonth: { 203107: 1 } });
    expect(await log.versionsOf(kept.actieId)).toBe(0);
  });

  it('keeps an action for the minimum after its registration, whatever its term', async () => {
    log.at('2040-01-01');
    const kept = await log.keep({ tijdstip: '2001-01-01T00:00:00Z', bewaartermijn: 'PT1S' });
    await staysUntil(kept.actieId, '2040-12-31', '2041-01-01');
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['a shorter term', { bewaartermijn: 'P50Y' }, { bewaartermijn: 'P1D' }],
    ['a newly added term', { bewaartermijn: null }, { bewaartermijn: 'P1D' }],
    [
      'an earlier time',
      { tijdstip: '2042-01-01T00:00:00Z', bewaartermijn: 'P9Y' },
      { tijdstip: '2001-01-01T00:00:00Z' },
    ],
  ])('keeps for the grace period actions that %s made removable', async (_title, before, after) => {
    log.at('2042-01-01');
    const kept = await log.keep(before);
    log.at('2044-03-01');
    expect((await log.put(kept, { ...before, ...after })).status).toBe(200);
    // No later change shortens the grace period, even one that goes back and forth.
    log.at('2044-03-10');
    expect((await log.put(kept, { ...before, ...after, actieNaam: 'Anders' })).status).toBe(200);
    await staysUntil(kept.actieId, '2044-03-30', '2044-03-31');
  });

  it('counts the grace period from each change that made removal earlier, so that mistakes can be undone', async () => {
    log.at('2045-01-01');
    const kept = await log.keep({ tijdstip: '2045-01-01T00:00:00Z', bewaartermijn: 'P50Y' });
    const undone = await log.keep({ tijdstip: '2045-01-01T00:00:00Z', bewaartermijn: 'P50Y' });
    for (const [at, term] of [
      ['2046-06-01', 'P1D'],
      ['2046-06-20', 'P50Y'],
      ['2046-06-25', 'P1D'],
    ] as const) {
      log.at(at);
      for (const one of [kept, undone]) expect((await log.patch(one, { bewaartermijn: term })).status).toBe(204);
    }
    log.at('2046-07-01');
    expect((await log.patch(undone, { bewaartermijn: 'P3Y' })).status).toBe(204);
    await staysUntil(kept.actieId, '2046-07-24', '2046-07-26');
    expect(await log.versionsOf(undone.actieId)).toBe(5);
  });

  it('uses the newest version, removes all of them, and keeps and counts actions without a term', async () => {
    log.at('2050-01-01');
    const tijdstip = '2050-01-01T00:00:00Z';
    const { withoutTerm: before } = await log.prune();
    const prolonged = await log.keep({ tijdstip, bewaartermijn: 'P1Y' });
    const forEver = await log.keep({ tijdstip, bewaartermijn: null });
    const deleted = await log.keep({ tijdstip, bewaartermijn: 'P1Y' });
    await log.patch(prolonged, { bewaartermijn: 'P20Y' });
    await log.call('DELETE', `/verwerkingsacties/${deleted.actieId}`);
    log.at('2052-01-01');
    expect(await log.prune()).toMatchObject({ withoutTerm: before + 1 });
    const left: number[] = [];
    for (const { actieId } of [prolonged, forEver, deleted]) left.push(await log.versionsOf(actieId));
    expect(left).toEqual([2, 1, 0]);
    const { rows } = await log.client.query(
      'select count(*)::int as count from verwerkingenlog.locations where actie_id = $1',
      [deleted.actieId],
    );
    expect(rows[0].count).toBe(0);
    await log.prune({ maxRetention: 'P3Y' });
    expect(await log.versionsOf(forEver.actieId)).toBe(1);
    log.at('2053-01-02');
    expect(await log.prune({ maxRetention: 'P3Y' })).toMatchObject({ withoutTerm: 0 });
    expect(await log.versionsOf(forEver.actieId)).toBe(0);
  });
});

describe('the term of an activity', () => {
  it("counts in its most recently recorded form, even if that machine's clock is behind", async () => {
    const id = randomUUID();
    log.at('2086-01-02');
    await activity(id, 'P2Y');
    const kept = await under(id);
    log.at('2086-01-01');
    await activity(id, 'P4Y');
    await staysUntil(kept.actieId, '2089-01-01', '2090-03-01');
  });

  const activity = (id: string, bewaartermijn: string | null) =>
    log.call('PUT', `/verwerkingsactiviteiten/${id}`, {
      naam: 'Activiteit',
      verantwoordelijkeOrganisatie: HEADERS.OIN,
      doel: 'Toets',
      grondslag: 'Publieke taak',
      bewaartermijn,
    });
  const under = (verwerkingsactiviteitId: string, bewaartermijn: string | null = null) =>
    log.keep({ tijdstip: log.now().toISOString(), bewaartermijn, verwerkingsactiviteitId });

  it('applies to actions without a term of their own, when it is a duration', async () => {
    log.at('2055-01-01');
    const [term, words] = [randomUUID(), randomUUID()];
    await activity(term, 'P2Y');
    await activity(words, 'twee jaar');
    const [kept, own, open] = [await under(term), await under(term, 'P20Y'), await under(words)];
    await staysUntil(kept.actieId, '2056-12-31', '2057-01-01');
    expect(await log.versionsOf(own.actieId)).toBe(1);
    expect(await log.versionsOf(open.actieId)).toBe(1);
  });

  it('shortened in the register removes nothing until the grace period has passed', async () => {
    log.at('2058-01-01');
    const [shorter, added, again, other] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    for (const id of [shorter, again]) await activity(id, 'P50Y');
    await activity(added, null);
    await activity(other, 'P1D');
    const kept = await Promise.all([shorter, added, again].map((id) => under(id)));
    const moved = await under(shorter);
    log.at('2060-01-01');
    for (const id of [shorter, added]) expect((await activity(id, 'P1D')).status).toBe(200);
    // Removed from the register and added again with another term.
    expect((await log.call('DELETE', `/verwerkingsactiviteiten/${again}`)).status).toBe(204);
    expect((await activity(again, 'P1D')).status).toBe(201);
    // An action's own term that is no shorter than the register's new one does not end the grace period of the register's change.
    expect(
      (await log.put(moved, { tijdstip: '2058-01-01T12:00:00Z', bewaartermijn: 'P1D', verwerkingsactiviteitId: other }))
        .status,
    ).toBe(200);
    log.at('2060-01-30');
    await log.prune();
    for (const { actieId } of [...kept, moved]) expect(await log.versionsOf(actieId)).toBeGreaterThan(0);
    log.at('2060-01-31');
    await log.prune();
    for (const { actieId } of [...kept, moved]) expect(await log.versionsOf(actieId)).toBe(0);
  });

  it('changed outside the service removes nothing', async () => {
    log.at('2064-01-01');
    const id = randomUUID();
    await activity(id, 'P50Y');
    const kept = await under(id);
    await log.client.query(
      `update verwerkingenlog.verwerkingsactiviteiten set bewaartermijn = 'P1D' where verwerkingsactiviteit_id = $1`,
      [id],
    );
    log.at('2066-01-01');
    await log.prune();
    expect(await log.versionsOf(kept.actieId)).toBe(1);
  });

  it("of an action's new activity, when shorter, counts as a change that made removal earlier", async () => {
    log.at('2061-01-01');
    const [long, short] = [randomUUID(), randomUUID()];
    await activity(long, 'P50Y');
    await activity(short, 'P1D');
    const kept = await under(long);
    log.at('2063-01-01');
    const moved = { tijdstip: '2061-01-01T12:00:00Z', bewaartermijn: null, verwerkingsactiviteitId: short };
    expect((await log.put(kept, moved)).status).toBe(200);
    await staysUntil(kept.actieId, '2063-01-30', '2063-01-31');
  });

  it('counts as it was when the action changed, whatever the register says later', async () => {
    log.at('2067-01-01');
    const [long, short] = [randomUUID(), randomUUID()];
    await activity(long, 'P50Y');
    await activity(short, 'P1D');
    const kept = await under(long);
    log.at('2069-01-01');
    const moved = { tijdstip: '2067-01-01T12:00:00Z', bewaartermijn: null, verwerkingsactiviteitId: short };
    expect((await log.put(kept, moved)).status).toBe(200);
    log.at('2069-01-05');
    await activity(long, 'P1D');
    await staysUntil(kept.actieId, '2069-01-30', '2069-01-31');
  });
});
