/** The example data's dates are in the week in which they are loaded. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { asIfThisWeek, firstStart } from '../../src/demo/example-days.ts';
import { isRecord } from '../../src/lib/json/json-value.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples/demo');
const DAY_MS = 86_400_000;

async function linesOf(name: string, now: Date): Promise<Record<string, unknown>[]> {
  const text = asIfThisWeek(await readFile(join(EXAMPLES, `${name}.ndjson`), 'utf8'), now);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(isRecord);
}

describe.each([
  '2026-11-28T15:00:00Z',
  '2026-12-03T10:00:00Z',
  '2026-12-03T23:30:00Z',
  '2025-01-01T00:00:00Z',
  '2027-06-30T12:00:00Z',
])('loaded at %s', (moment) => {
  const now = new Date(moment);

  it('has one meeting within a week, others after it, and the past ones in the past', async () => {
    const meetings = (await linesOf('raadsinformatie', now)).map(({ data }) => Object(data));
    const starts = meetings.flatMap(({ geplandeaanvang }) => geplandeaanvang ?? []).map((start) => new Date(start));
    expect(starts).toHaveLength(3);
    expect(Math.min(...starts.map(Number))).toBeGreaterThan(now.getTime());
    expect(Math.min(...starts.map(Number))).toBeLessThan(now.getTime() + 8 * DAY_MS);
    expect(starts.map((start) => start.getUTCDay())).toEqual([4, 2, 3]);
    const past = meetings.flatMap(({ aanvang, einde, gewijzigdop }) => [aanvang, einde, gewijzigdop]).filter(Boolean);
    expect(past.length).toBeGreaterThan(30);
    for (const one of past) expect(Date.parse(one)).toBeLessThan(now.getTime());
  });

  it('has actions in the months before', async () => {
    const moments = (await linesOf('verwerkingsacties', now)).map(({ tijdstip }) => Date.parse(String(tijdstip)));
    expect(moments).toHaveLength(40);
    expect(Math.max(...moments)).toBeLessThan(now.getTime());
    expect(Math.max(...moments)).toBeGreaterThan(now.getTime() - 30 * DAY_MS);
    expect(Math.min(...moments)).toBeGreaterThan(now.getTime() - 120 * DAY_MS);
  });
});

it('has every action under its own activity, and actions for activities of each kind', async () => {
  const now = new Date('2026-11-28T15:00:00Z');
  const activities = new Map(
    (await linesOf('verwerkingsactiviteiten', now)).map(({ id, body }) => [id, String(Object(body).naam)]),
  );
  const acties = await linesOf('verwerkingsacties', now);
  for (const { verwerkingsactiviteitId, verwerkingNaam } of acties)
    expect(verwerkingNaam).toBe(activities.get(verwerkingsactiviteitId));
  expect(new Set(acties.map(({ verwerkingNaam }) => verwerkingNaam))).toEqual(new Set(activities.values()));
});

it('has titles of documents as a clerk writes them, all different', async () => {
  const records = (await linesOf('raadsinformatie', new Date())).map(({ data }) => Object(data));
  const titles = records.flatMap(({ titel, naam }) => titel ?? naam ?? []).map(String);
  expect(titles.length).toBeGreaterThan(10);
  for (const title of titles)
    expect(title).toMatch(/^(Raads|Commissie |Motie |Verslag |Vergadering |Voorstel |Zienswijze )/);
  const documents = titles.filter((title) => !/vergadering|^Commissie/i.test(title));
  expect(new Set(documents).size).toBe(documents.length);
});

it('uses the current time when the stored one was changed or is not a date', () => {
  const text =
    '{"op":"upsert","a":"2026-03-05T19:30:00+01:00","b":"2026-03-05","id":"raad-2026-03-05","c":"00002026-03-05"}';
  expect(JSON.parse(asIfThisWeek(text, new Date('2026-06-24T12:00:00Z')))).toEqual({
    op: 'upsert',
    a: '2026-06-25T19:30:00+02:00',
    b: '2026-06-25',
    id: 'raad-2026-03-05',
    c: '00002026-03-05',
  });
});

it('remembers the first start, and starts over when its record was truncated', async () => {
  const home = await mkdtemp(join(tmpdir(), 'koppelvlak-test-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  await writeFile(join(home, 'first-start'), '');
  const first = await firstStart(home);
  expect(Math.abs(first.getTime() - Date.now())).toBeLessThan(60_000);
  expect(await firstStart(home)).toEqual(first);
});
