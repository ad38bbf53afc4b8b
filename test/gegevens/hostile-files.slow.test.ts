/** Small files that could take much memory: the program that reads them has a small heap, and is measured. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startProgram } from '../support/program.ts';
import { messageFile, vsMessage } from './support/messages.ts';
import { fileNamed, shvTable } from './tools/tables/support.ts';

const MOST_MB = 300;
const MEGABYTE = 1024 * 1024;
/** Faulty records of 0.9 MB, each of which takes 12 MB or more once read: together they would not fit in 128 MB. */
const FAULTY = 11;
/** More cells than would fit at the size of a pointer each. */
const TABLE_BYTES = 20 * MEGABYTE;

/** A message in which one record has a member with this JSON. */
const withMember = (json: string, records = 1, id = '"s"'): string => {
  const [head = '', tail = ''] = JSON.stringify(
    vsMessage({ leveringen: [{ naam: 'Groot', kvk: '40000001', records: [] }] }),
  ).split('"vroegsignalen":[');
  const record = `{"ID":${id},"signaalpartner":{"type":"Water"},"client":{"x":${json}}}`;
  return `${head}"vroegsignalen":[${Array.from({ length: records }, () => record).join(',')}${tail}`;
};
/** Lists in lists, as deep as a record may be, side by side. */
const nested = (bytes: number): string => {
  const one = `${'['.repeat(90)}1${']'.repeat(90)}`;
  return `[${Array.from({ length: Math.floor(bytes / (one.length + 1)) }, () => one).join(',')}]`;
};
const flat = (bytes: number): string => `[${'[],'.repeat(bytes / 3)}[]]`;

async function measured(
  words: readonly string[],
): Promise<{ status: number | null; stderr: string; megabytes: number }> {
  // Reported at its end by the process itself. Not `maxRSS`, which begins at the size of its parent process.
  const report = `data:text/javascript,import { readFileSync } from 'node:fs';process.on('exit',()=>process.stderr.write(readFileSync('/proc/self/status','utf8')))`;
  const env = { NODE_OPTIONS: `--max-old-space-size=128 --import="${report}"` };
  const { status, stderr, stdout } = await startProgram(['gegevens', ...words], env).ended;
  return { status, stderr: stdout + stderr, megabytes: Number(/VmHWM:\s+(\d+)/.exec(stderr)?.[1]) / 1024 };
}

it.each([
  ['one record of lists in lists', () => withMember(nested(5 * MEGABYTE), 1, '1'), /a record larger than/],
  ['one record of empty lists', () => withMember(flat(5 * MEGABYTE), 1, '1'), /a record larger than/],
  ['faulty records of lists in lists', () => withMember(nested(0.9 * MEGABYTE), FAULTY, '1'), /ID {2}must be string/],
  ['faulty records of empty lists', () => withMember(flat(0.9 * MEGABYTE), FAULTY, '1'), /ID {2}must be string/],
  ['opening brackets', () => '['.repeat(5 * MEGABYTE), /levels deep/],
  ['objects in objects', () => '{"a":'.repeat(MEGABYTE), /levels deep/],
])('refuses a JSON file of %s in less than 300 MB', async (_, text, message) => {
  const file = messageFile(text());
  const out = `${file}.out`;
  const { status, stderr, megabytes } = await measured(['convert', file, '--from', '1.1', '--to', '1.2', '--out', out]);
  await rm(join(file, '..'), { recursive: true });
  expect([status, stderr]).toEqual([1, expect.stringMatching(message)]);
  expect(megabytes).toBeLessThan(MOST_MB);
});

it.each([
  ['delimiters', ';'.repeat(TABLE_BYTES), /more than 16384 columns|more than 1048576 bytes/],
  [
    'delimiters and quoted line ends',
    `${';'.repeat(MEGABYTE / 2)}"\n"`.repeat(40),
    /more than 16384 columns|more than 1048576 bytes/,
  ],
  ['one unquoted cell', 'x'.repeat(TABLE_BYTES), /more than 1048576 bytes/],
  ['rows with too many columns', `${';'.repeat(20_000)}\n`.repeat(1000), /more than 16384 columns/],
])('refuses a CSV file of %s in less than 300 MB', async (_, text, message) => {
  const file = fileNamed('breed.csv', text);
  const mapping = shvTable({ '/gemeentecode': 'Gemeente' });
  const words = ['import', '--variant', 'shv', '--mapping', mapping, '--dry-run', file];
  const { status, stderr, megabytes } = await measured(words);
  await rm(file);
  expect([status, stderr]).toEqual([1, expect.stringMatching(message)]);
  expect(megabytes).toBeLessThan(MOST_MB);
});
