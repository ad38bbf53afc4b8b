/** The page with the actions on a citizen's data, in plain words. */
import { capital, dayAndTime, count as number } from '../../html/format.ts';
import { alert, heading, link, type Page, paragraph } from '../../html/page.ts';
import { UUID } from '../../lib/patterns.ts';
import { type Html, type HtmlValue, html } from '../../lib/template.ts';
import { isDay } from '../../lib/time.ts';
import { MAX_COUNT } from '../store/find.ts';
import { entryList, organisationSection, organisationSections } from './organisation-sections.ts';
import { type Overview, type Period, type Selection, yearPeriod } from './read-overview.ts';
import { LOGOUT, OVERVIEW, type Settings } from './site.ts';
import type { Look } from './store/citizens.ts';

export interface Asked extends Period, Partial<Pick<Selection, 'activity' | 'cursor'>> {
  readonly all: boolean;
}

export function readAsked(url: string): { readonly asked: Asked; readonly faults: readonly string[] } {
  const query = new URLSearchParams(url.split('?', 2)[1] ?? '');
  const text = (name: string): string | undefined => query.get(name)?.trim().slice(0, 200) || undefined;
  const asked = {
    from: text('van'),
    to: text('tot'),
    activity: text('activiteit')?.toLowerCase(),
    cursor: text('cursor'),
    all: text('alles') === 'ja',
  };
  const { from, to, activity } = asked;
  // A year below 1000 is a typing error.
  const isWrong = (day: string | undefined): boolean => day !== undefined && !(/^[12]/.test(day) && isDay(day));
  const faults = [
    isWrong(from) && 'Vul bij ‘Vanaf deze dag’ een dag in, zoals 2026-01-31.',
    isWrong(to) && 'Vul bij ‘Tot en met deze dag’ een dag in, zoals 2026-01-31.',
  ].filter((fault) => fault !== false);
  if (faults.length === 0 && from !== undefined && to !== undefined && from > to)
    faults.push('De eerste dag ligt na de laatste dag. Draai ze om.');
  if (activity !== undefined && !UUID.test(activity)) faults.push('Dit doel bestaat niet.');
  return { asked, faults };
}

/** The download: the contents of the page, with the address of the next part. */
export function overviewFile({ count, next, groups, looks, readings }: Overview, { from, to }: Asked): object {
  return {
    uitleg: 'Wat er met uw persoonsgegevens is gedaan. Vertrouwelijke verwerkingen staan er niet in.',
    vanaf: from ?? null,
    totEnMet: to ?? null,
    aantal: count,
    volgende: next,
    doelen: groups,
    inzageDoorAnderen: readings,
    uwEigenInzage: looks
      .filter(({ isOwn }) => isOwn)
      .map(({ actieId, tijdstip, isProof }) => ({ actieId, tijdstip, wat: isProof ? 'bewijs' : 'overzicht' })),
  };
}

interface OverviewPage {
  readonly settings: Settings;
  readonly asked: Asked;
  /** Absent when nothing was read; `faults` says why. */
  readonly overview?: Overview;
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
      periodForm({ ...asked, ...overview?.period }),
      html`<div class="kv-columns">
${overview !== undefined && html`<div>${content({ settings, asked, overview })}</div>`}
${explanations()}
</div>`,
    ],
  };
}

function content({ settings, asked, overview }: OverviewPage & { readonly overview: Overview }): HtmlValue {
  return [
    found(overview, asked),
    years(overview, asked),
    overview.groups.length === 0
      ? organisationSection(settings.organisation, [], settings, false)
      : organisationSections(overview.groups, settings, asked.all),
    readingsOfLog(overview, settings, asked),
    pager(overview),
    saveSection(asked),
  ];
}

function periodForm({ from, to, activity }: Period & Pick<Asked, 'activity'>): Html {
  const field = (name: string, text: string, value: string | undefined): Html =>
    html`<div><label for="${name}">${text}</label><input class="utrecht-textbox utrecht-textbox--html-input" id="${name}" name="${name}" type="date" value="${value ?? ''}"></div>`;
  return html`<form class="kv-search" action="${OVERVIEW}" method="get">
${field('van', 'Vanaf deze dag', from)}
${field('tot', 'Tot en met deze dag', to)}
${activity !== undefined && html`<input type="hidden" name="activiteit" value="${activity}">`}
<button class="utrecht-button utrecht-button--primary-action" type="submit">Toon deze periode</button>
</form>`;
}

function found({ count, groups, readings, period }: Overview, { activity }: Asked): HtmlValue {
  const shown = groups.reduce((sum, { acties }) => sum + acties.length, readings.length);
  const when = [periodInWords(period), activity === undefined ? undefined : 'voor dit doel'].filter(Boolean).join(' ');
  if (count === 0) return paragraph(`Er staat niets over u${when === '' ? '' : ` ${when}`}.`);
  const total = `${count >= MAX_COUNT ? 'meer dan ' : ''}${number(count)} keer`;
  const begin = when === '' ? 'Wij schreven' : `${capital(when)} schreven wij`;
  const part = shown === count ? '' : ` Op deze pagina ziet u er ${number(shown)}.`;
  return paragraph(
    `${begin} ${total} op dat er iets met uw gegevens is gedaan.${part} Het nieuwste staat bovenaan. Open een regel om meer te zien.`,
  );
}

function periodInWords({ from, to }: Period): string | undefined {
  const year = from?.slice(0, 4) ?? '';
  if (from === yearPeriod(year).from && to === yearPeriod(year).to) return `in ${year}`;
  return from === undefined && to === undefined ? undefined : 'in deze periode';
}

function years({ period, years: all, isCut, groups }: Overview, { activity }: Asked): HtmlValue {
  const isWhole = period.from === undefined && period.to === undefined;
  const others = all.filter((year) => period.from !== yearPeriod(year).from || period.to !== yearPeriod(year).to);
  // A single year needs no choice.
  if (activity === undefined && groups.length > 0 && all.length < 2 && !isCut) return undefined;
  if (activity === undefined && isWhole && others.length < 2) return undefined;
  const items = (activity === undefined ? others : []).map((year) => {
    const { from, to } = yearPeriod(year);
    return html`<li>${link(`${OVERVIEW}?van=${from}&tot=${to}`, year)}</li>`;
  });
  return html`<nav class="kv-filter" aria-label="Jaren"><ul class="kv-links">${items}${(!isWhole || activity !== undefined) && html`<li>${link(`${OVERVIEW}?alles=ja`, 'Toon alles')}</li>`}</ul></nav>`;
}

const LISTED_LOOKS = 100;

/** Readings of the log itself: one line at the end, that opens. */
function readingsOfLog({ looks, readings }: Overview, settings: Settings, { all, activity }: Asked): HtmlValue {
  const own = looks.filter(({ isOwn }) => isOwn);
  // The entry of a reading does not name the activity.
  const others = activity === undefined ? looks.length - own.length : readings.length;
  if (own.length + others === 0) return undefined;
  const ownText = own.length > 0 ? ownLooksText(own) : undefined;
  const by = own.length === 0 ? 'de organisatie' : 'uzelf of de organisatie';
  const summary = others > 0 ? `${number(own.length + others)} keer ingezien door ${by}` : ownText;
  return html`<details class="kv-entry kv-looks"><summary>${summary}</summary>
${others > 0 && paragraph(`Een organisatie bekeek ${number(others)} keer wat er met uw gegevens is gedaan.${readings.length < others ? ` Op deze pagina ziet u er ${number(readings.length)}.` : ''}`)}
${readings.length > 0 && entryList(readings, settings, all)}
${others > 0 && ownText !== undefined && paragraph(`${ownText}.`)}
${own.length > 0 && ownLooks(own)}</details>`;
}

function ownLooksText(own: readonly Look[]): string {
  const proofs = own.filter(({ isProof }) => isProof).length;
  return [
    `U bekeek dit overzicht: ${number(own.length - proofs)} keer`,
    ...(proofs > 0 ? [`u vroeg ${number(proofs)} keer een bewijs op`] : []),
  ].join(', en ');
}

function ownLooks(own: readonly Look[]): HtmlValue {
  const rest = own.length - LISTED_LOOKS;
  const items = own.slice(0, LISTED_LOOKS).map(({ tijdstip, isProof }) => {
    const at = new Date(tijdstip);
    return html`<li><time datetime="${at.toISOString()}">${dayAndTime(at)}</time>${isProof && ' (een bewijs)'}</li>`;
  });
  return [
    html`<ul>${items}</ul>`,
    rest > 0 && paragraph(`En nog ${number(rest)} keer eerder: die staan in het gegevensbestand.`),
  ];
}

function pager({ next, previous }: Overview): HtmlValue {
  if (next === null && previous === null) return undefined;
  return html`<nav class="kv-pager" aria-label="Andere pagina’s">
${previous !== null && html`<a class="utrecht-link utrecht-link--html-a" href="${previous}" rel="prev">Nieuwer</a>`}
${next !== null && html`<a class="utrecht-link utrecht-link--html-a" href="${next}" rel="next">Ouder</a>`}
</nav>`;
}

function saveSection(asked: Asked): Html {
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

/** The same words for everybody, whatever the log contains. */
function explanations(): Html {
  return html`<div>
${heading(2, 'Wat u hier niet ziet')}
<ul>
<li>Soms mag een organisatie niet laten zien wat zij met gegevens doet. Bijvoorbeeld als de politie iets onderzoekt. Zulke dingen staan hier nooit. U kunt hier dus niet zien of dat bij u zo is.</li>
<li>De naam van de medewerker en het computersysteem staan hier niet.</li>
<li>Wat wij niet langer mogen bewaren, is weg.</li>
<li>Wat andere organisaties met uw gegevens doen, staat bij die organisaties.</li>
</ul>
</div>`;
}
