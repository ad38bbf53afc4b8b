/** What changed when, in words; and the page of what is not there any more. */
import { dayAndTime } from '../../plugins/html/format.ts';
import { alert, facts, heading, link, type Page, paragraph } from '../../plugins/html/page.ts';
import { type Html, html, shorten } from '../../plugins/html/template.ts';
import type { Resource, ResourceType } from '../../raadsfeed/domain/resource.ts';
import { HOME, organisationPath } from './context.ts';
import { TYPE_NAMES } from './rows.ts';
import type { HistoryEntry } from './search/history.ts';

const REASONS: Readonly<Record<string, string>> = {
  ingetrokken: 'ingetrokken',
  correctie: 'een correctie',
  niet_langer_openbaar: 'niet langer openbaar',
  persoonsgegevens: 'er stonden persoonsgegevens in',
  overig: 'een andere reden',
};

/** Members as people call them; others under their own name. */
const MEMBERS: Readonly<Record<string, string>> = {
  naam: 'naam',
  agendapuntnaam: 'naam',
  titel: 'titel',
  aanvang: 'begintijd',
  einde: 'eindtijd',
  geplandeaanvang: 'geplande begintijd',
  geplandeeinde: 'geplande eindtijd',
  vergaderdatum: 'datum',
  geplandedatum: 'geplande datum',
  vergaderstatus: 'status',
  vergaderingstype: 'soort',
  vergadertoelichting: 'toelichting',
  locatie: 'plaats',
  agendapunten: 'agendapunten',
  vergaderingen: 'vergaderingen',
  deelvergaderingen: 'delen van de vergadering',
  georganiseerddoorgremium: 'commissie',
  bestandsurl: 'bestand',
  checksum: 'controlegetal',
  omvang: 'grootte',
  formaat: 'soort bestand',
  webpaginalink: 'pagina bij de bron',
  omschrijving: 'omschrijving',
};

export function historyList(history: readonly HistoryEntry[]): Html {
  const rows = history.map(
    (entry) =>
      html`<li><time datetime="${entry.storedAt.toISOString()}">${dayAndTime(entry.storedAt)}</time>: ${describe(entry, entry === history.at(-1))} <span class="kv-quiet kv-small">(nummer ${entry.sequenceNumber} in de feed)</span></li>`,
  );
  return html`<ol class="kv-history">${rows}</ol>`;
}

function describe({ op, changed, verwijderreden }: HistoryEntry, isFirst: boolean): string {
  if (op === 'delete') return `verwijderd, reden: ${reason(verwijderreden)}`;
  if (op === 'redact') return `inhoud verwijderd, reden: ${reason(verwijderreden)}`;
  if (changed === undefined) return isFirst ? 'gepubliceerd' : 'gepubliceerd of gewijzigd';
  if (changed.length === 0) return 'opnieuw gepubliceerd';
  const names = [...new Set(changed.map((name) => MEMBERS[name] ?? shorten(name, 40)))];
  return `gewijzigd: ${names.slice(0, 8).join(', ')}${names.length > 8 ? ' en meer' : ''}`;
}

const reason = (verwijderreden: string | undefined): string =>
  REASONS[verwijderreden ?? ''] ?? shorten(verwijderreden ?? 'onbekend', 60);

/** The page of something that was withdrawn or redacted: that it was there, and why it is not any more. Nothing of its content. */
export function removedPage(
  resourceType: ResourceType,
  { organisatiecode }: Resource,
  organisation: string,
  history: readonly HistoryEntry[],
): Page {
  const [last] = history;
  const name = TYPE_NAMES[resourceType];
  const title =
    resourceType === 'Informatieobject'
      ? 'Dit document is verwijderd'
      : resourceType === 'Vergadering'
        ? 'Deze vergadering is verwijderd'
        : 'Dit agendapunt is verwijderd';
  return {
    title,
    description: `${name} dat hier stond is verwijderd.`,
    path: [
      { href: HOME, text: 'Begin' },
      { href: organisationPath(organisatiecode), text: shorten(organisation, 100) },
    ],
    body: [
      heading(1, title),
      alert(
        'info',
        last?.op === 'redact'
          ? 'De inhoud is uit alle gegevens gehaald, ook uit de geschiedenis.'
          : 'Deze gegevens zijn niet meer geldig.',
      ),
      facts([
        ['Reden', reason(last?.verwijderreden)],
        [
          'Toelichting',
          last?.toelichting !== undefined && html`<span class="kv-pre">${shorten(last.toelichting, 2000)}</span>`,
        ],
        ['Verwijderd op', last !== undefined && dayAndTime(last.storedAt)],
      ]),
      paragraph(link(organisationPath(organisatiecode), 'Naar de vergaderingen en documenten van deze organisatie')),
    ],
  };
}
