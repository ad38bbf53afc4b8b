/** The commands as an operator runs them: the program itself, beside a running service. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Ended } from '../support/program.ts';
import { feedOperator, operator } from './cli.ts';
import { filesWith } from './database-files.ts';
import { agendapunt, asPage, document, readRecords, removal, vergadering } from './support.ts';

feedOperator();

const run = (words: readonly string[], input?: string): Promise<Ended> => operator.run(words, input);
const head = (): Promise<number> => operator.head();

async function file(name: string, lines: readonly (object | string)[]): Promise<string> {
  const path = join(operator.dir, name);
  await writeFile(path, lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  return path;
}

describe('feed publish', () => {
  it('records lines once, and as no-op the second time', async () => {
    const path = await file('a.ndjson', [vergadering('v-1'), '', agendapunt('a-1'), document('d-1')]);
    const first = await run(['publish', '--json', path]);
    expect(first).toMatchObject({ status: 0, stderr: expect.stringMatching(/^Database \S+ on .+, as \S+\.\n$/) });
    const again = await run(['publish', '--json', path]);
    expect(JSON.parse(again.stdout)).toEqual({ lines: 3, recorded: 0, noOp: 3, refused: 0, faults: [] });
    expect(await head()).toBe(3);
  });

  it('reports every refused line, and then publishes nothing', async () => {
    const path = await file('fout.ndjson', [
      vergadering('v-2'),
      '{geen json',
      vergadering('v-3', { onbekend: 1 }),
      removal('delete', 'Agendapunt', 'a-1', { verwijderreden: 'overig' }),
      vergadering('v-4', { locatie: '\ud800' }),
      JSON.stringify(vergadering('v-5')).replace('"naam"', '"naam":"eerder","naam"'),
      vergadering('v-6', { geplandeaanvang: '2026-02-05 10:15:30Z' }),
    ]);
    const { status, stderr } = await run(['publish', path]);
    expect(status).toBe(1);
    for (const line of [2, 3, 4, 5, 6, 7]) expect(stderr).toContain(`fout.ndjson:${line}: `);
    expect(stderr).toContain('onbekend');
    expect(stderr).toContain('fout.ndjson:6: a name occurs twice in one object');
    expect(await head()).toBe(3);
    const strict = await run(['publish', '--strict', path]);
    expect(strict.stderr).not.toContain('fout.ndjson:3');
    const partial = await run(['publish', '--partial', '--json', path]);
    expect([partial.status, JSON.parse(partial.stdout)]).toMatchObject([1, { recorded: 1, refused: 6 }]);
    expect(await head()).toBe(4);
  });

  it('reports a line that is not UTF-8, or that exceeds the maximum length', async () => {
    const good = JSON.stringify(vergadering('v-1'));
    const latin = join(operator.dir, 'latin.ndjson');
    await writeFile(latin, Buffer.from(`${good}\n${JSON.stringify(vergadering('café'))}\n${good}`, 'latin1'));
    expect((await run(['publish', latin])).stderr).toContain('latin.ndjson:2: is not UTF-8');
    const { status, stdout } = await run(['publish', '--partial', '--json', latin]);
    expect([status, JSON.parse(stdout)]).toMatchObject([1, { lines: 3, noOp: 2, refused: 1 }]);
    const long = await file('long.ndjson', [vergadering('v-1'), 'x'.repeat(5 * 1024 * 1024)]);
    expect((await run(['publish', long])).stderr).toContain('line 2 is longer than');
  });

  it('reads standard input, and refuses other organisations when one is named', async () => {
    const lines = `${JSON.stringify(vergadering('v-1'))}\r\n\ufeff${JSON.stringify(vergadering('v-1'))}`;
    expect((await run(['publish', '-'], lines)).status).toBe(1);
    const other = await run(['publish', '--organisatie', 'GM0001'], JSON.stringify(vergadering('v-9')));
    expect(other.stderr).toContain('is not of gm0001');
    expect((await run(['publish'], JSON.stringify(vergadering('v-1')))).stdout).toContain('1 no-op');
  });

  it('reports wrong usage', async () => {
    expect((await run(['publish', '--wat'])).status).toBe(2);
    expect((await run(['publish', '--strict', '--partial'])).status).toBe(2);
    expect((await run(['publish', join(operator.dir, 'weg.ndjson')])).status).toBe(1);
    expect((await run(['redact', '--resource', 'gm9901/Vergadering/v-1', '--reden', 'overig'])).status).toBe(2);
    expect((await run(['prune', '--before', '31-01-2026'])).status).toBe(2);
    expect((await run(['prune', '--before', '2999-01-01'])).status).toBe(2);
  });
});

describe('feed sync', () => {
  const stand = (names: string[]): object[] => names.map((name) => document(name));

  it('publishes differences and deletes missing resources', async () => {
    const full = stand(Array.from({ length: 20 }, (_, i) => `s-${i}`));
    const rest = [vergadering('v-1'), vergadering('v-2'), agendapunt('a-1')];
    await run(['publish', await file('vol.ndjson', full)]);
    const path = await file('stand.ndjson', [...full.slice(1), document('s-nieuw'), ...rest]);
    const synced = await run(['sync', '--organisatie', 'gm9901', '--json', path]);
    expect(JSON.parse(synced.stdout)).toEqual({ lines: 23, recorded: 1, noOp: 22, deleted: 2 });
    const records = (await readRecords(operator.feed.api)).slice(-2);
    expect(records.map(({ op, resource }) => [op, resource.bronidentificatie])).toEqual([
      ['delete', 'd-1'],
      ['delete', 's-0'],
    ]);
  });

  it('refuses to delete more than a tenth without `--allow-mass-delete`', async () => {
    const before = await head();
    const path = await file('klein.ndjson', [vergadering('v-1')]);
    const refused = await run(['sync', '--organisatie', 'gm9901', path]);
    expect([refused.status, await head()]).toEqual([1, before]);
    expect(refused.stderr).toContain('--allow-mass-delete');
    expect((await run(['sync', '--organisatie', 'gm9901', await file('leeg.ndjson', [])])).status).toBe(1);
    const double = await run(['sync', '--organisatie', 'gm9901'], `${JSON.stringify(vergadering('v-1'))}\n`.repeat(2));
    expect(double.stderr).toContain('twice');
    const forced = await run(['sync', '--organisatie', 'gm9901', '--allow-mass-delete', path]);
    expect(forced.status).toBe(0);
    expect(asPage((await operator.feed.api.call('GET', '/snapshot')).json).records).toHaveLength(1);
  });
});

describe('feed redact', () => {
  it('removes the content from the whole history', async () => {
    await operator.feed.publish([document('geheim/1', { omschrijving: 'Zeer-Geheim-Woord' })]);
    const redacted = await run([
      'redact',
      '--resource',
      'GM9901/Informatieobject/geheim/1',
      '--reden',
      'persoonsgegevens',
      '--json',
    ]);
    expect(redacted.status).toBe(0);
    expect(JSON.parse(redacted.stdout)).toMatchObject([{ resource: 'gm9901/Informatieobject/geheim/1' }]);
    expect(await filesWith(operator.feed.databaseUrl, 'Zeer-Geheim-Woord')).toEqual([]);
    expect((await operator.feed.api.call('GET', '/feed')).text).not.toContain('Zeer-Geheim-Woord');
  });
});

describe('feed prune', () => {
  it('drops old history, never current state, and refuses earlier cursors', async () => {
    const first = asPage((await operator.feed.api.call('GET', '/feed?limit=1')).json).cursor;
    const state = await readRecords(operator.feed.api, '/snapshot');
    await new Promise((resolve) => setTimeout(resolve, 20));
    const moment = new Date().toISOString();
    await operator.feed.publish([vergadering('v-1', { locatie: 'Raadzaal' }), vergadering('v-50')]);
    const end = await head();
    const pruned = await run(['prune', '--before', moment, '--json']);
    expect(JSON.parse(pruned.stdout)).toMatchObject({ upTo: end - 2 });
    const page = asPage((await operator.feed.api.call('GET', '/feed')).json);
    expect(page.records.map(({ sequenceNumber }) => sequenceNumber)).toEqual([end - 1, end]);
    const refused = await operator.feed.api.call('GET', `/feed?cursor=${first}`);
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('/snapshot')]);
    expect(await readRecords(operator.feed.api, '/snapshot')).toHaveLength(state.length + 1);
    expect((await operator.feed.api.call('GET', '/')).json).toMatchObject({ historieVanaf: moment.slice(0, 10) });
  });
});

describe('feed verify', () => {
  it('reports an agenda item that has begun and has no end, once its meeting has ended, and only that', async () => {
    const times = { aanvang: '2026-01-15T19:30:00+01:00', einde: '2026-01-15T22:10:00+01:00' };
    const begun = { vergadering: { bronidentificatie: 'v-einde' }, starttijd: '2026-01-15T20:00:00+01:00' };
    const verified = async () => JSON.parse((await run(['verify', '--json'])).stdout).faults;
    await operator.feed.publish([agendapunt('a-open', begun), vergadering('v-einde')]);
    expect(await verified()).toEqual([]);
    await operator.feed.publish([vergadering('v-einde', { ...times, einde: '2999-01-15T22:10:00+01:00' })]);
    expect(await verified()).toEqual([]);
    await operator.feed.publish([
      vergadering('v-einde', times),
      agendapunt('a-plan', { vergadering: begun.vergadering }),
    ]);
    const fault = 'has `starttijd` and no `eindtijd`, though its meeting has ended';
    expect(await verified()).toEqual([{ sequenceNumber: (await head()) - 4, fault }]);
    const ends = ['2026-01-15T20:20:00+01:00', '2026-01-15T20:30:00+01:00'];
    await operator.feed.publish(ends.map((eindtijd) => agendapunt('a-open', { ...begun, eindtijd })));
    expect(await verified()).toEqual([]);
  });

  it('finds no fault in all of the above, and reports a deliberate one', async () => {
    const fine = await run(['verify', '--json']);
    expect([fine.status, JSON.parse(fine.stdout).faults]).toEqual([0, []]);
    const end = await head();
    await operator.feed.pool.query(
      `update raadsfeed.texts set record_suffix = replace(record_suffix, 'Vergadering v-', 'Vergadering x-') where sequence_number > $1`,
      [end - 5],
    );
    const changed = await run(['verify', '--json']);
    expect(changed.status).toBe(1);
    expect(changed.stdout).toContain('contentHash is not that of its data');
    await operator.feed.pool.query('delete from raadsfeed.records where sequence_number = $1', [end - 1]);
    expect((await run(['verify'])).stdout).toContain('is not in the index of records');
    await operator.feed.pool.query('delete from raadsfeed.texts where sequence_number = $1', [end - 1]);
    expect((await run(['verify'])).stdout).toContain(`the numbers ${end - 1} to ${end - 1} are missing`);
  });
});
