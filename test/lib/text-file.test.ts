/** Everything read as UTF-8 is read strictly: in other encodings a name would silently become another one. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { modelsDirectory } from '../../src/lib/exchange-model/built-in-models.ts';
import { decodeUtf8 } from '../../src/lib/text-file.ts';
import { logKey } from '../proof/proven-record.ts';
import { callProgram } from '../support/program.ts';

const directory = mkdtempSync(join(tmpdir(), 'tekst-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** A file in Windows-1252, with an accent in its second line. */
function windows(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, Buffer.from(text, 'latin1'));
  return path;
}

it.each([
  ['Co\xf6peratie', 1],
  ['a\nb\nCo\xf6peratie\nd', 3],
  ['a\r\nCo\xf6peratie', 2],
  // Cut off within a character.
  ['a\nb\xc3', 2],
])('names the line of %j that is not UTF-8', (text, line) => {
  expect(() => decodeUtf8(Buffer.from(text, 'latin1'), 'lijst.csv')).toThrow(
    `lijst.csv is not UTF-8 in line ${line}; is it Windows-1252? save it as UTF-8`,
  );
});

it('skips a byte order mark, and keeps every other character', () => {
  expect(decodeUtf8(Buffer.from('\ufeffCoöperatie \ufffd\n'), 'lijst.csv')).toBe('Coöperatie \ufffd\n');
});

const ACCENT = '{\n"naam": "Co\xf6peratie"}';
const schema = readFileSync(new URL('shv-1.0.schema.json', modelsDirectory), 'utf8');
const mapping = readFileSync(new URL('shv-1.0.mapping.json', modelsDirectory), 'utf8');

it.each<[string, string, string, (path: string) => readonly string[]]>([
  [
    'a mapping',
    'mapping.yaml',
    'variant: shv\nlevering: # Co\xf6peratie',
    (path) => ['gegevens', 'import', '--variant', 'shv', '--mapping', path, '--dry-run', 'tabel.csv'],
  ],
  [
    'a model',
    'eigen-1.0.schema.json',
    schema.replace('{', '{\n"title": "Co\xf6peratie",'),
    (path) => {
      writeFileSync(path.replace('.schema.json', '.mapping.json'), mapping);
      return ['gegevens', 'check', '--variant', 'shv', '--model', path, '/dev/null'];
    },
  ],
  [
    'a list of suppliers',
    'leveranciers.txt',
    '\n# Co\xf6peratie\nhttp://127.0.0.1:1 shv\n',
    (path) => ['gegevens', 'request', '--suppliers', path, '--out', directory, '--token-file', path],
  ],
  ['a record to prove', 'record.json', ACCENT, (path) => ['proof', 'check', path, path, '--key', logKey.key.text]],
])('refuses %s that is not UTF-8', async (_, name, text, args) => {
  const path = windows(name, text);
  const { status, stderr } = await callProgram(args(path), {});
  expect(status).not.toBe(0);
  expect(stderr).toContain('is not UTF-8 in line 2; is it Windows-1252?');
});

it('refuses a secret that is not UTF-8, and does not show it', async () => {
  const env = { DATABASE_URL_FILE: windows('geheim', '\npostgres://dienst:gehe\xefm@127.0.0.1/db') };
  const { status, stderr } = await callProgram(['feed', 'verify'], env);
  expect(status).not.toBe(0);
  expect(stderr).toContain('the file of DATABASE_URL_FILE is not UTF-8 in line 2');
  expect(stderr).not.toContain('gehe');
});
