/** The words of a report, as text and as a page: Dutch for suppliers, English on request. */
import { modelFaultInDutch } from './model-faults.ts';

export interface ItemPlace {
  readonly file: string;
  readonly sheet?: string;
  readonly row: number;
  /** The columns of the record's key; values only where they may be shown. */
  readonly key: readonly { readonly column: string; readonly value?: string }[];
}

export const LANGUAGES = ['nl', 'en'] as const;
export type Language = (typeof LANGUAGES)[number];
export type Severity = 'blocking' | 'warning';
export type Rule = number | 'model';

/** The rules of the statistics office, by their numbers. */
const ENGLISH_RULES: Readonly<Record<Rule, string>> = {
  model: 'the delivery fits the exchange model',
  1: 'a delivering organisation has a gemeentecode only if it is a municipality, and else a KvK number',
  2: 'every trajectory or signal is for a municipality: a gemeentecode, or `Onbekend`',
  3: 'an organisation that delivers for several municipalities has one levering for each',
  4: 'codeGegevensleverancier is the name and version of the product',
  5: 'the beschikkingsdatum and the einddatum of an intake are the same',
  6: 'a dwangakkoord is true only when the arrangement has a date in `toegekend`',
  7: 'both names of a creditor, `naam` and `Naam`, are the same',
  8: 'the toekenningsdatum is the date in `toegekend` of the arrangement',
  9: 'the geslachtsaanduiding is Man, Vrouw, Onbekend or Leeg',
  10: 'outflow, trajectory and datumBeeindigingsbeschikking have the same end',
  11: 'an organisation has a contact with an e-mail address: the office sends its report there',
  12: 'a client has one trajectory at a time in a municipality',
  13: 'a signal in a case is one taken up, and the case begins on the day that it was taken up',
  14: 'dates are in order: begin before end, no end in the future, born before the begin',
  15: 'a BSN passes its eleven test, and no record or item of one is there twice',
  16: 'a record belongs to the period of its delivery: a trajectory runs in it, a signal or its case falls in it',
};

const utc = (moment: Date): string => moment.toISOString().slice(0, 16).replace('T', ' ');

function rowText({ file, sheet, row, key }: ItemPlace, words: { sheet: string; row: string; column: string }): string {
  const columns = key.map(({ column, value }) => {
    const text = value === undefined ? '' : ` ${JSON.stringify(value)}`;
    return `${words.column} ${column}${text}`;
  });
  return [file, ...(sheet === undefined ? [] : [`${words.sheet} ${sheet}`]), `${words.row} ${row}`, ...columns].join(
    ', ',
  );
}

const english = {
  language: 'en',
  title: (variant: string) => `Check of a delivery, ${variant}`,
  checked: 'Checked',
  period: 'Period',
  model: 'Model',
  made: 'Made',
  result: 'Result',
  unknown: 'unknown',
  between: (start: string, end: string) => `${start} to ${end}`,
  at: (moment: Date) => `${utc(moment)} UTC`,
  summary: (blocking: number, warnings: number) =>
    `${blocking} blocking, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`,
  blocked: ': not ready to be delivered',
  nothing: 'Nothing was found that breaks a rule.',
  findings: 'Findings',
  footer:
    'A place is a JSON Pointer: numbers in it count from 0. Of a finding at most 100 places are listed. No data of persons is in this report.',
  severity: { blocking: 'blocking', warning: 'warning' },
  ruleName: (rule: Rule) => (rule === 'model' ? 'model' : `rule ${rule}`),
  ruleText: (rule: Rule) => ENGLISH_RULES[rule] ?? '',
  times: (count: number) => `${count} ${count === 1 ? 'time' : 'times'}`,
  more: (count: number) => `and ${count} more`,
  what: (what: string) => what,
  row: (place: ItemPlace) => rowText(place, { sheet: 'sheet', row: 'row', column: 'column' }),
  counts: 'Counts',
  noRecords: 'There are no records.',
  countsPer: 'Counts per municipality',
  column: (name: string) => name,
  municipality: (code: string | null) => code ?? '(none)',
  last: { shv: 'Last: persons per latest step.', vs: 'Last: signals per kind.' },
  nothingStored: 'nothing is stored for this period',
  stored: (count: number) => `${count} stored ${count === 1 ? 'levering' : 'leveringen'}`,
  levering: (place: string, id: number, period: string, records: number) =>
    `${place} is levering ${id} (${period}, ${records} records)`,
};

export type ReportWords = Readonly<typeof english>;

const DUTCH_RULES: Readonly<Record<Rule, string>> = {
  model: 'de levering past in het uitwisselmodel',
  1: 'een aanleverende organisatie heeft alleen een gemeentecode als zij een gemeente is, en anders een KvK-nummer',
  2: 'elk traject of signaal is voor een gemeente: een gemeentecode, of `Onbekend`',
  3: 'een organisatie die voor meer gemeenten levert, heeft voor elke gemeente één levering',
  4: 'codeGegevensleverancier is de naam en de versie van het product',
  5: 'de beschikkingsdatum en de einddatum van een intake zijn gelijk',
  6: 'een dwangakkoord is alleen waar als de regeling een datum in `toegekend` heeft',
  7: 'de twee namen van een schuldeiser, `naam` en `Naam`, zijn gelijk',
  8: 'de toekenningsdatum is de datum in `toegekend` van de regeling',
  9: 'de geslachtsaanduiding is Man, Vrouw, Onbekend of Leeg',
  10: 'uitstroom, traject en datumBeeindigingsbeschikking hebben dezelfde einddatum',
  11: 'een organisatie heeft een contactpersoon met een e-mailadres: daar stuurt het CBS zijn rapport heen',
  12: 'een cliënt heeft in een gemeente één traject tegelijk',
  13: 'een signaal in een zaak is opgepakt, en de zaak begint op de dag waarop dat gebeurde',
  14: 'datums staan in volgorde: begin voor einde, geen einde in de toekomst, geboren voor het begin',
  15: 'een BSN voldoet aan de elfproef, en geen record of onderdeel ervan staat er twee keer in',
  16: 'een record hoort bij de periode van de levering: een traject loopt erin, een signaal of de zaak ervan valt erin',
};

/** Possible faults at a place, except those of the model. */
export const DUTCH_WHAT = {
  'is there twice': 'staat er twee keer in',
  'its records are for more than one municipality': 'de records zijn voor meer dan één gemeente',
  'its client has another trajectory at the same time': 'de cliënt heeft tegelijk een ander traject',
  'its status says that the signal was not taken up': 'volgens de status is het signaal niet opgepakt',
  'is not as in `Product 1.2`': 'is niet zoals in `Product 1.2`',
  'a second levering for its municipality': 'een tweede levering voor deze gemeente',
  'has both: which of the two is it?': 'heeft allebei: welke van de twee is het?',
  'has neither': 'heeft geen van beide',
  'is not a gemeentecode': 'is geen gemeentecode',
  'is not a KvK number of eight digits': 'is geen KvK-nummer: acht cijfers',
  'no contact with an e-mail address': 'geen contactpersoon met een e-mailadres',
  'no gemeentecode': 'geen gemeentecode',
  'is not in the other place': 'staat niet op de andere plaats',
  'they differ': 'zij verschillen',
  'true without that date': 'waar, maar zonder die datum',
  'the case has no day on which it was taken up': 'de zaak heeft geen dag waarop die is opgepakt',
  'before the day on which the case was taken up': 'voor de dag waarop de zaak is opgepakt',
  'ends before it begins': 'eindigt voor het begin',
  'ends in the future': 'eindigt in de toekomst',
  'does not pass the eleven test': 'voldoet niet aan de elfproef',
  'is another value': 'is een andere waarde',
  'is after the period of its delivery': 'valt na de periode van de levering',
  'is before the period of its delivery': 'valt voor de periode van de levering',
  'born on or after the first day': 'geboren op of na de begindatum',
};
export type What = keyof typeof DUTCH_WHAT;
export type ModelFault = `line ${number}: ${string}`;

const DUTCH_COLUMNS: Readonly<Record<string, string>> = {
  municipality: 'gemeente',
  trajectories: 'trajecten',
  signals: 'signalen',
  cases: 'zaken',
  persons: 'personen',
  activePersons: 'actieve personen',
  unknown: 'onbekend',
};

const isWhat = (text: string): text is What => Object.hasOwn(DUTCH_WHAT, text);

const dutch: ReportWords = {
  language: 'nl',
  title: (variant) => `Controle van een levering, ${variant}`,
  checked: 'Gecontroleerd',
  period: 'Periode',
  model: 'Model',
  made: 'Gemaakt',
  result: 'Resultaat',
  unknown: 'onbekend',
  between: (start, end) => `${start} tot en met ${end}`,
  at: (moment) => `${utc(moment)} UTC`,
  summary: (blocking, warnings) =>
    `${blocking} blokkerend, ${warnings} ${warnings === 1 ? 'waarschuwing' : 'waarschuwingen'}`,
  blocked: ': kan zo niet worden geleverd',
  nothing: 'Er is niets gevonden dat in strijd is met een regel.',
  findings: 'Bevindingen',
  footer:
    'Een plaats is een JSON Pointer: getallen daarin tellen vanaf 0. Van een bevinding staan hier hoogstens 100 plaatsen. In dit rapport staan geen gegevens van personen.',
  severity: { blocking: 'blokkerend', warning: 'waarschuwing' },
  ruleName: (rule) => (rule === 'model' ? 'model' : `regel ${rule}`),
  ruleText: (rule) => DUTCH_RULES[rule] ?? '',
  times: (count) => `${count} keer`,
  more: (count) => `en nog ${count}`,
  row: (place) => rowText(place, { sheet: 'blad', row: 'rij', column: 'kolom' }),
  what: (what) => (isWhat(what) ? DUTCH_WHAT[what] : modelFaultInDutch(what)),
  counts: 'Aantallen',
  noRecords: 'Er zijn geen records.',
  countsPer: 'Aantallen per gemeente',
  column: (name) => DUTCH_COLUMNS[name] ?? name,
  municipality: (code) => code ?? '(geen)',
  last: { shv: 'Als laatste: personen per laatste stap.', vs: 'Als laatste: signalen per soort.' },
  nothingStored: 'voor deze periode is niets opgeslagen',
  stored: (count) => `${count} opgeslagen ${count === 1 ? 'levering' : 'leveringen'}`,
  levering: (place, id, period, records) =>
    `${place} is levering ${id} (${period}, ${records} ${records === 1 ? 'record' : 'records'})`,
};

export const reportWords: Readonly<Record<Language, ReportWords>> = { nl: dutch, en: english };
