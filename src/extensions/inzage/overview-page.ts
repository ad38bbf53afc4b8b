/** The page with what was done with a citizen's data, in plain words. */

import { type Html, type HtmlValue, html, safeUrl } from '../../plugins/template.ts';
import { READING } from '../../verwerkingenlog/processing-log.ts';
import { MAX_COUNT } from '../../verwerkingenlog/store/find.ts';
import { dayAndTime, count as number } from '../shared/html/format.ts';
import { alert, facts, heading, link, type Page, paragraph } from '../shared/html/page.ts';
import { type Entry, type Explanation, type Group, type Overview, OWN_LOOK, type Selection } from './read-overview.ts';
import { LOGOUT, OVERVIEW, type Settings } from './site.ts';

/** What the visitor asked for; days as they were typed. */
export interface Asked extends Partial<Pick<Selection, 'activity' | 'cursor'>> {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly all: boolean;
}

interface OverviewPage {
  readonly settings: Settings;
  readonly asked: Asked;
  /** Absent when nothing was read, because `faults` says why not. */
  readonly overview?: Overview | undefined;
  readonly faults?: readonly string[];
}

export function overviewPage({ settings, asked, overview, faults = [] }: OverviewPage): Page {
  return {
    title: faults.length > 0 ? 'Fout: wat er met uw gegevens is gedaan' : 'Wat er met uw gegevens is gedaan',
    description: 'Wat er met uw persoonsgegevens is gedaan.',
    body: [
      html`<form class="kv-filter" method="post" action="${LOGOUT}"><button class="utrecht-button utrecht-button--primary-action" type="submit">Uitloggen</button></form>`,
      heading(1, 'Wat er met uw gegevens is gedaan'),
      faults.length > 0 && html`<div role="alert">${faults.map((fault) => alert('error', fault))}</div>`,
      periodForm(asked),
      html`<div class="kv-columns">
${overview !== undefined && html`<div>${[found(overview, asked), withoutLooks(overview.groups).map(groupSection), ownLooks(overview), pager(overview), takeAlong(asked)]}</div>`}
${explanations(settings)}
</div>`,
    ],
  };
}

function periodForm({ from, to, activity }: Asked): Html {
  const field = (name: string, text: string, value: string | undefined): Html =>
    html`<div><label for="${name}">${text}</label><input class="utrecht-textbox utrecht-textbox--html-input" id="${name}" name="${name}" type="date" value="${value ?? ''}"></div>`;
  return html`<form class="kv-search" action="${OVERVIEW}" method="get">
${field('van', 'Vanaf deze dag', from)}
${field('tot', 'Tot en met deze dag', to)}
${activity !== undefined && html`<input type="hidden" name="activiteit" value="${activity}">`}
<button class="utrecht-button utrecht-button--primary-action" type="submit">Toon deze periode</button>
</form>`;
}

function found({ count, groups }: Overview, asked: Asked): HtmlValue {
  const shown = groups.reduce((sum, { acties }) => sum + acties.length, 0);
  const narrowed = asked.from !== undefined || asked.to !== undefined || asked.activity !== undefined;
  const total = `${count >= MAX_COUNT ? 'Meer dan ' : ''}${number(count)} keer`;
  const text =
    count === 0
      ? `Er staat niets over u${narrowed ? ' in deze periode of bij dit doel' : ''}.`
      : `${total} is er iets met uw gegevens gedaan${narrowed ? ' in deze periode of voor dit doel' : ''}. Op deze pagina ziet u er ${number(shown)}. Het nieuwste staat bovenaan.`;
  return [paragraph(text), narrowed && paragraph(link(OVERVIEW, 'Toon alles'))];
}

const isOwnLook = ({ handelingNaam }: Entry): boolean => handelingNaam === OWN_LOOK;

/** The groups without what the visitor did here. */
function withoutLooks(groups: readonly Group[]): Group[] {
  return groups
    .map((group) => ({ ...group, acties: group.acties.filter((entry) => !isOwnLook(entry)) }))
    .filter(({ acties }) => acties.length > 0);
}

/** One line at the end, that opens. */
function ownLooks({ groups }: Overview): HtmlValue {
  const looks = groups.flatMap(({ acties }) => acties.filter(isOwnLook));
  return (
    looks.length > 0 &&
    html`<details class="kv-filter"><summary>U bekeek dit overzicht: ${number(looks.length)} keer op deze pagina</summary>
<ol class="kv-list">${looks.map(entryItem)}</ol></details>`
  );
}

function groupSection(group: Group, position: number, groups: readonly Group[]): HtmlValue {
  const { organisatie, activiteit, verwerkingsactiviteitId } = group;
  const isFirst = groups[position - 1]?.organisatie !== organisatie;
  const onlyThis = verwerkingsactiviteitId === null ? undefined : `${OVERVIEW}?activiteit=${verwerkingsactiviteitId}`;
  return [
    isFirst && heading(2, capital(organisatie)),
    html`<section class="kv-inspection">
${heading(3, capital(activiteit?.naam ?? 'Doel niet bekend'))}
${
  activiteit === null
    ? unexplained(group)
    : facts([
        ['Waarvoor', activiteit.doel],
        ['Waarom dat mag', legalGround(activiteit)],
        ['Verantwoordelijk', activiteit.verantwoordelijkeOrganisatie],
        ['Waar de gegevens vandaan komen', activiteit.herkomst],
        ['Wie ze kunnen krijgen', activiteit.afnemendeCategorieOntvangers.join(', ')],
      ])
}
<ol class="kv-list">${group.acties.map(entryItem)}</ol>
${onlyThis !== undefined && html`<p class="utrecht-paragraph kv-filter">${link(onlyThis, `Toon alleen: ${activiteit?.naam ?? 'doel niet bekend'}`)}</p>`}
</section>`,
  ];
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
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

/** Looking at the log is in it as well, under a name for who keeps it. */
function nameOf({ actieNaam, handelingNaam }: Entry): string {
  if (handelingNaam === OWN_LOOK) return 'U bekeek dit overzicht';
  return actieNaam === READING ? 'Iemand bekeek wat er met uw gegevens is gedaan' : (actieNaam ?? 'Niet genoemd');
}

function entryItem(entry: Entry): Html {
  const at = new Date(entry.tijdstip);
  return html`<li>
<p class="kv-list__title">${nameOf(entry)}</p>
<p class="kv-list__line"><time datetime="${at.toISOString()}">${dayAndTime(at)}</time></p>
${facts([
  ['Stap', entry.handelingNaam === OWN_LOOK ? undefined : entry.handelingNaam],
  ['Waar dit bij hoort', entry.verwerkingNaam],
  ['Welke gegevens', entry.soortenGegevens.join(', ')],
  ['Uw rol', entry.rol.join(', ')],
  ['Wie de gegevens kreeg', entry.ontvanger],
  ['Nummer', html`<span class="kv-code">${entry.actieId}</span>`],
  ['Bewijs', entry.bewijs !== undefined && link(entry.bewijs, 'Bewijs dat dit niet is veranderd')],
])}
</li>`;
}

function pager({ next, previous }: Overview): HtmlValue {
  if (next === null && previous === null) return undefined;
  return html`<nav class="kv-pager" aria-label="Andere pagina’s">
${previous !== null && html`<a class="utrecht-link utrecht-link--html-a" href="${previous}" rel="prev">Nieuwer</a>`}
${next !== null && html`<a class="utrecht-link utrecht-link--html-a" href="${next}" rel="next">Ouder</a>`}
</nav>`;
}

/** The same, in another form. */
function takeAlong(asked: Asked): Html {
  const query = new URLSearchParams();
  if (asked.from !== undefined) query.set('van', asked.from);
  if (asked.to !== undefined) query.set('tot', asked.to);
  if (asked.activity !== undefined) query.set('activiteit', asked.activity);
  const download = query.size === 0 ? `${OVERVIEW}.json` : `${OVERVIEW}.json?${query}`;
  query.set('alles', 'ja');
  return html`<section class="kv-filter">
${heading(2, 'Bewaren of afdrukken')}
<ul class="kv-links">
<li>${link(`${OVERVIEW}?${query}`, 'Alles op één pagina, om af te drukken of als PDF te bewaren')}</li>
<li><a class="utrecht-link utrecht-link--html-a" href="${download}" download>Downloaden als gegevensbestand (JSON)</a></li>
</ul>
</section>`;
}

/** The same words for everybody, whatever there is. */
function explanations({ organisation, links }: Settings): Html {
  const contact = safeUrl(links.get('contact'));
  const officer = safeUrl(links.get('fg'));
  return html`<div>
${heading(2, 'Wat u hier niet ziet')}
<ul>
<li>Soms mag een organisatie niet laten zien wat zij met gegevens doet. Bijvoorbeeld als de politie iets onderzoekt. Zulke dingen staan hier nooit. U kunt hier dus niet zien of dat bij u zo is.</li>
<li>De naam van de medewerker en het computersysteem staan hier niet.</li>
<li>Wat wij niet langer mogen bewaren, is weg.</li>
<li>Wat andere organisaties met uw gegevens doen, staat bij die organisaties.</li>
</ul>
${heading(2, 'Klopt er iets niet?')}
${paragraph([`U mag aan ${organisation} vragen om uitleg, en om gegevens te verbeteren of te verwijderen. U mag ook bezwaar maken. Noem het nummer dat erbij staat.`, contact !== undefined && html` ${link(contact, 'Neem contact op')}.`])}
${paragraph(['Komt u er samen niet uit? Vraag het dan aan de ', officer === undefined ? 'functionaris gegevensbescherming' : link(officer, 'functionaris gegevensbescherming'), ` van ${organisation}.`])}
${paragraph(['U kunt ook een klacht indienen bij de ', link('https://autoriteitpersoonsgegevens.nl/', 'Autoriteit Persoonsgegevens'), '.'])}
</div>`;
}
