/** Model faults in Dutch: the messages of the validator and of the file reader are English. */

const TYPES: Readonly<Record<string, string>> = {
  string: 'een tekst',
  object: 'een object',
  array: 'een lijst',
  boolean: 'true of false',
  integer: 'een geheel getal',
  number: 'een getal',
  null: 'null',
};

const typeNames = (names: string): string =>
  names
    .split(',')
    .map((name) => TYPES[name] ?? name)
    .join(' of ');

type Pattern = readonly [found: RegExp, say: (...found: string[]) => string];

/** The first match applies. */
const PATTERNS: readonly Pattern[] = [
  [
    /^must be (object|array|string|boolean|integer|number|null)((?:,\w+)*)$/,
    (one = '', more = '') => `moet ${typeNames(one + more)} zijn`,
  ],
  [/^must have required property '(.*)'$/s, (name) => `mist het verplichte onderdeel \`${name}\``],
  [/^has a member that the model does not know$/, () => 'heeft een onderdeel dat het model niet kent'],
  [/^must be one of (.*)$/s, (values) => `moet een van deze zijn: ${values}`],
  [/^must be equal to constant$/, () => 'moet de ene waarde zijn die het model toelaat'],
  [/^must match pattern "(.*)"$/s, (pattern) => `moet deze vorm hebben: \`${pattern}\``],
  [/^must match format "(date|date-time|email|uri|uuid|time)"$/, (format = '') => `moet ${FORMATS[format]} zijn`],
  [/^must match format "(.*)"$/, (format) => `moet van de vorm \`${format}\` zijn`],
  [
    /^must NOT have (fewer|more) than (\d+) (characters|items|properties)$/,
    (limit, count = '', unit = '') => {
      const [one, more] = UNITS[unit] ?? [];
      return `${limit === 'fewer' ? 'moet ten minste' : 'mag hoogstens'} ${count} ${count === '1' ? one : more} hebben`;
    },
  ],
  [/^must be (<=|>=|<|>) (-?[\d.e+]+)$/, (sign = '', limit) => `moet ${COMPARED[sign]} ${limit} zijn`],
  [/^must be multiple of (.*)$/, (step) => `moet een veelvoud van ${step} zijn`],
  [
    /^must NOT have duplicate items \(items ## (\d+) and (\d+) are identical\)$/,
    (a, b) => `heeft een element twee keer: ${a} en ${b} zijn gelijk`,
  ],
  [/^occurs twice in the list$/, () => 'staat twee keer in de lijst'],
  [/^a member occurs twice$/, () => 'een onderdeel staat er twee keer in'],
  [/^is not valid UTF-8$/, () => 'is geen geldige UTF-8'],
  [/^is not a date that can be stored$/, () => 'is geen datum die kan worden opgeslagen'],
  [/^is not a moment that can be stored$/, () => 'is geen tijdstip dat kan worden opgeslagen'],
  [/^names its organisation with U\+0000 /, () => 'noemt de organisatie met tekens die niet kunnen worden opgeslagen'],
  [
    /^not JSON(?:: unexpected (.*))?$/,
    (found) => `is geen JSON${found === undefined || found === '' ? '' : `: ${unexpected(found)}`}`,
  ],
  [/^unexpected (.*)$/, (found = '') => `is geen JSON: ${unexpected(found)}`],
  [/^the file ends too early$/, () => 'het bestand houdt te vroeg op'],
  [/^(?:nested too deeply|more than \d+ levels deep)$/, () => 'heeft te veel niveaus'],
  [/^a record larger than (\d+) bytes$/, (n) => `een record is groter dan ${n} bytes`],
  [
    /^more than (\d+) bytes outside records/,
    (n) => `meer dan ${n} bytes buiten de records: is dit een bestand van deze variant?`,
  ],
];

const UNITS: Readonly<Record<string, readonly [one: string, more: string]>> = {
  characters: ['teken', 'tekens'],
  items: ['element', 'elementen'],
  properties: ['onderdeel', 'onderdelen'],
};

const FORMATS: Readonly<Record<string, string>> = {
  date: 'een datum (2026-01-31)',
  'date-time': 'een tijdstip (2026-01-31T10:15:00Z)',
  time: 'een tijd (10:15:00)',
  email: 'een e-mailadres',
  uri: 'een adres',
  uuid: 'een UUID',
};

const COMPARED: Readonly<Record<string, string>> = {
  '<=': 'hoogstens',
  '>=': 'ten minste',
  '<': 'kleiner dan',
  '>': 'groter dan',
};

function unexpected(found: string): string {
  if (found === 'end of text') return 'de tekst houdt te vroeg op';
  if (found === 'character') return 'daar staat een ongeldig teken';
  return `daar staat ${found.replace(/^byte /, 'het byte ')}, en dat kan daar niet`;
}

/** @param fault with its line: `line 3: must be string` */
export function modelFaultInDutch(fault: string): string {
  const [, line, message = fault] = /^line (\d+): (.*)$/s.exec(fault) ?? [];
  const where = line === undefined ? '' : `regel ${line} van het bestand: `;
  for (const [pattern, say] of PATTERNS) {
    const found = pattern.exec(message);
    if (found !== null) return where + say(...found.slice(1));
  }
  return `${where}past niet in het model`;
}
