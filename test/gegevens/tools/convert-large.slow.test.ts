/**
 * Many signals are converted in little memory, and an interrupted conversion leaves no file. For a million: `CONVERT_SIGNALS=1000000 npm
 * run test:slow -- test/gegevens/tools/convert-large.slow.test.ts`.
 */

import { once } from 'node:events';
import { createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recogniseModel } from '../../../src/gegevens/store/import-file.ts';
import { loadModel } from '../../../src/lib/exchange-model/model.ts';
import { startProgram } from '../../support/program.ts';

const SIGNALS = Number(process.env.CONVERT_SIGNALS ?? 6_000);
/** The signals are few and large: their bytes would not fit in memory. */
const NAME = 'Testers'.repeat(800);
const MAX_MB = 300;

let dir: string;
let file: string;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'omzetten-groot-'));
  file = join(dir, 'vs.json');
  const stream = createWriteStream(file);
  stream.write(`{"startdatumLevering":"2026-01-01","einddatumLevering":"2026-03-31","aanleverdatumEnTijd":"2026-04-07T06:15:00Z",
"codeGegevensleverancier":"PROEF-01","leveringen":[{"teller":1,"gemeentecode":"9901","aanleverende_organisatie":{"naam":"Duinrand"},
"vroegsignalen":[`);
  for (let n = 0; n < SIGNALS; n += 1) {
    const signal = {
      ID: `S-${n}`,
      crisissignaal: false,
      bedrag: n % 5000,
      ontstaansdatum: '2025-12-01',
      signaaldatum: '2026-01-14',
      status: 'Nog niet opgepakt',
      signaalpartner: { type: 'Water' },
      client: {
        Burgerservicenummer: '999990019',
        Achternaam: NAME,
        Postcode: '9999ZX',
        Huisnummer: String(n % 300),
      },
    };
    if (!stream.write(`${n === 0 ? '' : ',\n'}${JSON.stringify(signal)}`)) await once(stream, 'drain');
  }
  stream.end('],"vroegsignaalzaken":[]}]}');
  await finished(stream);
});
afterAll(() => rmSync(dir, { recursive: true }));

const words = (out: string): string[] => [
  'gegevens',
  'convert',
  file,
  '--from',
  '1.0',
  '--to',
  '1.2',
  '--out',
  out,
  '--json',
];

it(`takes less than ${MAX_MB} MB for ${SIGNALS} signals`, { timeout: 600_000 }, async () => {
  const [out, losses] = [join(dir, 'uit.json'), join(dir, 'verlies.jsonl')];
  const started = performance.now();
  // All signals together would not fit.
  const small = { NODE_OPTIONS: '--max-old-space-size=48' };
  const running = startProgram([...words(out), '--losses', losses], small);
  let ended = false;
  let peak = 0;
  void running.ended.then(() => {
    ended = true;
  });
  while (!ended) {
    const status = existsSync(`/proc/${running.child.pid}/status`)
      ? readFileSync(`/proc/${running.child.pid}/status`, 'utf8')
      : '';
    peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
    await delay(100);
  }
  const { status, stdout } = await running.ended;
  const seconds = (performance.now() - started) / 1000;
  process.stdout.write(
    `${SIGNALS} signals, ${Math.round(statSync(file).size / 1e6)} MB: ${seconds.toFixed(1)} s, ${Math.round(peak)} MB\n`,
  );
  expect(status).toBe(0);
  const result = JSON.parse(stdout);
  expect(result).toMatchObject({ records: SIGNALS, refusedCount: 0 });
  expect(result.losses.map(({ count }: { count: number }) => count)).toEqual([SIGNALS, SIGNALS, SIGNALS]);
  expect(peak).toBeGreaterThan(50);
  expect(peak).toBeLessThan(MAX_MB);
  // The file matches no model other than the target.
  expect(await recogniseModel(out, loadModel('vs', '1.0'), new AbortController().signal)).toBe('1.2');
});

it('leaves nothing when it is interrupted while writing', { timeout: 600_000 }, async () => {
  const out = join(dir, 'afgebroken.json');
  const running = startProgram(words(out), {});
  while (!existsSync(`${out}.part`)) await delay(20);
  running.child.kill('SIGINT');
  expect(await running.ended).toMatchObject({ status: 1, stderr: expect.stringContaining('interrupted') });
  expect([existsSync(out), existsSync(`${out}.part`)]).toEqual([false, false]);
});
