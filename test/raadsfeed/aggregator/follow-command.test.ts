/** `feed follow` as a re-user runs it: the program itself, on the feed of a running service. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Ended } from '../../support/program.ts';
import { feedOperator, operator } from '../cli.ts';
import { agendapunt, document, PATIENT, readRecords, removal, vergadering } from '../support.ts';

feedOperator();

const run = (words: readonly string[], input?: string): Promise<Ended> => operator.run(words, input);
const head = (): Promise<number> => operator.head();

describe('feed follow', () => {
  it('reads the snapshot, then the feed, and continues where it stopped', async () => {
    const words = [
      'follow',
      operator.feed.mount,
      '--state',
      'plaats.json',
      '--output',
      'uit.ndjson',
      '--once',
      '--json',
    ];
    await operator.feed.publish([vergadering('v-1'), agendapunt('a-1'), document('d-1')]);
    const state = await readRecords(operator.feed.api, '/snapshot');
    expect(JSON.parse((await run(words)).stdout)).toMatchObject({ records: state.length, faults: 0 });
    await operator.feed.publish([vergadering('v-60'), removal('redact', 'Vergadering', 'v-60')]);
    expect(JSON.parse((await run(words)).stdout)).toMatchObject({ records: 2, faults: 0, lastNumber: await head() });
    const lines = (await readFile(join(operator.dir, 'uit.ndjson'), 'utf8')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).op)).toEqual([...state.map(() => 'upsert'), 'redact', 'redact']);
    expect(await run(['follow', operator.feed.server.url, '--state', 'b.json', '--once'])).toMatchObject({ status: 0 });
    expect(
      (await run(['follow', `${operator.feed.server.managementUrl}/`, '--state', 'c.json', '--once'])).status,
    ).toBe(1);
  });

  it('does not continue with the state of another feed', async () => {
    const words = ['--state', 'plaats.json', '--once', '--output', 'uit.ndjson'];
    expect((await run(['follow', operator.feed.mount, ...words])).status).toBe(0);
    expect((await run(['follow', operator.feed.mount, ...words])).status).toBe(0);
    const other = await run(['follow', `${operator.feed.server.url}/ander/v1`, ...words]);
    expect([other.status, other.stderr]).toEqual([1, expect.stringContaining('plaats.json')]);
  });

  it('continues with a state that was found through the host', async () => {
    const words = ['--state', 'gastheer.json', '--once', '--output', 'uit.ndjson'];
    for (const _ of ['first', 'second']) {
      expect((await run(['follow', operator.feed.server.url, ...words])).status).toBe(0);
    }
  });

  it('is refused with `--json` and no output for the records', async () => {
    expect((await run(['follow', operator.feed.mount, '--json'])).status).toBe(2);
  });

  it('exits without an error when its output is closed', async () => {
    const { child, output, ended } = operator.start(['follow', operator.feed.mount, '--state', 'p.json']);
    await expect.poll(() => output().stdout, PATIENT).toContain('"sequenceNumber"');
    child.stdout?.destroy();
    await operator.feed.publish([vergadering(`na-${await head()}`)]);
    const { stderr } = await ended;
    expect(stderr).not.toMatch(/at .*:\d+:\d+/);
  });
});
