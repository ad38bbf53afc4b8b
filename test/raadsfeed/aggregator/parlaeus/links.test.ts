/** Parlaeus's links to its documents, some of which are damaged. */
import { describe, expect, it } from 'vitest';
import { add, feed, freshParlaeus, whats } from './fresh-parlaeus.ts';
import { agendaOf, documentOf, pointOf } from './server.ts';

const TYPE_OF_ODS = 'application/vnd.oasis.opendocument.spreadsheet';

freshParlaeus();

describe('a document of Parlaeus', () => {
  it.each([
    ['https://x.parlaeus.nlhttps://x.parlaeus.nl/document/7', 'https://x.parlaeus.nl/document/7'],
    ['https://x.parlaeus.nlhttps//x.parlaeus.nl/document/7', 'https://x.parlaeus.nl/document/7'],
    ['http://x.parlaeus.nlhttp://x.parlaeus.nl/document/7', 'http://x.parlaeus.nl/document/7'],
    ['http://x.parlaeus.nlhttps://x.parlaeus.nl/document/7', 'https://x.parlaeus.nl/document/7'],
    ['https://x.parlaeus.nlhttp//x.parlaeus.nl/document/7', 'http://x.parlaeus.nl/document/7'],
    ['x.parlaeus.nlhttps://x.parlaeus.nl/document/7', 'https://x.parlaeus.nl/document/7'],
    ['HTTPS://X.Parlaeus.nlHTTPS://X.Parlaeus.nl/document/7', 'https://x.parlaeus.nl/document/7'],
    ['https://x.parlaeus.nl:8443https://x.parlaeus.nl:8443/document/7', 'https://x.parlaeus.nl:8443/document/7'],
    ['https://x.parlaeus.nlhttps://x.parlaeus.nlhttps://x.parlaeus.nl/document/7', 'https://x.parlaeus.nl/document/7'],
    [
      'https://x.parlaeus.nlhttps://x.parlaeus.nl/id=1/overgang-naar-https.pdf',
      'https://x.parlaeus.nl/id=1/overgang-naar-https.pdf',
    ],
    ['https//x.parlaeus.nl/document/7', 'https://x.parlaeus.nl/document/7'],
    ['http//x.parlaeus.nl/document/7', 'http://x.parlaeus.nl/document/7'],
  ])('has its link %s repaired, which is an issue', async (link, bestandsurl) => {
    add(agendaOf('a1', { points: [pointOf('p1', { documents: [documentOf('7', { link })] })] }));
    const round = await feed.round();
    expect(feed.get('Informatieobject/parlaeus-document-7').bestandsurl).toBe(bestandsurl);
    expect(whats(round)).toContain('unusable-value parlaeus-meeting-a1');
    expect(round.reading.complete).toBe(true);
  });

  it.each([
    'https://x.parlaeus.nl/id=1/overgang-naar-https.pdf',
    'https://x.parlaeus.nl/httpsbeleid/nota.pdf',
    'https://x.parlaeus.nl/doc?terug=https://www.voorbeeld.example/raad&id=7',
    'https://x.parlaeus.nl/doc#https://www.voorbeeld.example/',
    'https://x.parlaeus.nl/naar/https://www.voorbeeld.example/nota.pdf',
    'https://x.parlaeus.nl/http//nota.pdf',
    'https://https.parlaeus.nl/document/7',
    'https://www.http.example/document/7',
    'http://x.parlaeus.nl/document/7',
  ])('keeps its link %s', async (link) => {
    add(agendaOf('a1', { points: [pointOf('p1', { documents: [documentOf('7', { link })] })] }));
    const round = await feed.round();
    expect(feed.get('Informatieobject/parlaeus-document-7').bestandsurl).toBe(link);
    expect(whats(round)).not.toContain('unusable-value parlaeus-meeting-a1');
  });

  it.each([
    [{ type: 'pdf', title: 'Nota.docx', link: 'https://x.parlaeus.nl/a.odt' }, 'application/pdf'],
    [{ type: 'Motie', title: 'Nota.rtf', link: 'https://x.parlaeus.nl/a.pdf' }, 'application/rtf'],
    [{ type: 'Motie', title: 'Nota', link: 'https://x.parlaeus.nl/a/Nota%201.PDF?v=2#p' }, 'application/pdf'],
    [{ type: '', title: 'Nota', link: 'https://x.parlaeus.nl/download?naam=nota.ods' }, TYPE_OF_ODS],
    [{ type: '', title: 'Nota', link: 'https://x.parlaeus.nlhttps://x.parlaeus.nl/nota.pdf' }, 'application/pdf'],
    [{ type: '', title: 'Nota', link: 'https://x.parlaeus.nl/document/7' }, undefined],
    [{ type: '', title: 'Nota', link: 'https://www.nota.zip' }, undefined],
  ])('with %o has the format %s', async (more, formaat) => {
    add(agendaOf('a1', { points: [pointOf('p1', { documents: [documentOf('7', more)] })] }));
    await feed.round();
    expect(feed.get('Informatieobject/parlaeus-document-7').formaat).toBe(formaat);
  });

  it("shows nothing of a confidential document's link in its issues", async () => {
    const odd = (name: string): string => `https://x.parlaeus.nlhttps://x.parlaeus.nl/${name}`;
    const document = documentOf('d1', { link: odd('zaak-jansen'), confidential: 1 });
    const below = documentOf('d2', { link: 'zaak jansen' });
    add(
      agendaOf('a1', {
        points: [pointOf('p1', { documents: [document] }), pointOf('p2', { confidential: 1, documents: [below] })],
      }),
    );
    const { reading } = await feed.round();
    expect(reading.issues.length).toBeGreaterThan(0);
    expect(JSON.stringify(reading)).not.toMatch(/jansen/i);
  });
});
