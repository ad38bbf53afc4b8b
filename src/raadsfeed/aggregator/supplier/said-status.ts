/** Reads from texts whether a meeting takes place, for suppliers without a member for it. */

/** `unclear`: the words may mean something else. */
export type SaidStatus = 'geannuleerd' | 'verplaatst' | 'unclear';

interface SaidTexts {
  /** Of the meeting, its type or its body. */
  readonly names: readonly (string | undefined)[];
  readonly explanation: string | undefined;
  readonly day: string | undefined;
}

/** A text that says nothing else is short. */
const MAX_LENGTH = 1000;

const MENTION =
  /verval(?:t|len)(?!\p{L})|annule|geannul|cancel|afgelast|afgezegd|niet door|niet plaats|verplaatst|uitgesteld|verdaagd|verschoven/u;
/** With one of these a text says something else, or something weaker. */
const CONTRAST =
  /\b(?:wel|toch|gewoon|maar|echter|alsnog|behalve|tenzij|mogelijk|misschien|wellicht|waarschijnlijk|mits|indien|deels|gedeeltelijk|alleen|voorbehoud)\b|\?/;
const OPENING = /^(?:let op|n\.?b\.?|attentie|helaas)[\s:!,.-]*|^[*!\s-]+/;

const IS = '(?:is |wordt |werd )?';
const CANCELLED = new RegExp(
  `^(?:vervalt|komt te vervallen|gaat niet door|ging niet door|is niet doorgegaan|vindt niet plaats|` +
    `${IS}(?:vervallen|geannuleerd|geannulleerd|gecanceld|gecancelled|cancelled|canceled|afgelast|afgezegd))(?!\\p{L})`,
  'u',
);
const MOVED = new RegExp(`^${IS}(?:verplaatst|uitgesteld|verdaagd|verschoven)(?!\\p{L})`, 'u');

const MONTHS = [
  ...['januari', 'februari', 'maart', 'april', 'mei', 'juni'],
  ...['juli', 'augustus', 'september', 'oktober', 'november', 'december'],
];
const WEEKDAY = '(?:maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag)';
const DAY = `(?:${WEEKDAY} )?(\\d{1,2})(?: (${MONTHS.join('|')})|[-/](\\d{1,2}))(?:[-/ ](\\d{4}))?(?![\\d\\p{L}])`;
const ON_DAY = new RegExp(`^(?:van|op) ${DAY} `, 'u');
const FROM_DAY = new RegExp(`^ van ${DAY}`, 'u');
const TO_DAY = new RegExp(`^ (?:naar|tot) ${DAY}`, 'u');
/** Moved to another room or hour, it still takes place. */
const TO_LATER = new RegExp(
  `^ (?:naar|tot) (?:${WEEKDAY}|(?:een )?(?:later|andere?|latere|nader te bepalen|nog te bepalen|volgende) (?:moment|tijdstip|datum|dag|week|maand)|nader order|nader bericht)(?!\\p{L})`,
  'u',
);
const REASON = /^(?:,| [-–—])? \(?(?:wegens|vanwege|i\.?v\.?m\.?|in verband met|door|omdat|bij gebrek aan)(?!\p{L})/u;
const AND_MOVED = new RegExp(`^ en ${IS}(?:verplaatst|uitgesteld|verdaagd|verschoven) (?:naar|tot) `);
/** Words that the first sentence may refer to, since it names no subject. */
const ITEMS_NEXT = /^[\p{L} ]+[.!;]+ [-–•* ]*(?:de |het )?(?:agenda)?punt(?:en)?(?!\p{L})/u;
const END = /^[\s)*]*(?:$|[.!;](?:\s|\)|!|$))/;

/** Only a text that begins with one of a few phrases about the meeting, and says nothing else, counts. `undefined` also for one that has moved already. */
export function saidStatus({ names, explanation, day }: SaidTexts): SaidStatus | undefined {
  const known = names.map(plain).filter((name) => name !== '');
  const text = plain(explanation);
  const inExplanation = inText(text, known, day);
  const isLong = (explanation ?? '').length > MAX_LENGTH;
  const said = [...known.map((name) => inName(name, known, day)), isLong ? inExplanation && 'unclear' : inExplanation];
  return said.find((one) => one !== undefined);
}

/** In lower case, with each line as a sentence. */
function plain(text: string | undefined): string {
  return (text ?? '')
    .slice(0, MAX_LENGTH)
    .toLowerCase()
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/[.!;]? ?\n[ \n]*/g, '. ')
    .trim();
}

/** "Raad (geannuleerd)": the name of the meeting precedes the mark. */
function inName(name: string, known: readonly string[], day: string | undefined): SaidStatus | undefined {
  const at = name.search(/[(:–—]| - /);
  const rest = at < 0 ? name : name.slice(at).replace(/^[\s(:–—-]+/, '');
  return judge(rest, MENTION.test(name), known, day);
}

function inText(text: string, known: readonly string[], day: string | undefined): SaidStatus | undefined {
  const opened = text.replace(OPENING, '');
  const rest = withoutSubject(opened, known, day);
  const said = judge(rest, MENTION.test(text), known, day);
  return rest === opened && ITEMS_NEXT.test(opened) ? said && 'unclear' : said;
}

/** The text after its subject, when that is this meeting. */
function withoutSubject(text: string, known: readonly string[], day: string | undefined): string {
  const [article = ''] = /^(?:de |deze |het |dit )?/.exec(text) ?? [];
  const after = text.slice(article.length);
  const [word = '', stem = ''] = /^(\p{L}*?)(?:vergadering|bijeenkomst|zitting|sessie)(?!\p{L})/u.exec(after) ?? [];
  const root = stem.replace(/s$/, '');
  const isOurs = word !== '' && (root === '' || known.some((name) => name.includes(root)));
  const name = isOurs ? word : known.find((one) => after.startsWith(one));
  if (name === undefined) return text;
  const rest = after.slice(name.length).replace(/^[\s:(–—-]+/, '');
  const on = ON_DAY.exec(rest);
  return on === null || !isDay(on, day) ? rest : rest.slice(on[0].length);
}

function judge(
  text: string,
  isMentioned: boolean,
  known: readonly string[],
  day: string | undefined,
): SaidStatus | undefined {
  if (!isMentioned) return undefined;
  const [cancelled] = CANCELLED.exec(text) ?? [];
  const [moved] = MOVED.exec(text) ?? [];
  const rest = text.slice((cancelled ?? moved ?? '').length);
  if (CONTRAST.test(rest)) return 'unclear';
  const isAlone = END.test(rest) || REASON.test(rest) || known.includes(rest.replace(/^[\s:–—-]+/, ''));
  if (cancelled !== undefined) return isAlone || AND_MOVED.test(rest) ? 'geannuleerd' : 'unclear';
  if (moved === undefined) return 'unclear';
  const to = rest.replace(FROM_DAY, '');
  const found = TO_DAY.exec(to);
  if (found !== null) return isDay(found, day) ? undefined : 'verplaatst';
  return isAlone || TO_LATER.test(to) ? 'verplaatst' : 'unclear';
}

/** Whether a day in a text, perhaps without a year, is that of the meeting. */
function isDay([, written = '', name = '', number = '', year]: readonly string[], day = ''): boolean {
  const month = number === '' ? MONTHS.indexOf(name) + 1 : Number(number);
  const [ofYear, ofMonth, ofDay] = day.split('-').map(Number);
  return ofDay === Number(written) && ofMonth === month && (year === undefined || Number(year) === ofYear);
}
