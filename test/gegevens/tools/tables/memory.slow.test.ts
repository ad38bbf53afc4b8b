/**
 * A table imported by a separate process whose memory is measured. For a million: `TABLE_ROWS=1000000 npm run test:slow --
 * test/gegevens/tools/tables/memory.slow.test.ts`.
 */
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../../support/database.ts';
import { startProgram } from '../../../support/program.ts';
import { fileNamed, shvTable } from './support.ts';

const ROWS = Number(process.env.TABLE_ROWS ?? 40_000);
const MOST_MB = 300;

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** Two rows for each record, one for each debt. @param order of the records */
function* lines(order: (record: number) => number): Generator<string> {
  yield 'Dossier;Gemeente;Omschrijving;Start;Schuld;BSN;Geboren;Geslacht;Postcode;Nr;Bedrag;Peildatum\r\n';
  for (let from = 0; from < ROWS; from += 1000) {
    let text = '';
    for (let row = from; row < from + 1000; row += 1) {
      const record = order(row >> 1);
      const bsn = String(record).padStart(9, '0');
      text += `${record};14;"Dossier ${record}; met een ""toelichting"" van enige lengte";5-1-2026;"12.345,50";${bsn};19-3-1971;V;0123 AB;7;€ 1.234,5${row & 1};20260105\r\n`;
    }
    yield text;
  }
}

it.each([
  ['in the order of its records', (record: number) => record],
  ['in any order', (record: number) => (record * 7919) % (ROWS / 2)],
])('is imported %s in less than 300 MB', { timeout: 1_200_000 }, async (_, order) => {
  const file = fileNamed('groot.csv', '');
  await pipeline(Readable.from(lines(order)), createWriteStream(file));
  const mapping = shvTable(
    {
      '/gemeentecode': { column: 'Gemeente', digits: 4 },
      '/omschrijving': 'Omschrijving',
      '/startdatum': 'Start',
      '/totaalSchuldbedragBijAanvangSchuld': 'Schuld',
      '/client/-/Burgerservicenummer': 'BSN',
      '/client/-/Geboortedatum': { column: 'Geboren', type: 'date' },
      '/client/-/Geslachtsaanduiding': { column: 'Geslacht', values: { V: 'Vrouw' } },
      '/client/-/Postcode': 'Postcode',
      '/client/-/Huisnummer': 'Nr',
      '/schulden/-/bedrag': 'Bedrag',
      '/schulden/-/peildatum': 'Peildatum',
    },
    { key: ['Dossier'], items: { '/client': { key: ['BSN'] } } },
    { dates: ['d-M-yyyy', 'yyyyMMdd'] },
  );
  // Reported at its end by the process itself. Not `maxRSS`, which begins at the size of its parent process.
  const report = `data:text/javascript,import { readFileSync } from 'node:fs';process.on('exit',()=>process.stderr.write(readFileSync('/proc/self/status','utf8')))`;
  const env = { DATABASE_URL: database.url, NODE_OPTIONS: `--max-old-space-size=64 --import="${report}"` };
  const words = ['gegevens', 'import', '--variant', 'shv', '--replace', '--json', '--mapping', mapping, file];
  const { status, stdout, stderr } = await startProgram(words, env).ended;
  await rm(file);
  expect([status, JSON.parse(stdout)]).toMatchObject([0, { files: [{ records: ROWS / 2 }] }]);
  const megabytes = Number(/VmHWM:\s+(\d+)/.exec(stderr)?.[1]) / 1024;
  expect(megabytes).toBeGreaterThan(0);
  expect(megabytes).toBeLessThan(MOST_MB);
});
