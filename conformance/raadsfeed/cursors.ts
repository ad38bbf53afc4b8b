import { isRecord } from '../../src/lib/json/json-value.ts';
import { objectsIn, textAt } from '../json-members.ts';
import { after, isTheSameInUpperCase, numbersOf, startingAt } from './pages.ts';
import { contract, draft, feedRule } from './sources.ts';
import { feedChapters, gives, keyOf, pageAddress, walk } from './subject.ts';

export const CURSORS = feedChapters('C-CUR-01')('C-CUR', ['Cursors en filters', 'Cursors and filters'], {
  'C-CUR-01': {
    must: feedRule(3, 'A cursor is therefore valid with any filter combination'),
    nl: 'Een cursor is geldig bij elke combinatie van filters',
    en: 'A cursor is valid with any combination of filters',
    needs: ['C-FEED-22', 'C-CUR-12'],
    check: async ({ values }, { ask }) => {
      const filters = [
        '',
        '&organisatiecode={organisation}',
        '&resourceType=Vergadering',
        '&organisatiecode={organisation}&resourceType=Agendapunt',
      ];
      for (const filter of filters) {
        const answer = await ask({ to: `{feed}?limit=5&${startingAt(values.cursor)}${filter}` });
        if (answer.status !== 200) return `with ${filter || 'no filter'} the cursor gets status ${answer.status}`;
      }
      const filtered = await ask({ to: '{feed}?limit=5&resourceType=Vergadering' });
      const back = await ask({ to: `{feed}?limit=5&${after(filtered.json)}` });
      if (back.status === 200) return undefined;
      return `the cursor of a filtered page gets status ${back.status} without the filter`;
    },
  },
  'C-CUR-02': {
    must: feedRule(3, 'filters are applied after that position'),
    nl: 'Een filter werkt vanaf de positie van de cursor',
    en: 'Filters apply after the cursor position',
    check: async (_, { ask }) => {
      const first = await ask({ to: '{feed}?limit=20' });
      const last = numbersOf(first.json).at(-1);
      if (typeof last !== 'number') return { skipped: 'the feed is empty' };
      const filtered = await ask({ to: `{feed}?limit=20&organisatiecode={organisation}&${after(first.json)}` });
      const early = numbersOf(filtered.json).find((number) => Number(number) <= last);
      return early === undefined ? undefined : `record ${String(early)} comes after the cursor of ${last}`;
    },
  },
  'C-CUR-03': {
    may: contract('ResourceTypeFilter', 'Alleen resources van deze soort.'),
    nl: 'Een filter op soort geeft alle records van die soort, en geen andere',
    en: 'A filter on resource type returns all records of that type, and no others',
    needs: ['C-CUR-01', 'C-FEED-04'],
    check: async ({ client, history, values }) => {
      const last = Number(history.records.at(-1)?.record.sequenceNumber ?? 0);
      if (last === 0) return { skipped: 'the feed is empty' };
      for (const resourceType of ['Vergadering', 'Agendapunt', 'Informatieobject']) {
        const filtered = await walk(client, pageAddress(values.feed, { resourceType }));
        const reached = filtered.complete ? last : Number(filtered.records.at(-1)?.record.sequenceNumber ?? 0);
        const numbers = (records: typeof history.records): string =>
          records
            .map(({ record }) => Number(record.sequenceNumber))
            .filter((number) => number <= Math.min(last, reached))
            .join();
        const expected = history.records.filter(({ record }) => record.resourceType === resourceType);
        if (numbers(filtered.records) !== numbers(expected))
          return {
            failed: `with resourceType ${resourceType} the records are others than those of this kind without it`,
            at: filtered.pages[0]?.at,
          };
      }
      return undefined;
    },
  },
  'C-CUR-04': {
    may: contract('OrganisatiecodeFilter', 'Alleen van deze organisatie.'),
    nl: 'Een filter op organisatie geeft alleen records van die organisatie',
    en: "A filter on organisation returns only that organisation's records",
    ask: [{ to: '{feed}?limit=100&organisatiecode={organisation}' }],
    check: ({ values: { organisation } }, { answers: [answer] }) => {
      const other = objectsIn(answer?.json, 'records').find(
        ({ resource }) => textAt(resource, 'organisatiecode') !== organisation,
      );
      return other === undefined ? undefined : `with ${organisation} comes ${keyOf(other)}`;
    },
  },
  'C-CUR-05': {
    may: contract('OrganisatiecodeFilter', 'Hoofdletters worden als kleine letters gelezen.'),
    nl: 'Een organisatiecode in hoofdletters geeft hetzelfde antwoord als in kleine letters',
    en: 'An organisation code in upper case gives the same answer as in lower case',
    needs: ['C-CUR-04'],
    check: isTheSameInUpperCase((code) => `{feed}?limit=20&organisatiecode=${code}`, 'records', numbersOf),
  },
  'C-CUR-06': {
    should: draft('Errors, area C 3', 'an empty collection is not an error'),
    nl: 'Een organisatie die niet in de feed staat, geeft een lege pagina',
    en: 'An organisation that is not in the feed gets an empty page',
    ask: [{ to: '{feed}?limit=20&organisatiecode={otherOrganisation}' }],
    check: (_, { answers: [answer] }) => {
      const [record] = objectsIn(answer?.json, 'records');
      return record === undefined ? undefined : `it has ${keyOf(record)}`;
    },
  },
  'C-CUR-07': {
    may: contract('OrganisatiecodeFilter', '^(?:[Gg][Mm][0-9]{4}|[Pp][Vv][0-9]{2}|[Ww][Ss][0-9]{4})$'),
    nl: 'Een organisatiecode die niet aan het patroon voldoet, krijgt 400',
    en: 'An organisation code that does not match the pattern gets 400',
    needs: ['C-FEED-01'],
    ...gives(400, ...['gm1', 'utrecht', 'gm00001', ''].map((code) => `{feed}?organisatiecode=${code}`)),
  },
  'C-CUR-08': {
    may: contract('ResourceTypeFilter', 'enum: - Vergadering - Agendapunt - Informatieobject'),
    nl: 'Een onbekende soort resource krijgt 400',
    en: 'An unknown resource type gets 400',
    needs: ['C-FEED-01'],
    ...gives(400, '{feed}?resourceType=Onbekend', '{feed}?resourceType='),
  },
  'C-CUR-09': {
    may: contract('info', 'Is hij niet (meer) geldig, dan is het antwoord 400'),
    nl: 'Een verminkte cursor krijgt 400',
    en: 'A garbled cursor gets 400',
    needs: ['C-FEED-01'],
    ...gives(400, '{feed}?cursor=geen-cursor', '{feed}?cursor=%00', '{feed}?cursor={cursor}x'),
  },
  'C-CUR-10': {
    may: contract('info', '400 met type `ongeldige-cursor`: begin opnieuw bij `/snapshot`'),
    nl: 'De fout bij een ongeldige cursor heeft het type daarvoor',
    en: 'The error for an invalid cursor has the type for it',
    needs: ['C-CUR-09'],
    ...gives(400, '{feed}?cursor=geen-cursor'),
    check: (_, { answers: [answer] }) =>
      textAt(answer?.json, 'type')?.endsWith('ongeldige-cursor')
        ? undefined
        : `the type is ${textAt(answer?.json, 'type')}`,
  },
  'C-CUR-11': {
    must: feedRule(3, 'It denotes a position in the complete feed'),
    nl: 'Een gefilterde pagina die niet de laatste is, heeft een cursor die vooruitgaat',
    en: 'A filtered page that is not the last has a cursor that advances',
    check: async (_, { ask }) => {
      let cursor: string | undefined;
      for (let pages = 0; pages < 5; pages += 1) {
        const at = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const { json } = await ask({ to: `{feed}?limit=1&organisatiecode={otherOrganisation}${at}` });
        if (!isRecord(json) || json.hasMore !== true) return undefined;
        const next = textAt(json, 'cursor');
        if (next === undefined || next === cursor) return 'the page announces more, but its cursor does not advance';
        cursor = next;
      }
      return undefined;
    },
  },
  'C-CUR-12': {
    may: contract('OrganisatiecodeFilter, ResourceTypeFilter', 'name: organisatiecode … name: resourceType'),
    nl: 'De filters heten `organisatiecode` en `resourceType`',
    en: 'The filters are named `organisatiecode` and `resourceType`',
    needs: ['C-FEED-01'],
    ask: [{ to: '{feed}?limit=1&organisatiecode={organisation}&resourceType=Vergadering' }],
  },
});
