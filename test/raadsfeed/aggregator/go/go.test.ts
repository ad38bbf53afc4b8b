import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/lib/time.ts';
import { createGo } from '../../../../src/raadsfeed/aggregator/go/api.ts';
import { REGISTERS } from '../../../../src/raadsfeed/aggregator/supplier/windows.ts';
import { NEXT_QUARTER, QUARTER } from '../notubiz/supplier/memory-feed.ts';
import { add, closeGo, deletesOf, feed, retry, start, supplier, whats } from './fresh-go.ts';
import { documentOf, fullDocumentOf, itemOf, meetingOf } from './server.ts';

closeGo();

describe.each(['v1', 'v2'] as const)('GemeenteOplossingen %s', (version) => {
  it('returns meetings, items with and without an order, and the documents of both', async () => {
    await start(version);
    const file = version === 'v1' ? documentOf : fullDocumentOf;
    add(
      meetingOf(11, {
        items: [
          itemOf(1, { description: '<b>Toelichting</b>', documents: [file(101)] }),
          itemOf(2, { sortorder: 0, documents: [file(102)] }),
          itemOf(3, { sortorder: null, number: '', documents: [file(103), file(101)] }),
          itemOf(4, { sortorder: 4, title: '' }),
        ],
        documents: [file(104)],
      }),
      meetingOf(12, {
        canceled: true,
        startTime: '',
        description: 'Te lang\nmet regels',
        dmu: { id: 3, name: 'Commissie' },
      }),
    );
    supplier.details.set(11, { confidential: 0, fullUrl: 'https://raad.voorbeeld.example/vergaderingen/11' });
    const round = await feed.round();
    expect(round.reading.issues).toEqual([]);
    expect(round.reading.complete).toBe(true);
    expect(feed.get('Vergadering/go-meeting-11')).toMatchObject({
      naam: 'Raad 11',
      aanvang: '2025-01-14T18:30:00Z',
      vergaderdatum: '2025-01-14',
      vergaderstatus: 'gehouden',
      locatie: 'Raadzaal',
      webpaginalink: 'https://raad.voorbeeld.example/vergaderingen/11',
      georganiseerddoorgremium: { gremiumidentificatie: '14', gremiumnaam: 'Gemeenteraad' },
      agendapunten: [1, 2, 3, 4].map((id) => ({ bronidentificatie: `go-agendapunt-${id}` })),
    });
    expect(feed.get('Vergadering/go-meeting-12')).toMatchObject({
      naam: 'Commissie',
      vergadertoelichting: 'Te lang\nmet regels',
      vergaderstatus: 'geannuleerd',
    });
    expect(feed.get('Vergadering/go-meeting-12')).not.toHaveProperty('aanvang');
    expect(feed.get('Agendapunt/go-agendapunt-1')).toMatchObject({
      omschrijving: 'Toelichting',
      geplandvolgnummer: '1',
      volgnummer: '1',
    });
    expect(feed.get('Agendapunt/go-agendapunt-2').volgnummer).toBe('0');
    expect(feed.get('Agendapunt/go-agendapunt-4').agendapuntnaam).toBe('4');
    const path = version === 'v1' ? 'meetings/11/documents/101' : 'documents/101/download';
    expect(feed.get('Informatieobject/go-document-101')).toMatchObject({
      bestandsurl: `${supplier.address}/${version}/${path}`,
      datumingediend: version === 'v1' ? '2025-01-14' : '2025-02-11',
      agendapunten: [1, 3].map((id) => ({ bronidentificatie: `go-agendapunt-${id}` })),
    });
    expect(feed.keys().filter((key) => key.startsWith('Informatieobject'))).toHaveLength(4);
  });

  it.each([
    [{ date: '2025-01-14 20:00', startTime: undefined }, '2025-01-14T19:00:00Z'],
    [{ date: '2025-01-14T20:00:00', startTime: '' }, '2025-01-14T19:00:00Z'],
    [{ date: '2025-01-14 00:00:00', startTime: undefined }, undefined],
    [{ date: '2025-01-14', startTime: '00:00' }, undefined],
    [{ date: '2025-01-14 00:00:00', startTime: '20:00' }, '2025-01-14T19:00:00Z'],
    [{ date: '2025-03-30', startTime: '02:30' }, '2025-03-30T01:30:00Z'],
  ])('reads the time %o as Dutch time, and midnight as a date only', async (more, aanvang) => {
    await start(version);
    add(meetingOf(11, more));
    await feed.round();
    expect(feed.get('Vergadering/go-meeting-11').aanvang).toBe(aanvang);
    expect(feed.get('Vergadering/go-meeting-11').vergaderdatum).toBe(more.date.slice(0, 10));
  });

  it('shows no confidential item, and fetches nothing further of it', async () => {
    await start(version);
    const secret = { confidential: 1, title: 'Zaak Jansen' };
    add(
      meetingOf(11, { documents: [documentOf(1)] }),
      meetingOf(12, {
        items: [itemOf(1, { ...secret, documents: [documentOf(2)] }), itemOf(2)],
        documents: [documentOf(3, { confidential: 'ja', filename: 'Jansen.pdf' }), documentOf(4)],
      }),
    );
    supplier.details.set(11, { confidential: true });
    const round = await feed.round();
    expect(feed.keys()).toEqual([
      'Agendapunt/go-agendapunt-2',
      // The second version does not tell on which item the meeting's documents are.
      ...(version === 'v1' ? ['Informatieobject/go-document-4'] : []),
      'Vergadering/go-meeting-12',
    ]);
    expect(round.reading.leftOut?.confidential).toBeGreaterThan(2);
    expect(JSON.stringify(round)).not.toContain('Jansen');
    const paths = supplier.calls.map(({ path }) => path);
    expect(paths.filter((path) => path.includes('/meetings/11/') || path.includes('/meetingitems/1/'))).toEqual([]);
  });

  it('withdraws missing items, and a second reading gives the same', async () => {
    await start(version);
    add(meetingOf(11, { items: [itemOf(1, { documents: [documentOf(1)] })] }), meetingOf(12));
    await feed.round();
    const before = JSON.stringify([...feed.resources]);
    for (const depth of ['full', 'quick'] as const) expect((await feed.round({ depth })).deletes).toEqual([]);
    expect(JSON.stringify([...feed.resources])).toBe(before);
    supplier.meetings.delete(11);
    add(meetingOf(12, { date: '2025-05-05' }));
    const round = await feed.round({ depth: 'quick' });
    expect(deletesOf(round)).toEqual(
      expect.arrayContaining(['go-meeting-11 ingetrokken', 'go-agendapunt-1 ingetrokken', 'go-document-1 ingetrokken']),
    );
    await feed.round({ window: NEXT_QUARTER });
    expect(feed.keys()).toEqual(['Vergadering/go-meeting-12']);
    expect(feed.get('Vergadering/go-meeting-12').vergaderdatum).toBe('2025-05-05');
  });

  it.each([
    ['an error', { status: 500 }],
    ['a block page', { status: 200, body: '<html>Toegang geweigerd</html>', headers: { 'content-type': 'text/html' } }],
    ['a block page declared as JSON', { status: 200, body: 'Toegang geweigerd' }],
    ['a closed interface', { status: 200, body: { code: 'authorization_required' } }],
    ['a refusal', { status: 401, body: { code: 'authorization_required' } }],
    ['an answer of another form', { status: 200, body: { meetings: 'none' } }],
    ['a dropped connection', 'reset' as const],
  ])('with %s is not complete and deletes nothing', async (_title, odd) => {
    await start(version);
    add(meetingOf(11));
    await feed.round();
    supplier.rule = ({ path }) => (path.endsWith('/meetings') ? odd : undefined);
    const round = await feed.round();
    expect(round.reading.complete).toBe(false);
    expect(round.deletes).toEqual([]);
    expect(round.reading.issues.length).toBeGreaterThan(0);
  });

  it.each([{ status: 500 }, 'reset' as const])('splits a wide window after %o', async (odd) => {
    await start(version);
    add(meetingOf(11), meetingOf(12, { date: '2025-03-20' }));
    let wide = 0;
    supplier.rule = ({ path, query }) => {
      const days = (Number(query.date_to) - Number(query.date_from)) / 86_400;
      if (!path.endsWith('/meetings') || days < 60) return undefined;
      wide += 1;
      return odd;
    };
    const { reading } = await feed.round();
    expect(wide).toBeGreaterThan(0);
    expect(reading).toMatchObject({ complete: true, issues: [] });
    expect(reading.items).toHaveLength(2);
  });

  it("reads only the organisation's bodies", async () => {
    await start(version, { bodies: '^gemeenteraad$' });
    add(meetingOf(11), meetingOf(12, { dmu: { id: 5, name: 'Rekenkamer Elders' } }));
    const { reading } = await feed.round();
    expect(feed.keys()).toEqual(['Vergadering/go-meeting-11']);
    expect(reading.leftOut).toMatchObject({ bodies: 1 });
  });

  it('is recognised when a source is added', async () => {
    await start(version);
    const go = createGo({ clock: systemClock, allowPrivate: true, retry });
    const request = { source: feed.source, window: QUARTER, signal: AbortSignal.timeout(60_000) };
    const found = () => go.prepare?.(request);
    expect(await found()).toEqual({ version });
    supplier.isOpen = false;
    await expect(found()).rejects.toThrow('has not opened its public interface');
    supplier.isOpen = true;
    supplier.rule = () => ({ status: 503 });
    await expect(found()).rejects.toThrow('503');
    await go.close();
  });
});

describe('the first version', () => {
  it('publishes a document of several meetings once, at its address through the earliest, whichever is read last', async () => {
    await start('v1');
    add(meetingOf(11, { date: '2025-04-14', documents: [documentOf(1)] }));
    add(meetingOf(12, { date: '2025-02-14', items: [itemOf(1, { documents: [documentOf(1)] })] }));
    const address = (id: number) => `${supplier.address}/v1/meetings/${id}/documents/1`;
    for (const window of [NEXT_QUARTER, QUARTER, NEXT_QUARTER, QUARTER]) {
      await feed.round({ window });
      const { bestandsurl, webpaginalink } = feed.get('Informatieobject/go-document-1');
      const isFirst = window === NEXT_QUARTER && !feed.keys().includes('Vergadering/go-meeting-12');
      expect([bestandsurl, webpaginalink]).toEqual([address(isFirst ? 11 : 12), address(isFirst ? 11 : 12)]);
    }
    expect(feed.get('Informatieobject/go-document-1').vergaderingen).toHaveLength(2);
    supplier.meetings.delete(12);
    await feed.round();
    expect(feed.get('Informatieobject/go-document-1')).toMatchObject({
      bestandsurl: address(11),
      vergaderingen: [{ bronidentificatie: 'go-meeting-11' }],
    });
  });

  it.each([
    ['its items', { items: undefined }],
    ['its documents', { documents: undefined }],
    ['the documents of an item', { items: [itemOf(1, { documents: undefined })] }],
  ])('that does not show %s of a meeting withdraws nothing, unless that is confidential', async (_title, lacking) => {
    await start('v1');
    add(meetingOf(11, { items: [itemOf(1, { documents: [documentOf(101)] })], documents: [documentOf(102)] }));
    await feed.round();
    supplier.details.set(11, lacking);
    const round = await feed.round();
    expect(round.reading.complete).toBe(false);
    expect(round.deletes).toEqual([]);
    supplier.details.set(11, { ...lacking, confidential: 1 });
    expect(deletesOf(await feed.round())).toContain('go-meeting-11 niet_langer_openbaar');
    expect(feed.keys()).toEqual([]);
  });

  it('withdraws items with a mark of an unknown form', async () => {
    await start('v1');
    add(meetingOf(11), meetingOf(12));
    await feed.round();
    supplier.details.set(11, { confidential: 'ja' });
    const round = await feed.round();
    expect(deletesOf(round)).toEqual(['go-meeting-11 niet_langer_openbaar']);
    expect(whats(round).filter((text) => text.startsWith('unusable-value'))).not.toEqual([]);
  });

  it('reads a meeting individually when it is new or changed, and in the slow round', async () => {
    await start('v1');
    add(meetingOf(11), meetingOf(12));
    await feed.round();
    add(meetingOf(12, { location: 'Elders' }));
    const before = supplier.calls.length;
    await feed.round({ depth: 'quick' });
    expect(supplier.calls.slice(before).map(({ path }) => path)).toEqual(['/api/v1/meetings', '/api/v1/meetings/12']);
    expect(feed.get('Vergadering/go-meeting-12').locatie).toBe('Elders');
    // Confidential after publication: the list does not say so, but the slow round notices.
    supplier.details.set(11, { confidential: 1 });
    expect(deletesOf(await feed.round())).toEqual(['go-meeting-11 niet_langer_openbaar']);
  });

  it('that shows more days than requested is read for those days only, and that is reported', async () => {
    await start('v1');
    supplier.ignoresDays = true;
    add(meetingOf(11), meetingOf(12, { date: '2024-06-01' }));
    const round = await feed.round();
    expect(feed.keys()).toEqual(['Vergadering/go-meeting-11']);
    expect(whats(round)).toEqual(['unconfirmed-form meetings']);
  });
});

describe('the second version', () => {
  it('with a list longer than any window is not read', async () => {
    await start('v1');
    supplier.rule = () => ({ status: 200, body: Array.from({ length: 100_001 }, (_, id) => ({ id: id + 1 })) });
    const round = await feed.round();
    expect(round.reading).toMatchObject({ complete: false, items: [] });
    expect(supplier.calls).toHaveLength(1);
  });

  it.each([null, '', -1, 'veel'])('with %j instead of a total is not complete', async (totalCount) => {
    await start('v2');
    add(meetingOf(11));
    supplier.rule = ({ path }) =>
      path.endsWith('/meetings')
        ? {
            status: 200,
            body: { status: 'OK', code: 200, result: { totalCount, meetings: [{ id: 11, date: '2025-01-14' }] } },
          }
        : undefined;
    const round = await feed.round();
    expect(round.reading).toMatchObject({ complete: false, items: [] });
    expect(whats(round)).toEqual(['call-failed list']);
  });

  it('that keeps showing the same page is read once more, and is not complete', async () => {
    await start('v2');
    add(meetingOf(11));
    const result = { totalCount: 1_000_000_000, documents: [fullDocumentOf(101)] };
    supplier.rule = ({ path }) =>
      path.endsWith('/meetings/11/documents') ? { status: 200, body: { status: 'OK', code: 200, result } } : undefined;
    const round = await feed.round();
    expect(supplier.count('/api/v2/meetings/11/documents')).toBe(2);
    expect(whats(round)).toEqual(['count-mismatch meetings/11/documents']);
  });

  it.each([false, true])('is read over all its pages; a total may be text (%s)', async (totalAsText) => {
    await start('v2');
    supplier.totalAsText = totalAsText;
    const items = Array.from({ length: 8 }, (_, i) => itemOf(i + 1, { documents: [fullDocumentOf(100 + i)] }));
    add(...Array.from({ length: 7 }, (_, i) => meetingOf(20 + i)), meetingOf(11, { items }));
    const { reading } = await feed.round();
    expect(reading).toMatchObject({ complete: true, issues: [] });
    expect(feed.keys()).toHaveLength(8 + 8 + 8);
  });

  it('with fewer records than announced is not complete', async () => {
    await start('v2');
    add(meetingOf(11));
    supplier.rule = ({ path }) =>
      path.endsWith('/11/documents')
        ? { status: 200, body: { status: 'OK', code: 200, result: { totalCount: '2', documents: [] } } }
        : undefined;
    const round = await feed.round();
    expect(round.reading.complete).toBe(false);
    expect(whats(round)).toEqual(['count-mismatch meetings/11/documents']);
  });

  it("uses the list's record for a meeting that cannot be requested by itself", async () => {
    await start('v2');
    supplier.unfound.add(11);
    add(meetingOf(11, { items: [itemOf(1, { documents: [fullDocumentOf(1)] })] }));
    const { reading } = await feed.round();
    expect(reading).toMatchObject({ complete: true, issues: [] });
    expect(feed.keys()).toHaveLength(3);
  });

  it('publishes documents without a meeting only for the types that the operator listed', async () => {
    await start('v2', { documentTypes: 'Raadsvragen, Besluit' });
    supplier.documents.push(
      fullDocumentOf(1),
      fullDocumentOf(2, { documentTypeLabel: 'Bezwaarschrift', description: 'Bezwaar van Jansen' }),
      fullDocumentOf(3, { documentTypeLabel: 'besluit', description: '<p>Besluit <b>drie</b></p>' }),
      fullDocumentOf(4, { confidential: true, description: 'Jansen' }),
      fullDocumentOf(5, { publicationDate: { date: '2009-05-05 10:00:00' } }),
      fullDocumentOf(6, { documentTypeLabel: null, description: 'Jansen' }),
    );
    await feed.round();
    const round = await feed.round({ window: REGISTERS });
    expect(round.reading.complete).toBe(true);
    expect(feed.keys()).toEqual(['Informatieobject/go-document-1', 'Informatieobject/go-document-3']);
    expect(feed.get('Informatieobject/go-document-3')).toMatchObject({
      titel: 'Besluit drie',
      datumingediend: '2025-02-11',
      omvang: 62_118,
      formaat: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      vergaderingen: [],
    });
    expect(JSON.stringify(round)).not.toContain('Jansen');
    supplier.documents.shift();
    expect(deletesOf(await feed.round({ window: REGISTERS }))).toEqual(['go-document-1 ingetrokken']);
  });
});

it('calls no address without encryption, and no inner one, unless the operator allows it', async () => {
  await start('v1');
  const go = createGo({ clock: systemClock, allowPrivate: false, retry });
  const signal = AbortSignal.timeout(60_000);
  const request = (address: string) => ({
    source: { ...feed.source, organisationId: address },
    window: QUARTER,
    signal,
  });
  await expect(go.prepare?.(request(supplier.address))).rejects.toThrow('begins with https:');
  const inner = supplier.address.replace('http:', 'https:');
  await expect(go.prepare?.(request(inner))).rejects.toThrow(/127\.0\.0\.1/);
  expect(supplier.calls).toEqual([]);
  await go.close();
});
