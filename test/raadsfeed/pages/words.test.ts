/** The wording of the pages: outcomes, in the same words everywhere. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { htmlFaults } from '../../support/html.ts';
import { agendapunt, removal, vergadering } from '../support.ts';
import { type PagesServer, startPages } from './pages-fixture.ts';

let pages: PagesServer;
beforeAll(async () => {
  pages = await startPages();
});
afterAll(() => pages.stop());

async function read(path: string, status = 200): Promise<string> {
  const answer = await pages.get(path);
  expect(answer.status, path).toBe(status);
  expect(await htmlFaults(answer.text), path).toEqual([]);
  return answer.text;
}

it('explains each agenda item that a meeting names and its agenda lacks', async () => {
  const names = ['er', 'ingetrokken', 'vergissing', 'elders', 'nooit'].map((name) => `rest-${name}`);
  const agendapunten = names.map((bronidentificatie) => ({ bronidentificatie }));
  const of = (meeting: string) => ({ vergadering: { bronidentificatie: meeting } });
  await pages.publishAndIndex([
    vergadering('rest', { agendapunten }),
    vergadering('rest-later'),
    ...names.slice(0, 3).map((name) => agendapunt(name, of('rest'))),
    agendapunt('rest-elders', { ...of('rest-later'), agendapuntnaam: 'Verkeersplan' }),
  ]);
  await pages.publishAndIndex([
    removal('delete', 'Agendapunt', 'rest-ingetrokken', { verwijderreden: 'ingetrokken' }),
    removal('delete', 'Agendapunt', 'rest-vergissing', { verwijderreden: 'correctie' }),
  ]);
  const text = await read('/gm9901/vergaderingen/rest');
  expect(text).not.toContain('nog niet gepubliceerd');
  const item = (name: string): string => `href="/raad/gm9901/agendapunten/rest-${name}">`;
  expect(text).toContain(`${item('ingetrokken')}Een agendapunt is ingetrokken</a> (`);
  expect(text).toContain(`${item('vergissing')}Een agendapunt is weggehaald: het was een vergissing</a> (`);
  expect(text).toContain(`${item('elders')}Verkeersplan</a> is verplaatst naar een andere vergadering.`);
  expect(text).toContain('Van 1 agendapunt is hier niets gepubliceerd.');
  expect(await read('/gm9901/agendapunten/rest-ingetrokken', 410)).toContain('Dit is weggehaald uit de gegevens.');
});

it('uses the same words everywhere for coming meetings, and links to all meetings', async () => {
  expect(await read('')).toContain('>Komende vergaderingen</h2>');
  const text = await read('/gm9901');
  expect(text).toContain('>Downloaden en volgen</h2>');
  expect(text).toContain(
    '<a class="utrecht-link utrecht-link--html-a" href="/raad/zoeken?soort=vergaderingen">Alle vergaderingen</a>',
  );
});
