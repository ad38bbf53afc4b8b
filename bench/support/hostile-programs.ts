/** Programs given a hostile answer, table or delivery. They must exit on their own, soon and in little memory. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAIN as CONFORMANCE } from '../../conformance/test/program.ts';
import { messageFile, shvMessage } from '../../test/gegevens/support/messages.ts';
import { shvTable, textRow, workbook } from '../../test/gegevens/tools/tables/support.ts';
import { FakeSource, type Rule } from '../../test/raadsfeed/aggregator/fake-source.ts';
import { HOSTILE_SHAPES, hostileJson } from '../../test/support/hostile-json.ts';
import { startMeasured } from '../../test/support/measured-program.ts';

/** Seconds within which a program must exit on hostile input; valid input takes one or two. */
const ENDS_WITHIN = 30;
const MAY_TAKE_MB = 400;

interface HostileProgram {
  readonly name: string;
  /** @returns the words of the command, of the service's program unless `main` names another */
  prepare(dir: string): Promise<Prepared>;
}

interface Prepared {
  readonly words: readonly string[];
  readonly main?: string;
  readonly close?: () => Promise<void>;
}

/** A tested feed whose pages are something else. */
async function testedFeed(rule: Rule): Promise<Prepared> {
  const source = await new FakeSource('gm9901').listen();
  source.document('d-1');
  source.rule = rule;
  const words = ['raadsfeed', source.url, '--only', 'C-FEED-01', 'C-CUR-01', '--rate', '100'];
  return { words, main: CONFORMANCE, close: () => source.close() };
}

export const HOSTILE_PROGRAMS: readonly HostileProgram[] = [
  ...HOSTILE_SHAPES.map((shape) => ({
    name: `conformance, answered with 33 MB of ${shape}`,
    prepare: () =>
      testedFeed(({ path, response }) => {
        if (path === '/') return false;
        response.writeHead(200, { 'content-type': 'application/json' }).end(hostileJson(shape, 33_000_000));
        return true;
      }),
  })),
  ...HOSTILE_SHAPES.map((shape) => ({
    name: `conformance compare, with a report of 60 MB of ${shape}`,
    prepare: async (dir: string) => {
      const file = join(dir, 'report.json');
      writeFileSync(file, hostileJson(shape, 60_000_000));
      return { words: ['compare', file, file], main: CONFORMANCE };
    },
  })),
  {
    name: 'conformance, answered with a cursor of 1 MB of eyJ-',
    prepare: () =>
      testedFeed(({ path, page, json }) => {
        if (path === '/') return false;
        json({ ...page(), cursor: 'eyJ-'.repeat(262_144) });
        return true;
      }),
  },
  {
    name: 'gegevens import, of a workbook with a hundred formats of 60 KB of [',
    prepare: async () => {
      const mapping = shvTable({ '/omschrijving': 'Omschrijving' });
      const rows = textRow(1, 'Omschrijving') + textRow(2, 'Traject');
      const table = workbook({
        sheets: { Blad1: rows },
        formats: Array.from({ length: 100 }, () => '['.repeat(60_000)),
      });
      return { words: ['gegevens', 'import', '--variant', 'shv', '--mapping', mapping, '--dry-run', table] };
    },
  },
  {
    name: 'gegevens check, of a person whose number is 20 000 blanks',
    prepare: async () => {
      const records = [{ mark: 'r1', van: '2026-01-05', bsn: [`${' '.repeat(20_000)}x`] }];
      const file = messageFile(shvMessage({ leveringen: [{ naam: 'Noord', records }] }));
      return { words: ['gegevens', 'check', '--variant', 'shv', file] };
    },
  },
];

/**
 * Runs one of them.
 * @returns the limits that it exceeded
 */
export async function runHostile({ prepare }: HostileProgram, dir: string): Promise<string[]> {
  const { words, main, close } = await prepare(dir);
  const program = startMeasured(words, { KOPPELVLAK_HOME: dir }, main === undefined ? {} : { main });
  // A regular expression that never ends does not see SIGTERM.
  const late = setTimeout(() => program.child.kill('SIGKILL'), ENDS_WITHIN * 1000);
  const started = performance.now();
  const { status, stderr } = await program.ended;
  clearTimeout(late);
  await close?.();
  const took = `${((performance.now() - started) / 1000).toFixed(1)} s, peak ${program.peakMb().toFixed(0)} MB`;
  console.log(`  status ${status} in ${took}: ${stderr.trim().split('\n').at(-1)?.slice(0, 120) ?? ''}`);
  if (status === null) return [`did not exit within ${ENDS_WITHIN} s`];
  return program.peakMb() > MAY_TAKE_MB ? [`took ${program.peakMb().toFixed(0)} MB, ${MAY_TAKE_MB} allowed`] : [];
}
