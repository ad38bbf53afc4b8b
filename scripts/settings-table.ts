/** Prints the tables of settings; with `--write` puts them into docs/settings.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Setting, shownValue } from '../src/settings/kinds.ts';
import { type SettingGroups, settingGroups } from '../src/settings/read-config.ts';

const PAGE = join(import.meta.dirname, '../docs/settings.md');
const BEGIN = '<!-- settings: written by `npm run docs` -->';
const END = '<!-- end of settings -->';

const HEADINGS: Readonly<Record<keyof SettingGroups, string>> = {
  server: 'The process',
  database: 'The database',
  tokens: 'Access tokens',
  gegevens: 'The data exchange (SHV, VS)',
  verwerkingenlog: 'The processing log',
  inzage: 'Inspection by citizens',
  ldv: 'Logboek Dataverwerkingen (LDV)',
  ldvOut: 'LDV: reading and forwarding',
  raadsfeed: 'The council feed',
  proof: 'The proof logs',
  html: 'Pages for people',
  pages: 'Council information as pages',
  diwoo: 'The national index (DiWoo)',
  aggregator: 'Sources of the feed',
  demo: 'The demo',
};

/** Every variable with its default, what it may be and what it does, as Markdown. */
export function settingsTable(): string {
  const groups: readonly [string, Readonly<Record<string, Setting<unknown>>>][] = Object.entries(settingGroups);
  return groups
    .map(([group, entries]) => {
      const heading = Object.entries(HEADINGS).find(([name]) => name === group)?.[1] ?? group;
      return [
        `## ${heading}`,
        '',
        '| variable | default | allowed | meaning |',
        '|---|---|---|---|',
        ...Object.values(entries).map(row),
      ].join('\n');
    })
    .join('\n\n');
}

function row(setting: Setting<unknown>): string {
  const name = `\`${setting.variable}\`${setting.secret ? ' (secret)' : ''}`;
  const fallback = shownValue(setting.fallback);
  const standard = fallback === '' ? '' : `\`${fallback}\``;
  return `| ${name} | ${standard} | ${setting.kind.allowed} | ${setting.description} |`;
}

/** The page with the tables as they must be. @throws when it has no place for them */
export function withSettingsTable(page: string): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error('docs/settings.md has no place for the tables');
  return `${before}${BEGIN}\n\n${settingsTable()}\n\n${END}${after}`;
}

if (import.meta.main) {
  if (process.argv.includes('--write')) writeFileSync(PAGE, withSettingsTable(readFileSync(PAGE, 'utf8')));
  else console.log(settingsTable());
}
