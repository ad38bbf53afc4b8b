/** Prints the tables of settings; with `--write` puts them into docs/settings.md. */
import { type Setting, shownValue } from '../src/settings/kinds.ts';
import { type SettingGroups, settingGroups } from '../src/settings/read-config.ts';
import { writePart } from './generated-part.ts';

/** Each section and its groups; a group not listed here gets its own section. */
const SECTIONS: Readonly<Record<string, readonly (keyof SettingGroups)[]>> = {
  'The process': ['server', 'tracing', 'html'],
  'The database': ['database'],
  'Access tokens': ['tokens'],
  'The data exchange (SHV, VS)': ['gegevens'],
  'The processing log': ['verwerkingenlog'],
  'Inspection by citizens': ['inzage'],
  'Logboek Dataverwerkingen (LDV)': ['ldv', 'ldvOut'],
  'The council feed': ['raadsfeed', 'aggregator', 'pages', 'diwoo'],
  'The proof logs': ['proof'],
};

/** Every variable with its default, allowed values and meaning, as Markdown. */
export function settingsTable(): string {
  const named = Object.values(SECTIONS).flat().map(String);
  const others = Object.keys(settingGroups)
    .filter((name) => !named.includes(name))
    .map((name) => [name, [name]] as const);
  return [...Object.entries(SECTIONS), ...others]
    .map(([heading, names]) => {
      const rows = names.flatMap((name) => Object.values(settingGroups[name] ?? {}).map(row));
      return [`## ${heading}`, '', '| variable | default | allowed | meaning |', '|---|---|---|---|', ...rows].join(
        '\n',
      );
    })
    .join('\n\n');
}

function row(setting: Setting<unknown>): string {
  const name = `\`${setting.variable}\`${setting.secret ? ' (secret)' : ''}`;
  const fallback = shownValue(setting.fallback);
  const standard = fallback === '' ? '' : `\`${fallback}\``;
  return `| ${name} | ${standard} | ${setting.kind.allowed} | ${setting.description} |`;
}

if (import.meta.main) {
  if (process.argv.includes('--write')) writePart('docs/settings.md', 'settings', settingsTable());
  else console.log(settingsTable());
}
