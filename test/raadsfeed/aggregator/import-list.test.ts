/** A nationwide list is imported as a whole or not at all. `npm run drill -- suppliers` reads its suppliers. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ProgramOnDatabase, programOnDatabase } from '../../cli/program.ts';

const SOURCES = 330;

let folder: string;
let program: ProgramOnDatabase;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'koppelvlak-list-'));
  program = await programOnDatabase();
});
afterAll(async () => {
  await program.drop();
  await rm(folder, { recursive: true });
});

const row = (n: number, from = '2020-01-01'): string =>
  `notubiz:${n},gm${String(n).padStart(4, '0')},Gemeente ${n},,${from},,`;

/** Imports the rows, with some replaced by number, from 1. */
async function importRows(others: Readonly<Record<number, string>>) {
  const rows = Array.from({ length: SOURCES }, (_, i) => others[i + 1] ?? row(i + 1));
  const file = join(folder, 'bronnen.csv');
  await writeFile(file, ['bron,organisatie,naam,portaal,from,until,bodies', ...rows].join('\n'));
  return await program.json('bron', 'import', file, '--yes');
}

async function listed(): Promise<readonly unknown[]> {
  const { result } = await program.json('bron', 'list');
  return Array.isArray(result) ? result : [];
}

it('names the faulty lines, twenty of them, and adds nothing', async () => {
  const faulty = Array.from({ length: 25 }, (_, i) => [10 * (i + 1), `notubiz:${i},gm1,Te kort,,,,`] as const);
  const refused = await importRows(Object.fromEntries(faulty));
  expect(refused).toMatchObject({ status: 1, result: undefined });
  // The heading is line 1.
  for (const line of [11, 21, 201]) expect(refused.stderr).toMatch(new RegExp(`line ${line}: a code is gm`));
  expect(refused.stderr).not.toContain('line 211');
  expect(refused.stderr).toContain('and 5 more');
  expect(await listed()).toEqual([]);
});

it('adds nothing when sources of the list are for one organisation, and names them', async () => {
  const refused = await importRows({ 300: row(300).replace('notubiz:300', 'notubiz:9') });
  expect(refused).toMatchObject({ status: 1, result: undefined });
  expect(refused.stderr).toContain('refused: notubiz:9 (');
  expect(refused.stderr).toContain('new: notubiz:330\n');
  expect(await listed()).toEqual([]);
});

it('adds nothing from a list that is Windows-1252, and names the line', async () => {
  const file = join(folder, 'windows.csv');
  await writeFile(
    file,
    `bron,organisatie,naam\n${row(1)}\nnotubiz:2,gm0002,Gemeente S\u00fadwest-Frysl\u00e2n\n`,
    'latin1',
  );
  const refused = await program.json('bron', 'import', file, '--yes');
  expect(refused).toMatchObject({ status: 1, result: undefined });
  expect(refused.stderr).toContain(`nothing was added: ${file} is not UTF-8 in line 3; is it Windows-1252?`);
  expect(await listed()).toEqual([]);
});

it('adds all of them, and later changes the one that differs', async () => {
  expect(await importRows({})).toMatchObject({ status: 0, result: { changed: [], known: [] } });
  expect(await listed()).toHaveLength(SOURCES);
  const again = await importRows({ 7: row(7, '2021-01-01') });
  expect(again).toMatchObject({ status: 0, result: { added: [], changed: ['notubiz:7'] } });
  expect(again.stderr).toContain('changed: notubiz:7 (from: 2020-01-01 → 2021-01-01)');
});
