/** Files larger than the memory of the process that checks them. */
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startProgram } from '../../../support/program.ts';
import { message, shvLevering, traject } from './support.ts';

const RECORDS = 25_000;
const directory = mkdtempSync(join(tmpdir(), 'check-'));
const path = join(directory, 'groot.json');
beforeAll(async () => {
  const [head = '', tail = ''] = JSON.stringify(message([shvLevering([])])).split('"schuldhulptrajecten":[');
  const file = createWriteStream(path);
  file.write(`${head}"schuldhulptrajecten":[`);
  const text = 'Een omschrijving van een kilobyte. '.repeat(85);
  for (let n = 0; n < RECORDS; n += 1) {
    const persons = [{ Burgerservicenummer: String(100_000_000 + n) }];
    // Every record has a finding.
    const record = traject({ omschrijving: `${n} ${text}`, client: persons, toekenningsdatum: '2026-02-02' });
    if (!file.write(`${n === 0 ? '' : ','}${JSON.stringify(record)}`)) await once(file, 'drain');
  }
  file.end(tail);
  await finished(file);
});
afterAll(() => rmSync(directory, { recursive: true }));

it('takes only some bytes of memory per record', async () => {
  expect(statSync(path).size).toBeGreaterThan(80 * 1024 * 1024);
  const { child, ended } = startProgram(['gegevens', 'check', '--variant', 'shv', '--json', path], {
    NODE_OPTIONS: '--max-old-space-size=64',
  });
  let peakMb = 0;
  const watch = setInterval(() => {
    const kilobytes = /VmHWM:\s+(\d+)/.exec(statusOf(child.pid))?.[1];
    peakMb = Math.max(peakMb, Number(kilobytes ?? 0) / 1024);
  }, 50);
  const { status, stdout, stderr } = await ended;
  clearInterval(watch);
  expect([status, stderr]).toEqual([0, expect.not.stringContaining('koppelvlak:')]);
  expect(JSON.parse(stdout)).toMatchObject({
    municipalities: [{ gemeentecode: 'GM0344', trajectories: RECORDS, persons: RECORDS }],
    findings: [{ rule: 8, count: RECORDS, places: { length: 100 } }, { rule: 15 }],
  });
  expect(peakMb).toBeLessThan(220);
});

function statusOf(pid: number | undefined): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}
