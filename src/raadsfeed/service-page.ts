import { escapeHtml, htmlPage } from '../http/pages.ts';
import type { ServiceDocument } from './service-document.ts';

const SOORTEN = { eigen: 'eigen', feed: 'feed', 'leveranciers-api': 'API van een leverancier' } as const;

/** The service document as a page for people. */
export function servicePage(document: ServiceDocument, mountUrl: string): string {
  const { organisaties, rol, historieVanaf, retentie } = document;
  return htmlPage({
    title: 'Raadsfeed',
    paragraphs: [
      rol === 'aggregator'
        ? 'Deze dienst verzamelt openbare raadsinformatie van anderen en geeft die door als een feed.'
        : 'Deze dienst geeft openbare raadsinformatie door als een feed.',
      `Begin bij de huidige stand en lees daarna de feed verder vanaf \`feedCursor\`. De geschiedenis gaat terug tot ${historieVanaf} (${retentie === 'permanent' ? 'blijvend bewaard' : `bewaard voor ${retentie}`}).`,
    ],
    html:
      `<h2>Adressen</h2>${links([
        ['Huidige stand', document.snapshotUrl],
        ['Feed', document.feedUrl],
        ['Stroom', document.streamUrl],
        ['Beschrijving van de interface', `${mountUrl}/docs`],
        ...(document.contact === undefined ? [] : [['Contact', document.contact] as const]),
        ...(document.licentie === undefined ? [] : [['Licentie', document.licentie] as const]),
      ])}<h2>Organisaties</h2>` +
      (organisaties.length === 0
        ? '<p>Er is nog niets gepubliceerd.</p>'
        : `<table><thead><tr><th>Code</th><th>Naam</th><th>Bijgewerkt</th><th>Herkomst</th></tr></thead><tbody>${organisaties
            .map(
              ({ organisatiecode, naam, laatstBijgewerkt, herkomst, herkomstSoort }) =>
                `<tr><td>${link(`${mountUrl}/organisaties/${organisatiecode}/vergaderingen`, organisatiecode)}</td>` +
                `<td>${escapeHtml(naam)}</td><td>${laatstBijgewerkt ?? 'nog niet'}</td>` +
                `<td>${herkomst === undefined ? SOORTEN[herkomstSoort] : link(herkomst, SOORTEN[herkomstSoort])}</td></tr>`,
            )
            .join('')}</tbody></table>`),
  });
}

function links(rows: readonly (readonly [string, string])[]): string {
  return `<table><tbody>${rows.map(([name, url]) => `<tr><th>${name}</th><td>${link(url, url)}</td></tr>`).join('')}</tbody></table>`;
}

/** A link only where a click cannot run anything. */
function link(url: string, text: string): string {
  const shown = escapeHtml(text);
  return /^(https?|mailto):/.test(url) ? `<a href="${escapeHtml(url)}">${shown}</a>` : shown;
}
