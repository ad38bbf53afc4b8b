/** The words of a report as a page: Dutch for suppliers in the Netherlands, English for who asks. */
import { modelFaultInDutch } from './model-faults.ts';
import { type Rule, ruleText as ruleInEnglish, type Severity } from './report-text.ts';
import type { What } from './what.ts';

export const LANGUAGES = ['nl', 'en'] as const;
export type Language = (typeof LANGUAGES)[number];

export interface ReportWords {
  readonly language: Language;
  readonly title: (variant: string) => string;
  readonly checked: string;
  readonly period: string;
  readonly model: string;
  readonly made: string;
  readonly result: string;
  readonly unknown: string;
  readonly between: (start: string, end: string) => string;
  readonly at: (moment: Date) => string;
  readonly summary: (blocking: number, warnings: number) => string;
  readonly nothing: string;
  readonly findings: string;
  readonly footer: string;
  readonly severity: Readonly<Record<Severity, string>>;
  readonly ruleName: (rule: Rule) => string;
  readonly ruleText: (rule: Rule) => string;
  readonly times: (count: number) => string;
  readonly more: (count: number) => string;
  /** What is wrong at a place. */
  readonly what: (what: string) => string;
  readonly counts: string;
  readonly noRecords: string;
  readonly countsPer: string;
  /** Of a column of the counts. */
  readonly column: (name: string) => string;
  readonly municipality: (code: string | null) => string;
  readonly last: Readonly<Record<'shv' | 'vs', string>>;
  readonly nothingStored: string;
  readonly stored: (count: number) => string;
  readonly levering: (place: string, id: number, period: string, records: number) => string;
}

const utc = (moment: Date): string => moment.toISOString().slice(0, 16).replace('T', ' ');

const english: ReportWords = {
  language: 'en',
  title: (variant) => `Check of a delivery, ${variant}`,
  ...{ checked: 'Checked', period: 'Period', model: 'Model', made: 'Made', result: 'Result', unknown: 'unknown' },
  between: (start, end) => `${start} to ${end}`,
  at: (moment) => `${utc(moment)} UTC`,
  summary: (blocking, warnings) =>
    `${blocking} blocking, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}${blocking > 0 ? ': not ready to be delivered' : ''}`,
  nothing: 'Nothing was found that breaks a rule.',
  findings: 'Findings',
  footer:
    'A place is a JSON Pointer: numbers in it count from 0. Of a finding at most 100 places are listed. No data of persons is in this report.',
  severity: { blocking: 'blocking', warning: 'warning' },
  ruleName: (rule) => (rule === 'model' ? 'model' : `rule ${rule}`),
  ruleText: ruleInEnglish,
  times: (count) => `${count} ${count === 1 ? 'time' : 'times'}`,
  more: (count) => `and ${count} more`,
  what: (what) => what,
  counts: 'Counts',
  noRecords: 'There are no records.',
  countsPer: 'Counts per municipality',
  column: (name) => name,
  municipality: (code) => code ?? '(none)',
  last: { shv: 'Last: persons per latest step.', vs: 'Last: signals per kind.' },
  nothingStored: 'nothing is stored for this period',
  stored: (count) => `${count} stored ${count === 1 ? 'levering' : 'leveringen'}`,
  levering: (place, id, period, records) => `${place} is levering ${id} (${period}, ${records} records)`,
};

/** The rules of the statistics office, by their numbers. */
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
  15: 'een BSN doorstaat de elfproef, en geen record of onderdeel ervan staat er twee keer in',
};

const DUTCH_WHAT: Readonly<Record<What, string>> = {
  'is there twice': 'staat er twee keer in',
  'its records are for more than one municipality': 'de records zijn voor meer dan één gemeente',
  'its client has another trajectory at the same time': 'de cliënt heeft tegelijk een ander traject',
  'its status says that the signal was not taken up': 'volgens de status is het signaal niet opgepakt',
  'is not as in `Product 1.2`': 'is niet zoals in `Product 1.2`',
  'a second levering for its municipality': 'een tweede levering voor deze gemeente',
  'has both: which of the two is it?': 'heeft allebei: welke van de twee is het?',
  'has neither': 'heeft geen van beide',
  'is not a gemeentecode': 'is geen gemeentecode',
  'is no KvK number: eight digits': 'is geen KvK-nummer: acht cijfers',
  'no contact with an e-mail address': 'geen contactpersoon met een e-mailadres',
  'no gemeentecode': 'geen gemeentecode',
  'is not in the other place': 'staat niet op de andere plaats',
  'they differ': 'zij verschillen',
  'true without that date': 'waar, maar zonder die datum',
  'the case has no day on which it was taken up': 'de zaak heeft geen dag waarop die is opgepakt',
  'before the day on which the case was taken up': 'voor de dag waarop de zaak is opgepakt',
  'ends before it begins': 'eindigt voor het begin',
  'ends in the future': 'eindigt in de toekomst',
  'does not pass the eleven test': 'doorstaat de elfproef niet',
  'is another value': 'is een andere waarde',
  'born on or after the day of the begin': 'geboren op of na de dag van het begin',
};

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
  ...{ checked: 'Gecontroleerd', period: 'Periode', model: 'Model', made: 'Gemaakt' },
  ...{ result: 'Resultaat', unknown: 'onbekend' },
  between: (start, end) => `${start} tot en met ${end}`,
  at: (moment) => `${utc(moment)} UTC`,
  summary: (blocking, warnings) =>
    `${blocking} blokkerend, ${warnings} ${warnings === 1 ? 'waarschuwing' : 'waarschuwingen'}${blocking > 0 ? ': kan zo niet worden geleverd' : ''}`,
  nothing: 'Er is niets gevonden dat tegen een regel is.',
  findings: 'Bevindingen',
  footer:
    'Een plaats is een JSON Pointer: getallen daarin tellen vanaf 0. Van een bevinding staan hier hoogstens 100 plaatsen. In dit rapport staan geen gegevens van personen.',
  severity: { blocking: 'blokkerend', warning: 'waarschuwing' },
  ruleName: (rule) => (rule === 'model' ? 'model' : `regel ${rule}`),
  ruleText: (rule) => DUTCH_RULES[rule] ?? '',
  times: (count) => `${count} keer`,
  more: (count) => `en nog ${count}`,
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
