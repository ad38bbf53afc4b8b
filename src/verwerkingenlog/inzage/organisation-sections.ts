/** The actions by organisation and activity: a line for each entry that opens, its retention period, and whom to ask, object or complain to. */
import { capital, dayAndTime } from '../../html/format.ts';
import { facts, heading, link, paragraph } from '../../html/page.ts';
import { type Html, type HtmlValue, html, safeUrl } from '../../lib/template.ts';
import { isDuration } from '../../lib/time.ts';
import { READING } from '../logged-read.ts';
import type { Entry, Explanation, Group } from './read-overview.ts';
import { OVERVIEW, type Settings } from './site.ts';

/** @param groups of one organisation together @param isOpen whether the entries are unfolded */
export function organisationSections(groups: readonly Group[], settings: Settings, isOpen: boolean): HtmlValue {
  const byOrganisation = Map.groupBy(groups, ({ organisatie }) => organisatie);
  return [...byOrganisation].map(([name, theirs]) => organisationSection(name, theirs, settings, isOpen));
}

export function organisationSection(
  name: string | null,
  groups: readonly Group[],
  settings: Settings,
  isOpen: boolean,
): HtmlValue {
  return [
    heading(2, name === null ? 'Andere verwerkingen' : capital(name)),
    name === null &&
      paragraph(`Bij deze regels staat niet welke organisatie het deed. Vraag het aan ${settings.organisation}.`),
    groups.map((group) => groupSection(group, settings, isOpen)),
    objection(settings, name ?? settings.organisation),
  ];
}

/** The contact for the actions of an organisation. The links are those of the organisation that runs these pages. */
function objection({ organisation, links }: Settings, organisatie: string): Html {
  const contact = safeUrl(links.get('contact'));
  const officer = safeUrl(links.get('fg'));
  const isOurs = organisatie === organisation;
  return html`<section class="kv-objection">
${heading(3, 'Klopt er iets niet?')}
${paragraph([
  `U mag aan ${organisatie} vragen om uitleg, en om gegevens te verbeteren of te verwijderen. U mag ook bezwaar maken. Noem het nummer dat bij de regel staat.`,
  contact !== undefined && [
    isOurs ? ' ' : ` Weet u niet bij wie u moet zijn? Vraag het aan ${organisation}: `,
    link(contact, 'Neem contact op'),
    '.',
  ],
])}
${paragraph([
  'Komt u er samen niet uit? Vraag het dan aan de ',
  officer === undefined || !isOurs
    ? 'functionaris gegevensbescherming'
    : link(officer, 'functionaris gegevensbescherming'),
  ` van ${organisatie}. U kunt ook een klacht indienen bij de `,
  link('https://autoriteitpersoonsgegevens.nl/', 'Autoriteit Persoonsgegevens'),
  '.',
])}
</section>`;
}

function groupSection(group: Group, settings: Settings, isOpen: boolean): Html {
  const { activiteit, verwerkingsactiviteitId } = group;
  // Those of all entries, each once, the newest first.
  const terms = [...new Set(group.acties.map((entry) => keptFor(entry, group, settings.maxRetention)))];
  const kept = [
    'Hoe lang wij dit bewaren',
    terms.length > 1 ? `Dat verschilt: ${terms.join(', of ')}` : terms[0],
  ] as const;
  const onlyThis = verwerkingsactiviteitId === null ? undefined : `${OVERVIEW}?activiteit=${verwerkingsactiviteitId}`;
  return html`<section class="kv-inspection">
${heading(3, capital(activiteit?.naam ?? sharedName(group) ?? 'Verwerkingen zonder uitleg'))}
${
  activiteit === null
    ? [unexplained(group), facts([kept])]
    : facts([
        ['Waarvoor', activiteit.doel],
        ['Waarom dat mag', legalGround(activiteit)],
        ['Verantwoordelijk', activiteit.verantwoordelijkeOrganisatie],
        ['Waar de gegevens vandaan komen', activiteit.herkomst],
        ['Wie ze kunnen krijgen', activiteit.afnemendeCategorieOntvangers.join(', ')],
        kept,
      ])
}
${entryList(group.acties, settings, isOpen, terms.length > 1 ? group : undefined)}
${onlyThis !== undefined && html`<p class="utrecht-paragraph kv-filter">${link(onlyThis, activiteit === null ? 'Toon alleen deze regels' : `Toon alleen: ${activiteit.naam}`)}</p>`}
</section>`;
}

/** The six legal grounds of the GDPR (article 6), as a citizen would say them. */
const GROUNDS: Readonly<Record<Explanation['grondslag'], string>> = {
  'Toestemming betrokkene': 'U hebt daarvoor toestemming gegeven',
  'Uitvoering overeenkomst': 'Dat is nodig om een afspraak met u na te komen',
  'Wettelijke verplichting': 'Dat moet van de wet',
  'Vitaal belang': 'Dat is nodig om iemands leven of gezondheid te beschermen',
  'Publieke taak': 'Dat hoort bij een taak van de overheid',
  'Gerechtvaardigd belang': 'De organisatie heeft daar een goede reden voor',
};

function legalGround({ grondslag, toelichtingGrondslag }: Explanation): HtmlValue {
  return [
    `${GROUNDS[grondslag]} (${grondslag.toLowerCase()}).`,
    toelichtingGrondslag !== null && html`<br>${toelichtingGrondslag}`,
  ];
}

/** An activity that the register does not explain may have a page of its own. */
function unexplained({ verwerkingsactiviteitUrl }: Group): Html {
  const address = /^https:/i.test(verwerkingsactiviteitUrl ?? '') ? safeUrl(verwerkingsactiviteitUrl ?? '') : undefined;
  return paragraph([
    'In ons register staat geen uitleg bij dit doel.',
    address !== undefined &&
      html` Misschien staat die op <a class="utrecht-link utrecht-link--html-a" rel="noreferrer noopener nofollow" href="${address}">${address}</a>.`,
  ]);
}

function sharedName({ acties }: Group): string | undefined {
  const names = new Set(acties.map(({ verwerkingNaam }) => verwerkingNaam));
  return names.size === 1 ? (acties[0]?.verwerkingNaam ?? undefined) : undefined;
}

/** Readings of the log are included, under the controller's name; the citizen's own readings here are not. */
function nameOf({ actieNaam, handelingNaam }: Entry): string {
  if (actieNaam === READING) return 'Iemand bekeek wat er met uw gegevens is gedaan';
  return actieNaam ?? handelingNaam ?? 'Er is iets met uw gegevens gedaan';
}

/** @param group has the retention period of each entry, where that differs within it */
export function entryList(entries: readonly Entry[], { maxRetention }: Settings, isOpen: boolean, group?: Group): Html {
  const keptOf = (entry: Entry): string | undefined => group && keptFor(entry, group, maxRetention);
  return html`<ul class="kv-entries">${entries.map((entry) => entryItem(entry, keptOf(entry), isOpen))}</ul>`;
}

function entryItem(entry: Entry, kept: string | undefined, isOpen: boolean): Html {
  const at = new Date(entry.tijdstip);
  return html`<li><details class="kv-entry"${isOpen && html` open`}>
<summary><span class="kv-entry__title">${nameOf(entry)}</span> <time datetime="${at.toISOString()}">${dayAndTime(at)}</time></summary>
${facts([
  ['Stap', entry.handelingNaam],
  ['Waar dit bij hoort', entry.verwerkingNaam],
  ['Welke gegevens', entry.soortenGegevens.join(', ')],
  ['Uw rol', entry.rol.join(', ')],
  ['Wie de gegevens kreeg', entry.ontvanger],
  ['Hoe lang wij dit bewaren', kept],
  ['Nummer', html`<span class="kv-code">${entry.actieId}</span>`],
  ['Bewijs', entry.bewijs !== undefined && link(entry.bewijs, 'Bewijs dat dit niet is veranderd')],
])}
</details></li>`;
}

/** One, and more than one; `M` is a month, and after the `T` a minute. */
const UNITS: Readonly<Record<string, readonly [one: string, more: string]>> = {
  Y: ['jaar', 'jaar'],
  M: ['maand', 'maanden'],
  W: ['week', 'weken'],
  D: ['dag', 'dagen'],
  H: ['uur', 'uur'],
  TM: ['minuut', 'minuten'],
  S: ['seconde', 'seconden'],
};

/** `P1Y6M` as `1 jaar en 6 maanden`. @param duration of ISO 8601 */
export function durationInWords(duration: string): string {
  const behindT = duration.replace(/T.*/, (time) => time.replace('M', 'TM'));
  const parts = [...behindT.matchAll(/(\d+)([YWDHS]|T?M)/g)].flatMap(([, digits, unit = '']) => {
    const [one, more] = UNITS[unit] ?? [];
    const amount = Number(digits);
    return amount === 0 ? [] : [`${amount} ${amount === 1 ? one : more}`];
  });
  return new Intl.ListFormat('nl').format(parts);
}

/**
 * The retention period of an entry: its own term, else that of its activity, else that of the service; as text when the register has text.
 * @param longest the term of the service
 */
function keptFor(entry: Entry, { activiteit }: Group, longest: string | undefined): string {
  const ofRegister = activiteit?.bewaartermijn ?? undefined;
  const term = entry.bewaartermijn ?? (ofRegister !== undefined && isDuration(ofRegister) ? ofRegister : longest);
  if (term !== undefined) return durationInWords(term);
  return ofRegister ?? 'Daar is geen termijn voor';
}
