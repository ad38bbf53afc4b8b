import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NEXT_QUARTER, QUARTER, type Round } from '../notubiz/supplier/memory-feed.ts';
import { add, feed, folder, freshParlaeus, supplier, whats } from './fresh-parlaeus.ts';
import { agendaOf, documentOf, pointOf, RID } from './server.ts';

freshParlaeus();

const deletesOf = ({ deletes }: Round): string[] =>
  deletes.map((line) => `${line.resource.bronidentificatie} ${line.verwijderreden}`);

describe('an agenda of Parlaeus', () => {
  it('becomes a meeting with its items, their nesting, decisions and documents', async () => {
    add(
      agendaOf('a1', {
        endtime: '22:15',
        description: '<p>Welkom &amp; &eacute;&eacute;n vraag</p>',
        points: [
          pointOf('p1', { number: '1', text: 'Voorstel', decision: 'Aangenomen', documents: [documentOf('d1')] }),
          pointOf('p2', {
            number: '1.1',
            level: 1,
            documents: [documentOf('d1'), documentOf('d2', { type: 'Motie' })],
          }),
          pointOf('p3', { number: '2', title: '' }),
        ],
      }),
    );
    const round = await feed.round();
    expect(round.reading.complete).toBe(true);
    expect(feed.get('Vergadering/parlaeus-meeting-a1')).toEqual({
      bronidentificatie: 'parlaeus-meeting-a1',
      dossiertype: 'vergadering',
      organisatie: { gemeente: 'gm1901', naam: 'Gemeente Bodegraven-Reeuwijk' },
      naam: 'Raad a1',
      locatie: 'Raadzaal',
      vergadertoelichting: 'Welkom & één vraag',
      webpaginalink: 'https://voorbeeld.parlaeus.nl/user/agenda/action=view/ag=a1',
      aanvang: '2025-01-14T18:30:00Z',
      einde: '2025-01-14T21:15:00Z',
      vergaderdatum: '2025-01-14',
      vergaderstatus: 'gehouden',
      georganiseerddoorgremium: { gremiumidentificatie: 'c1', gremiumnaam: 'Gemeenteraad' },
      agendapunten: ['p1', 'p2', 'p3'].map((id) => ({ bronidentificatie: `parlaeus-agendapunt-${id}` })),
    });
    expect(feed.get('Agendapunt/parlaeus-agendapunt-p1')).toMatchObject({
      omschrijving: 'Voorstel\n\nAangenomen',
      geplandvolgnummer: '1',
      subagendapunten: [{ bronidentificatie: 'parlaeus-agendapunt-p2' }],
    });
    expect(feed.get('Agendapunt/parlaeus-agendapunt-p2')).toMatchObject({
      hoofdagendapunt: { bronidentificatie: 'parlaeus-agendapunt-p1' },
    });
    expect(feed.get('Agendapunt/parlaeus-agendapunt-p3')).toMatchObject({ agendapuntnaam: '2' });
    expect(feed.get('Agendapunt/parlaeus-agendapunt-p3')).not.toHaveProperty('hoofdagendapunt');
    expect(feed.get('Informatieobject/parlaeus-document-d1')).toMatchObject({
      bestandsurl: 'https://x.parlaeus.nl/document/d1',
      formaat: 'application/pdf',
      datumingediend: '2025-01-14',
      agendapunten: ['p1', 'p2'].map((id) => ({ bronidentificatie: `parlaeus-agendapunt-${id}` })),
    });
    expect(feed.get('Informatieobject/parlaeus-document-d2')).toMatchObject({ informatieobjecttype: 'Motie' });
  });

  it.each([
    [{ time: '00:00' }, undefined],
    [{ time: '' }, undefined],
    [{ date: '20250330', time: '02:30' }, '2025-03-30T01:30:00Z'],
    [{ date: '2025-01-14', time: '9:05' }, '2025-01-14T08:05:00Z'],
  ])('with %o begins in Dutch time, and at midnight has only a date', async (more, aanvang) => {
    add(agendaOf('a1', more));
    await feed.round();
    expect(feed.get('Vergadering/parlaeus-meeting-a1').aanvang).toBe(aanvang);
    expect(feed.get('Vergadering/parlaeus-meeting-a1').vergaderdatum).toMatch(/^2025-0[13]-/);
  });

  it('uses the first of a repeated hour', async () => {
    add(agendaOf('a1', { date: '20251026', time: '02:30' }));
    await feed.round({ window: { from: '2025-10-01', to: '2025-12-31' } });
    expect(feed.get('Vergadering/parlaeus-meeting-a1').aanvang).toBe('2025-10-26T00:30:00Z');
  });

  it.each([[1], ['1'], ['c7'], [true]])('marked %o is cancelled', async (cancelled) => {
    add(agendaOf('a1', { cancelled }));
    await feed.round();
    expect(feed.get('Vergadering/parlaeus-meeting-a1').vergaderstatus).toBe('geannuleerd');
  });

  it('with endless nesting is an unreadable answer', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    supplier.rule = ({ query }) => (query.fn === 'cie_list' ? { status: 200, body: deep } : undefined);
    const round = await feed.round();
    expect(round.reading.complete).toBe(false);
    expect(whats(round)).toEqual(['call-failed list']);
  });

  it('with confidential items shows nothing of them, nor of their sub-items', async () => {
    const secret = { confidential: 1, title: 'Zaak Jansen' };
    add(
      agendaOf('a1', {
        points: [
          pointOf('p1', { ...secret, documents: [documentOf('d1')] }),
          pointOf('p2', { level: 1, documents: [documentOf('d2')] }),
          pointOf('p3', { documents: [documentOf('d3', secret), documentOf('d4')] }),
        ],
      }),
      agendaOf('a2', secret),
      agendaOf('a3', { confidential: 'geheim' }),
    );
    const round = await feed.round();
    expect(feed.keys()).toEqual([
      'Agendapunt/parlaeus-agendapunt-p3',
      'Informatieobject/parlaeus-document-d4',
      'Vergadering/parlaeus-meeting-a1',
    ]);
    expect(round.reading.leftOut?.confidential).toBeGreaterThan(3);
    expect(JSON.stringify(round)).not.toContain('Jansen');
  });
});

describe('forms that no recording shows', () => {
  it.each([
    [['0', '1'], 'level is a whole number', true],
    [['A', 'B'], 'level is not a whole number: not nested', false],
    [[undefined, undefined], undefined, false],
  ])('accepts levels %o unchanged, and reports them', async ([first, second], detail, nested) => {
    add(agendaOf('a1', { points: [pointOf('p1', { level: first }), pointOf('p2', { level: second })] }));
    const { reading } = await feed.round();
    const found = reading.issues.filter(({ what, where }) => what === 'unconfirmed-form' && where === 'agenda_detail');
    expect(found.map((issue) => issue.detail)).toEqual(detail === undefined ? [] : [detail]);
    expect('hoofdagendapunt' in feed.get('Agendapunt/parlaeus-agendapunt-p2')).toBe(nested);
    expect(reading.complete).toBe(true);
  });

  it.each(['20250109', 1736416800, 'gisteren'])(
    'compares last_change %o only: unchanged saves requesting the detail',
    async (last_change) => {
      add(agendaOf('a1', { last_change }));
      await feed.round();
      const before = supplier.calls.length;
      const quick = await feed.round({ depth: 'quick' });
      expect(supplier.calls.slice(before).map(({ query }) => query.fn)).toEqual(['agenda_list']);
      expect(quick.reading.unchanged).toEqual(['parlaeus-meeting-a1']);
      add(agendaOf('a1', { last_change: `${last_change}1`, title: 'Nieuw' }));
      await feed.round({ depth: 'quick' });
      expect(feed.get('Vergadering/parlaeus-meeting-a1').naam).toBe('Nieuw');
    },
  );

  it('requests the detail in every round without last_change, and in a slow one always', async () => {
    add(agendaOf('a1', { last_change: undefined }), agendaOf('a2'));
    await feed.round();
    const before = supplier.calls.length;
    await feed.round({ depth: 'quick' });
    await feed.round();
    const details = supplier.calls.slice(before).filter(({ query }) => query.fn === 'agenda_detail');
    expect(details.map(({ query }) => query.agid).toSorted()).toEqual(['a1', 'a1', 'a2']);
  });
});

describe('a reading of Parlaeus', () => {
  it.each([
    ['an error in the answer', { status: 200, body: { status: 501, message: `no function for ${RID}` } }],
    ['a block page', { status: 200, body: '<html>Toegang geweigerd</html>', headers: { 'content-type': 'text/html' } }],
    ['a block page declared as JSON', { status: 200, body: 'Toegang geweigerd' }],
    ['a list that is not one', { status: 200, body: { status: 200, list: 'x' } }],
    ['an error', { status: 500, body: { message: `rid ${RID}` } }],
    ['a dropped connection', 'reset' as const],
    ['half an answer', 'half' as const],
  ])('with %s is not complete, deletes nothing, and does not reveal the key', async (_title, odd) => {
    add(agendaOf('a1'));
    await feed.round();
    supplier.rule = ({ query }) => (query.fn === 'agenda_list' ? odd : undefined);
    const round = await feed.round();
    expect(round.reading.complete).toBe(false);
    expect(round.deletes).toEqual([]);
    expect(round.reading.issues.length).toBeGreaterThan(0);
    expect(JSON.stringify(round)).not.toContain(RID);
  });

  it.each([
    ['its points', { points: undefined }],
    ['the documents of an item', { points: [pointOf('p1', { documents: undefined })] }],
  ])('with an agenda that does not show %s is not complete, and withdraws nothing', async (_title, lacking) => {
    const points = [pointOf('p1', { documents: [documentOf('d1')] })];
    add(agendaOf('a1', { points }));
    await feed.round();
    add(agendaOf('a1', lacking));
    const round = await feed.round();
    expect(round.reading.complete).toBe(false);
    expect(round.deletes).toEqual([]);
    add(agendaOf('a1', { points: [pointOf('p1', { confidential: 1, documents: undefined })] }));
    expect(deletesOf(await feed.round())).toContain('parlaeus-agendapunt-p1 niet_langer_openbaar');
  });

  it('with an entry without agid is not complete, and says so', async () => {
    add(agendaOf('a1'));
    supplier.strays.push({ agid: '', date: '20250115' });
    const round = await feed.round();
    expect(round.reading.complete).toBe(false);
    expect(whats(round)).toContain('unexpected-answer agenda_list');
    expect(feed.keys()).toEqual(['Vergadering/parlaeus-meeting-a1']);
  });

  it('that cannot read the names of bodies is not complete; the next one reads them', async () => {
    add(agendaOf('a1'));
    supplier.rule = ({ query }) => (query.fn === 'cie_list' ? { status: 500 } : undefined);
    const round = await feed.round();
    expect(round.reading.complete).toBe(false);
    expect(feed.keys()).toEqual([]);
    supplier.rule = undefined;
    expect((await feed.round()).reading.complete).toBe(true);
    expect(feed.get('Vergadering/parlaeus-meeting-a1')).toHaveProperty('georganiseerddoorgremium');
  });

  it('without names of bodies omits them, and says so', async () => {
    add(agendaOf('a1'));
    supplier.rule = ({ query }) => (query.fn === 'cie_list' ? { status: 404 } : undefined);
    const round = await feed.round();
    expect(round.reading.complete).toBe(true);
    expect(whats(round)).toContain('unknown-gremium cie_list');
    expect(feed.get('Vergadering/parlaeus-meeting-a1')).not.toHaveProperty('georganiseerddoorgremium');
  });

  it.each([
    ['are refused', 403, undefined],
    ['are no longer served but needed', 404, 'Gemeenteraad'],
  ])('whose names of bodies %s is not complete, and withdraws nothing', async (_title, status, bodies) => {
    const more = bodies === undefined ? {} : { bodies };
    feed.source = { ...feed.source, options: { ...feed.source.options, ...more } };
    add(agendaOf('a1', { title: 'Vergadering' }));
    await feed.round();
    expect(feed.keys()).toEqual(['Vergadering/parlaeus-meeting-a1']);
    feed.now = new Date(feed.now.getTime() + 7_200_000);
    supplier.rule = ({ query }) => (query.fn === 'cie_list' ? { status } : undefined);
    const round = await feed.round();
    expect(round).toMatchObject({ reading: { complete: false }, deletes: [], upserts: [] });
  });

  it('that cannot read one agenda publishes the others and deletes nothing', async () => {
    add(agendaOf('a1'), agendaOf('a2'), agendaOf('a3'));
    await feed.round();
    supplier.agendas.delete('a3');
    supplier.rule = ({ query }) =>
      query.agid === 'a2' ? { status: 200, body: { status: 501, message: 'x' } } : undefined;
    const round = await feed.round();
    expect(round.reading).toMatchObject({ complete: false, unread: [{ month: '2025-01', count: 1 }] });
    expect(round.deletes).toEqual([]);
  });

  it('reads a wide window in halves if the supplier fails', async () => {
    add(agendaOf('a1'), agendaOf('a2', { date: '20250301' }));
    supplier.rule = ({ query }) =>
      query.fn === 'agenda_list' && query.until === '20250331' && query.since === '20250101' ? 'reset' : undefined;
    const { reading } = await feed.round();
    expect(reading.complete).toBe(true);
    expect(reading.items).toHaveLength(2);
  });

  it('withdraws missing items, follows moved ones, and a second reading gives the same', async () => {
    add(agendaOf('a1', { points: [pointOf('p1', { documents: [documentOf('d1')] })] }), agendaOf('a2'), agendaOf('a3'));
    await feed.round();
    const before = JSON.stringify([...feed.resources]);
    expect((await feed.round()).deletes).toEqual([]);
    expect(JSON.stringify([...feed.resources])).toBe(before);
    supplier.agendas.delete('a1');
    add(agendaOf('a2', { date: '20250505' }), agendaOf('a3', { confidential: 1 }));
    expect(deletesOf(await feed.round()).toSorted()).toEqual([
      'parlaeus-agendapunt-p1 ingetrokken',
      'parlaeus-document-d1 ingetrokken',
      'parlaeus-meeting-a1 ingetrokken',
      'parlaeus-meeting-a3 niet_langer_openbaar',
    ]);
    expect(feed.get('Vergadering/parlaeus-meeting-a2').vergaderdatum).toBe('2025-05-05');
    expect((await feed.round({ window: NEXT_QUARTER })).deletes).toEqual([]);
  });

  it("reads only the organisation's bodies, by the names in the agenda, and counts the others", async () => {
    supplier.bodies.set('c2', 'Waterschap Elders');
    add(agendaOf('a1'), agendaOf('a2', { cmid: 'c2' }));
    feed.source = { ...feed.source, options: { ...feed.source.options, notBodies: 'elders' } };
    const { reading } = await feed.round();
    expect(feed.keys()).toEqual(['Vergadering/parlaeus-meeting-a1']);
    expect(reading.leftOut).toMatchObject({ bodies: 1 });
    add(agendaOf('a3', { confidential: 1 }));
    const seen = await feed.adapter.preview?.({
      source: feed.source,
      window: QUARTER,
      signal: AbortSignal.timeout(60_000),
    });
    expect(seen).toMatchObject({ total: 3, leftOut: 1 });
    expect(JSON.stringify(seen)).toContain('Gemeenteraad');
  });

  it.each([
    ['without a file', undefined, 'has no --rid-file'],
    ['with a file that is not there', 'missing', 'cannot be read'],
    ['with a file that holds more', 'more', 'does not hold a rid and nothing else'],
  ])('%s is not started', async (_title, name, message) => {
    await writeFile(join(folder, 'more'), `${RID} and more`);
    const options = name === undefined ? {} : { ridFile: join(folder, name) };
    feed.source = { ...feed.source, options };
    const { reading } = await feed.round();
    expect(supplier.calls).toEqual([]);
    expect(JSON.stringify(reading.issues)).toContain(message);
    expect(JSON.stringify(reading)).not.toContain(RID);
  });

  it('never publishes the key, even where the supplier repeats it', async () => {
    const link = `https://x.parlaeus.nl/document?rid=${RID}`;
    add(agendaOf('a1', { description: RID, points: [pointOf('p1', { documents: [documentOf('d1', { link })] })] }));
    const round = await feed.round();
    expect(feed.keys()).toContain('Informatieobject/parlaeus-document-d1');
    expect(JSON.stringify(round)).not.toContain(RID);
  });
});
