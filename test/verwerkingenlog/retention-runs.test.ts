/** The log over time: months are created and dropped, and retention runs leave their records. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { koppelvlak } from './cli.ts';
import { ALL, EIGHTY_YEARS, openRetention, type RetentionLog } from './retention-support.ts';
import { HEADERS, listIn, newPerson, ofPerson, startLog } from './support.ts';

let log: RetentionLog;
beforeAll(async () => {
  log = await openRetention(new Date('2026-01-31T23:59:59.999Z'));
});
afterAll(() => log?.close());

describe('months', () => {
  it('are created ahead, and each action is in the month of its registration', async () => {
    const last = await log.keep({});
    log.at(new Date('2026-02-01T00:00:00Z'));
    const first = await log.keep({});
    const { rows } = await log.client.query(
      'select tableoid::regclass::text as month from verwerkingenlog.versies where actie_id = any($1) order by actie_id',
      [[last.actieId, first.actieId]],
    );
    // A shard has its number after its month's.
    expect(rows.map(({ month }) => /versies_(\d{6})/.exec(month)?.[1])).toEqual(['202601', '202602']);
    expect(await log.months()).toEqual(expect.arrayContaining(['202601', '202602', '202603', '202604']));
  });

  it('that were not created ahead are created by the first action that needs them', async () => {
    log.at(new Date('2031-07-15T12:00:00Z'));
    const kept = await Promise.all(Array.from({ length: 20 }, () => log.keep({})));
    expect(new Set(kept.map(({ actieId }) => actieId)).size).toBe(20);
    expect(await log.months()).toEqual(expect.arrayContaining(['203107', '203108', '203109', '203110']));
    const { results } = listIn(await log.call('GET', `/verwerkingsacties?${ofPerson(kept[0]?.person ?? '')}`));
    expect(results).toHaveLength(1);
  });

  it('that were not created ahead are created by a reading that leaves an entry', async () => {
    const reading = await startLog({
      databaseUrl: log.url,
      clock: { now: () => new Date('2033-02-01T00:00:00Z') },
    });
    try {
      const token = await reading.tokens.bearer(ALL, { seconds: EIGHTY_YEARS });
      const answer = await reading.api.call('GET', `/verwerkte-objecten?${ofPerson(newPerson())}`, {
        headers: { ...token, ...HEADERS },
      });
      expect(answer.status).toBe(200);
    } finally {
      await reading.stop();
    }
  });
});

describe('a run', () => {
  it('leaves a record: when, how many, which months, the oldest and the newest; a dry run leaves none', async () => {
    log.at('2070-01-10');
    await log.prune();
    const first = await log.keep({ tijdstip: '2070-01-01T00:00:00Z', bewaartermijn: 'P1Y' });
    log.at('2070-02-10');
    await log.keep({ tijdstip: '2070-01-01T00:00:00Z', bewaartermijn: 'P1Y' });
    log.at('2072-01-01');
    const before = await log.lastLine();
    await log.prune({}, { dryRun: true });
    expect(await log.lastLine()).toEqual(before);
    await log.prune();
    expect(await log.lastLine()).toMatchObject({
      started_at: log.now(),
      ended_at: log.now(),
      removed: '2',
      by_month: { 207001: 1, 207002: 1 },
      oldest: new Date('2070-01-10T12:00:00Z'),
      newest: new Date('2070-02-10T12:00:00Z'),
      fault: null,
    });
    expect(await log.versionsOf(first.actieId)).toBe(0);
  });

  it('walks a month in batches, and counts them all in its record', async () => {
    await log.client.query(`
      select verwerkingenlog.create_months('2085-01-01Z', 1);
      insert into verwerkingenlog.versies (actie_id, versie, tijdstip_registratie, door, verzoek_id, vervallen, vertrouwelijkheid,
        ooit_vertrouwelijk, bewaartermijn, tijdstip, objecten, key_name)
      select overlay(verwerkingenlog.first_id(m)::text placing lpad(to_hex(i), 6, '0') from 27)::uuid, v, m, 't', 't', false, 'normaal',
        false, case when i % 25 = 0 then 'P1Y' else 'P50Y' end, m, '[]', 'eerste'
      from generate_series(1, 12000) i, generate_series(1, 2) v,
        lateral (select '2085-01-01Z'::timestamptz + i * interval '1 minute') as t(m);`);
    log.at('2087-01-01');
    expect(await log.prune({}, { dryRun: true })).toMatchObject({ removed: 480, byMonth: { 208501: 480 } });
    await log.prune();
    expect(await log.lastLine()).toMatchObject({
      removed: '480',
      by_month: { 208501: 480 },
      oldest: new Date('2085-01-01T00:25:00Z'),
      newest: new Date('2085-01-09T08:00:00Z'),
    });
    log.at('2140-01-01');
    const steps: number[] = [];
    await log.prune({}, { progress: (removed) => steps.push(removed) });
    expect(steps.length).toBeGreaterThan(20);
    expect(await log.lastLine()).toMatchObject({ by_month: { 208501: 11_520 } });
    expect(await log.months()).not.toContain('208501');
  });

  it('that breaks off records its removals and the reason', async () => {
    log.at('2073-01-01');
    await log.prune();
    await log.keep({ tijdstip: '2073-01-01T00:00:00Z', bewaartermijn: 'P1Y' });
    log.at('2074-01-01');
    expect(await log.prune({}, { dryRun: true })).toMatchObject({ byMonth: { 207301: 1 } });
    const stop = new AbortController();
    const run = log.prune({}, { signal: stop.signal, progress: () => stop.abort(new Error('stopped half way')) });
    await expect(run).rejects.toThrow('stopped half way');
    expect(await log.lastLine()).toMatchObject({ removed: '1', by_month: { 207301: 1 }, fault: 'stopped half way' });
  });

  it('cannot remove its record, nor lower its count', async () => {
    for (const statement of [
      'delete from verwerkingenlog.prune_runs',
      'truncate verwerkingenlog.prune_runs',
      `update verwerkingenlog.prune_runs set removed = 0`,
      `update verwerkingenlog.prune_runs set started_at = now()`,
      'alter table verwerkingenlog.prune_runs disable trigger all',
      'delete from verwerkingenlog.activiteit_termijnen',
      `update verwerkingenlog.activiteit_termijnen set valid_from = now()`,
      `insert into verwerkingenlog.activiteit_termijnen (verwerkingsactiviteit_id, valid_from, door, verzoek_id) select gen_random_uuid(), now(), '', ''`,
    ]) {
      await expect(log.retention.query(statement), statement).rejects.toMatchObject({ code: '42501' });
    }
  });

  it('is refused when the clock is ahead of the database’s: nothing is removed, and there is no record', async () => {
    log.at('2076-01-01');
    const kept = await log.keep({ tijdstip: '2076-01-01T00:00:00Z', bewaartermijn: 'P1Y' });
    log.at('2078-01-01');
    const before = await log.lastLine();
    const behind = (seconds: number) => new Date(log.now().getTime() - seconds * 1000);
    for (const dryRun of [false, true]) {
      log.databaseAt(behind(6));
      await expect(log.prune({}, { dryRun })).rejects.toThrow('6 seconds ahead of the database');
    }
    expect(await log.lastLine()).toEqual(before);
    expect(await log.versionsOf(kept.actieId)).toBe(1);
    log.databaseAt(behind(4));
    await log.prune();
    log.databaseAt(undefined);
    expect(await log.versionsOf(kept.actieId)).toBe(0);
  });

  it('drops a past month that is empty, and no other', async () => {
    log.at('2080-06-01');
    await log.client.query(`select verwerkingenlog.create_months('2080-03-01Z', 5)`);
    const { droppedMonths } = await log.prune();
    const after = await log.months();
    expect(droppedMonths).toEqual(expect.arrayContaining(['208003', '208004']));
    expect(Object(await log.lastLine()).removed_months).toEqual(droppedMonths);
    expect(after).toEqual(expect.arrayContaining(['208005', '208006', '208007']));
    expect(after).not.toContain('208003');
  });

  it("is `koppelvlak log prune`, on the machine's clock", async () => {
    log.at(new Date(Date.now() - 400 * 86_400_000));
    const past = await log.keep({ tijdstip: '2001-01-01T00:00:00Z', bewaartermijn: 'PT1H' });
    log.at(new Date());
    const recent = await log.keep({ tijdstip: '2001-01-01T00:00:00Z', bewaartermijn: 'PT1H' });
    // The database's clock is fixed; the machine's is not.
    log.databaseAt(new Date(Date.now() + 3_600_000));
    const dry = await koppelvlak(log.url, ['log', 'prune', '--dry-run', '--json']);
    expect(dry).toMatchObject({ code: 0, json: { dryRun: true, removed: 1, droppedMonths: [] } });
    expect(await log.versionsOf(past.actieId)).toBe(1);
    await log.keep({ bewaartermijn: null, verwerkingsactiviteitId: null });
    const real = await koppelvlak(log.url, ['log', 'prune']);
    expect(real.code).toBe(0);
    expect(real.out).toMatch(/^1 action removed\./m);
    expect(real.out).toMatch(/^Without a term, and kept: (1 action|\d+ actions)\.$/m);
    expect(await log.versionsOf(past.actieId)).toBe(0);
    expect(await log.versionsOf(recent.actieId)).toBe(1);
    expect(await koppelvlak(log.url, ['log', 'verify', '--json'])).toMatchObject({
      code: 0,
      json: { faults: [] },
    });
  });

  it('cannot change an action', async () => {
    for (const statement of [
      `update verwerkingenlog.versies set actie_naam = 'x'`,
      `update verwerkingenlog.versies set tijdstip = now()`,
      `insert into verwerkingenlog.versies default values`,
    ]) {
      await expect(log.retention.query(statement), statement).rejects.toMatchObject({ code: '42501' });
    }
  });
});
