/**
 * Generated council information for the benchmark, the same in every run. Words come from a Dutch vocabulary of 20 000
 * (compounds, as Dutch forms them) by Zipf's law with the stop words first, so that some words are in a third of all
 * documents and most in a few.
 */

const STOP_WORDS = 'de van en het in een op te voor met is aan'.split(' ');
const COMMON =
  'voorstel gemeente raad begroting woning besluit onderwijs verkeer veiligheid riolering subsidie bestemmingsplan jeugdzorg energie water groen cultuur sport vaststellen wijk'.split(
    ' ',
  );
const FIRST =
  'woon jeugd verkeers bestuurs water energie milieu bouw zorg onderwijs markt haven kern buurt dorps stads wijk sport cultuur natuur bomen fiets parkeer grond huur school veiligheids brand afval riool lucht geluids monumenten archief belasting inkoop personeels crisis handhavings toezicht vergunnings welzijns participatie werk inkomens minima schuld ouderen mantel opvang'.split(
    ' ',
  );
const MIDDLE = ['', 'plan', 'beleids', 'uitvoerings', 'project', 'kwaliteits', 'onderzoeks', 'regio', 'basis', 'hoofd'];
const LAST =
  'nota visie plan kader agenda regeling verordening rapport advies onderzoek budget krediet fonds raming akkoord brief motie verslag lijst overzicht programma project voorziening locatie gebied terrein straat plein park weg brug kade centrum gebouw loket team commissie kamer dienst bedrijf'.split(
    ' ',
  );
const VOCABULARY_SIZE = 20_000;

/** The most common first. */
const VOCABULARY: readonly string[] = [
  ...STOP_WORDS,
  ...COMMON,
  // Shuffled, so that neighbours in the list begin differently.
  ...Array.from({ length: FIRST.length * MIDDLE.length * LAST.length }, (_, i) => {
    const at = (i * 7919) % (FIRST.length * MIDDLE.length * LAST.length);
    const [first, rest] = [at % FIRST.length, Math.floor(at / FIRST.length)];
    return `${FIRST[first]}${MIDDLE[rest % MIDDLE.length]}${LAST[Math.floor(rest / MIDDLE.length)]}`;
  }),
].slice(0, VOCABULARY_SIZE);

export const ORGANISATIONS = 40;
/** Documents per meeting. */
export const PER_MEETING = 20;
const COMMITTEES = 9;
const DESCRIPTION_WORDS = 40;
const FIRST_DAY = Date.UTC(2011, 6, 1);
/** Days on which meetings take place. */
export const DAYS = 5630;

/** Reproducible numbers from 0 to 1 for a seed (mulberry32). */
function random(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b1);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The word of rank r has a probability of about 1/r. */
function words(next: () => number, length: number): string {
  return Array.from({ length }, () => VOCABULARY[Math.floor(VOCABULARY_SIZE ** next()) - 1]).join(' ');
}

/** Larger municipalities have more meetings. */
const organisatie = (m: number) => {
  const number = 1 + Math.floor(ORGANISATIONS * random(m)() ** 1.5);
  return { gemeente: `gm99${String(number).padStart(2, '0')}`, naam: `Gemeente ${number}` };
};

function moment(m: number): string {
  const day = Math.floor(random(-m)() * DAYS);
  return new Date(FIRST_DAY + day * 86_400_000 + 19.5 * 3_600_000).toISOString();
}

/** The data of meeting `m`. */
export function meetingData(m: number) {
  const committee = m % COMMITTEES;
  return {
    bronidentificatie: `v-${m}`,
    dossiertype: 'vergadering',
    organisatie: organisatie(m),
    naam: `Commissie ${committee}`,
    aanvang: moment(m),
    georganiseerddoorgremium: { gremiumidentificatie: `c-${committee}`, gremiumnaam: `Commissie ${committee}` },
  };
}

/** The data of document `i`, of meeting `i / PER_MEETING`. */
export function documentData(i: number) {
  const m = Math.floor(i / PER_MEETING);
  const next = random(i);
  return {
    bronidentificatie: `d-${i}`,
    dossiertype: 'informatieobject',
    organisatie: organisatie(m),
    titel: `Brief ${words(next, 6)} kenmerk${i}`,
    omschrijving: words(next, DESCRIPTION_WORDS),
    auteur: `Auteur${Math.floor(next() * 5000)}`,
    webpaginalink: `https://raad.example/${i}`,
    bestandsurl: `https://raad.example/${i}.pdf`,
    formaat: 'application/pdf',
    wooinformatiecategorie: 'c_db4862c3',
    datumingediend: moment(m).slice(0, 10),
    vergaderingen: [{ bronidentificatie: `v-${m}` }],
  };
}

/** Word number `i` of those in a tenth to a third of all documents. */
export const commonWord = (i: number): string => COMMON[i % COMMON.length] ?? '';

/** Word number `i` of those in about one in a hundred to one in a thousand documents. */
export const ordinaryWord = (i: number): string => VOCABULARY[400 + ((i * 131) % 4000)] ?? '';

/** Endings of compounds. */
export const ending = (i: number): string => LAST[i % LAST.length] ?? '';
