/** The tables of settings, conformance cases and metrics in docs/, as Markdown. `npm run docs` writes them. */
import { SUITES } from '../conformance/suites.ts';
import { shownValue } from '../src/settings/kinds.ts';
import { type SettingGroups, settingGroups } from '../src/settings/read-config.ts';
import { tableOf } from './generated-part.ts';

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

/** Every variable with its default, allowed values and meaning. */
export function settingsTable(): string {
  const named = Object.values(SECTIONS).flat().map(String);
  const others = Object.keys(settingGroups)
    .filter((name) => !named.includes(name))
    .map((name) => [name, [name]] as const);
  const tables = [...Object.entries(SECTIONS), ...others].map(([heading, names]) => {
    const settings = names.flatMap((name) => Object.values(settingGroups[name] ?? {}));
    const rows = settings.map(({ variable, secret, fallback, kind, description }) => {
      const standard = shownValue(fallback);
      const name = `\`${variable}\`${secret ? ' (secret)' : ''}`;
      return [name, standard === '' ? '' : `\`${standard}\``, kind.allowed, description];
    });
    return `## ${heading}\n\n${tableOf(['variable', 'default', 'allowed', 'meaning'], rows)}`;
  });
  return tables.join('\n\n');
}

/** Every case with its level, source and title in Dutch and English. */
export function casesTable(): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|');
  const sections = SUITES.flatMap((suite) => [
    `## \`${suite.name}\`: ${suite.title.en}`,
    ...suite.chapters.map(({ title, cases }) => {
      const rows = cases.map(({ id, level, source: { document, clause, quote }, title: { nl, en } }) => [
        id,
        level,
        [document, clause, `“${quote}”`].map(cell).join('<br>'),
        `${cell(nl)}<br>*${cell(en)}*`,
      ]);
      return `### ${title.nl}\n\n${tableOf(['case', 'level', 'source', 'what'], rows)}`;
    }),
  ]);
  return sections.join('\n\n');
}

/** Our metrics in an exposition. */
export function metricsTable(exposition: string): string {
  const rows = [...exposition.matchAll(/^# HELP (koppelvlak_\S+) (.*)\n# TYPE \S+ (\S+)$/gm)]
    .map(([, name = '', help = '', type = '']) => [`\`${name}\``, type, help])
    .toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1));
  return tableOf(['metric', 'type', 'meaning'], rows);
}
