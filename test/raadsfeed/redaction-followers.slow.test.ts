/** A redaction with every feature enabled that keeps tables beside the feed: its content is in no file of the database. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rewriteContentTables } from '../../src/raadsfeed/store/text-partitions.ts';
import { callProgram } from '../support/program.ts';
import { filesWith } from './database-files.ts';
import { type PagesServer, startPages } from './pages/pages-fixture.ts';
import { document, removal, vergadering } from './support.ts';

/** Words as in the index: in lower case, and unchanged by the stemmer. */
const WORDS = Array.from({ length: 20 }, (_, i) => `zwetsgeheim${i}q`);

let pages: PagesServer;
beforeAll(async () => {
  pages = await startPages({ RAADSFEED_DIWOO: 'true', RAADSFEED_ROL: 'aggregator' });
});
afterAll(() => pages?.stop());

const publishSecrets = (): Promise<void> =>
  pages.publishAndIndex([
    ...WORDS.map((word, i) =>
      document(`d-${i}`, {
        titel: `Over ${word}`,
        omschrijving: word,
        bestandsurl: `https://stukken.example/${word}.pdf`,
      }),
    ),
    ...Array.from({ length: 30 }, (_, i) => vergadering(`v-${i}`, { naam: `Gewone vergadering ${i}` })),
  ]);

const wordsInFiles = (): Promise<string[]> => filesWith(pages.databaseUrl, ...WORDS);

it('leaves no word in any table or index of a feature when `feed redact` has ended', async () => {
  await publishSecrets();
  expect((await wordsInFiles()).join()).toContain('items_words');
  const words = ['feed', 'redact', '--reden', 'persoonsgegevens'];
  for (const i of WORDS.keys()) words.push('--resource', `gm9901/Informatieobject/d-${i}`);
  const { status, stdout } = await callProgram(words, { DATABASE_URL: pages.databaseUrl });
  expect(status).toBe(0);
  expect(stdout).toContain('No table or index holds the content any more.');
  expect(await wordsInFiles()).toEqual([]);
  expect((await pages.get('/zoeken?q=vergadering')).text).toContain('30 resultaten');
});

it('leaves none a minute after `feed publish` of redactions, thanks to the server', async () => {
  await publishSecrets();
  await pages.publish(WORDS.map((_, i) => removal('redact', 'Informatieobject', `d-${i}`)));
  await expect.poll(wordsInFiles, { interval: 1000 }).toEqual([]);
});

it('keeps rows written to a table while it is copied, and the names, keys and privileges of the table', async () => {
  const shape = `select indexdef from pg_indexes where schemaname like 'raadsfeed\\_%'
    union all select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) from pg_constraint where connamespace::regnamespace::text like 'raadsfeed\\_%'
    union all select oid::regclass || ' ' || array(select acl::text from unnest(relacl) acl order by 1)::text from pg_class where relkind = 'r' and relnamespace::regnamespace::text like 'raadsfeed\\_%'
    union all select attrelid::regclass || ' ' || attname || ' ' || coalesce(attstattarget, -1) from pg_attribute join pg_class c on c.oid = attrelid
      where relkind = 'r' and attnum > 0 and relnamespace::regnamespace::text like 'raadsfeed\\_%' order by 1`;
  const before = (await pages.pool.query(shape)).rows;
  await pages.publishAndIndex([document('weg', { titel: 'Weg' })]);
  await pages.publish([removal('redact', 'Informatieobject', 'weg')]);
  let isDone = false;
  const rewriting = expect
    .poll(() => rewriteContentTables(pages.pool), { interval: 50 })
    .toEqual([])
    .finally(() => {
      isDone = true;
    });
  for (let i = 0; !isDone || i < 20; i += 1) {
    await pages.publishAndIndex([vergadering(`tijdens-${i}`), vergadering(`v-${i % 30}`, { naam: `Anders ${i}` })]);
  }
  await rewriting;
  expect((await pages.pool.query(shape)).rows).toEqual(before);
  const { rows } = await pages.pool.query(
    `select (select count(*) from pages.items s join raadsfeed.current_records t on t.sequence_number = s.number)::integer as right,
            (select count(*) from pages.items)::integer as indexed, (select count(*) from raadsfeed.current_records)::integer as present`,
  );
  expect(rows[0]?.right).toBe(rows[0]?.present);
  expect(rows[0]?.indexed).toBe(rows[0]?.present);
});
