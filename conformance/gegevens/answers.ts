import { isDeepStrictEqual } from 'node:util';
import { isRecord, valueAt } from '../../src/lib/json/json-value.ts';
import { firstFault, firstFaulty, Skipped } from '../case.ts';
import type { Exchange } from '../exchange.ts';
import { textAt } from '../json-members.ts';
import { answer, ddas, MOST_RECORDS, model, oneState, paging, request, requirements } from './sources.ts';
import {
  type GegevensSubject,
  gegevensChapter,
  gegevensOf,
  get,
  good,
  leveringenOf,
  pagingOf,
  recordsOf,
  signed,
} from './subject.ts';

/** Every answer with data that the run read. */
function answersOf({ small, whole, pages }: GegevensSubject): readonly Exchange[] {
  return [small, whole, ...pages].flatMap((one) => (one?.status === 200 ? [one] : []));
}

function numberAt(exchange: Exchange | undefined, member: string): number | undefined {
  const value = pagingOf(exchange)?.[member];
  return typeof value === 'number' ? value : undefined;
}

/**
 * The period that an answer covers, by its own account.
 * @throws {Skipped} when it names none
 */
function periodOf(exchange: Exchange, { model: { mapping } }: GegevensSubject): readonly [string, string] {
  const { startdatum, einddatum } = mapping.envelop;
  const [start, end] = [startdatum, einddatum].map((path) => textAt(gegevensOf(exchange), ...path));
  if (start === undefined || end === undefined) throw new Skipped('the answer names no period');
  return [start, end];
}

/** The fields of `paginering` and their minimum values. */
const PAGING = { pageSize: 1, currentPage: 1, totalPages: 1, totalRecords: 0 };

export const ANSWERS = gegevensChapter('A-ANS', ['Het antwoord', 'The answer'], {
  'A-ANS-01': {
    must: ddas('Endpoints', 'Content type `application/json`; body with `gegevens`'),
    nl: 'Een antwoord is JSON in UTF-8',
    en: 'An answer is JSON in UTF-8',
    ask: [signed()],
    expect: { mediaType: 'application/json' },
    check: (_, { answers: [only] }) => (only?.json === undefined ? 'the body is not JSON in UTF-8' : undefined),
  },
  'A-ANS-02': {
    must: answer('`gegevens` object of the exchange model'),
    nl: 'Een antwoord heeft `gegevens`',
    en: 'An answer has `gegevens`',
    needs: ['A-ANS-01'],
    ask: [signed()],
    check: (_, { answers: [only] }) =>
      isRecord(only?.json) && isRecord(only.json.gegevens) ? undefined : 'there is no object `gegevens`',
  },
  'A-ANS-03': {
    must: ddas('`gegevens` content', 'version 1.0 for the SHV variant and version 1.1 for the VS variant'),
    nl: '`gegevens` past bij het uitwisselmodel',
    en: '`gegevens` matches the exchange model',
    needs: ['A-ANS-02'],
    check: (subject) => {
      const models = [subject.model, ...subject.otherModels];
      return firstFaulty(answersOf(subject), (one) => {
        if (models.some(({ whole }) => whole.ok(gegevensOf(one)))) return undefined;
        const [fault] = subject.model.whole.faults(gegevensOf(one));
        return `${fault?.instancePath || '/'} ${fault?.message ?? ''}`;
      });
    },
  },
  'A-ANS-04': {
    open: ddas('`gegevens` content', 'it follows an external exchange model'),
    nl: 'Welke uitgave van het uitwisselmodel het antwoord volgt (VS 1.1 is in twee vormen gepubliceerd)',
    en: 'Which edition of the exchange model the answer follows (VS 1.1 was published in two forms)',
    needs: ['A-ANS-03'],
    check: (subject) => {
      const fitting = [subject.model, ...subject.otherModels].filter(({ whole }) =>
        answersOf(subject).every((one) => whole.ok(gegevensOf(one))),
      );
      return { seen: `it matches ${fitting.map(({ mapping }) => mapping.versie).join(' and ') || 'neither'}` };
    },
  },
  'A-ANS-05': {
    must: requirements('moeten alle paginering-velden gevuld zijn'),
    nl: 'Wie minder records per pagina vraagt dan er zijn, krijgt `paginering` met alle vier de velden',
    en: 'When a page holds fewer records than there are, `paginering` has all four fields',
    needs: ['A-ANS-01'],
    ask: [signed()],
    check: ({ whole, model: of }, { answers: [only] }) => {
      const found = pagingOf(only);
      if (found === undefined)
        return recordsOf(good(whole), of).length > 1
          ? 'the answer has no `paginering`'
          : { skipped: 'everything fits in one answer' };
      const wrong = Object.entries(PAGING).find(
        ([member, least]) => !(Number.isSafeInteger(found[member]) && Number(found[member]) >= least),
      );
      return wrong && { failed: `\`${wrong[0]}\` is ${JSON.stringify(found[wrong[0]])}` };
    },
  },
  'A-ANS-06': {
    must: request('Number of records (signals or trajectories) in one response'),
    nl: 'Een pagina heeft niet meer records dan `pageSize`',
    en: 'A page has no more records than `pageSize`',
    needs: ['A-ANS-05'],
    check: (subject) =>
      firstFaulty(subject.pages, (page) => {
        const size = Math.min(subject.pageSize, numberAt(page, 'pageSize') ?? 0);
        const count = recordsOf(page, subject.model).length;
        return count > size ? `a page of ${size} has ${count} records` : undefined;
      }),
  },
  'A-ANS-07': {
    must: paging('Current page'),
    nl: '`currentPage` is de gevraagde pagina',
    en: '`currentPage` is the requested page',
    needs: ['A-ANS-05'],
    check: ({ pages }) =>
      firstFaulty(pages, (page, i) => {
        const current = numberAt(page, 'currentPage');
        return current === i + 1 ? undefined : `page ${i + 1} claims to be page ${current}`;
      }),
  },
  'A-ANS-08': {
    must: paging('Total number of available pages'),
    nl: '`totalPages` klopt met `totalRecords` en `pageSize`',
    en: '`totalPages` agrees with `totalRecords` and `pageSize`',
    needs: ['A-ANS-05'],
    check: ({ pages }) =>
      firstFaulty(pages, (page) => {
        const [size = 1, records = 0] = [numberAt(page, 'pageSize'), numberAt(page, 'totalRecords')];
        const expected = Math.max(1, Math.ceil(records / size));
        const named = numberAt(page, 'totalPages');
        return named === expected ? undefined : `${records} records in pages of ${size} are not ${named} pages`;
      }),
  },
  'A-ANS-09': {
    must: paging('Total number of records to be delivered'),
    nl: 'Alle pagina’s samen tellen `totalRecords` records',
    en: 'All pages together have `totalRecords` records',
    needs: ['A-ANS-08'],
    check: ({ pages, complete, model: of }) => {
      if (!complete) return { skipped: 'the delivery is larger than the part that was read' };
      const count = pages.reduce((sum, page) => sum + recordsOf(page, of).length, 0);
      const named = numberAt(pages[0], 'totalRecords');
      if (count === named) return undefined;
      return { failed: `the pages have ${count} records, and \`totalRecords\` says ${named}`, at: pages.at(-1) };
    },
  },
  'A-ANS-10': {
    may: oneState,
    nl: 'De totalen zijn op elke pagina gelijk',
    en: 'The totals are the same on every page',
    needs: ['A-ANS-05'],
    check: ({ pages }) => {
      const totalsOf = (page: Exchange | undefined) =>
        ['totalRecords', 'totalPages', 'pageSize'].map((member) => numberAt(page, member)).join();
      return firstFaulty(pages, (page) =>
        totalsOf(page) === totalsOf(pages[0]) ? undefined : 'a later page has other totals than the first',
      );
    },
  },
  'A-ANS-11': {
    must: requirements('moeten de gegevens over verschillende berichten verdeeld worden'),
    nl: 'De pagina’s hebben samen dezelfde records als het antwoord zonder paginering',
    en: 'The pages together have the same records as the unpaged answer',
    needs: ['A-ANS-09'],
    check: ({ pages, whole, model: of }) => {
      // A supplier may choose its own page size when none is requested.
      if (Number(pagingOf(whole)?.totalPages ?? 1) > 1) return { skipped: 'it always answers in pages' };
      const paged = pages.flatMap((page) => recordsOf(page, of));
      if (isDeepStrictEqual(sorted(paged), sorted(recordsOf(good(whole), of)))) return undefined;
      return { failed: 'a record is missing from the pages, or on two of them', at: pages.at(-1) };
    },
  },
  'A-ANS-12': {
    may: oneState,
    nl: 'Een pagina die opnieuw wordt opgevraagd, heeft dezelfde records',
    en: 'A page requested again has the same records',
    needs: ['A-ANS-07'],
    check: async (subject, run) => {
      const last = good(subject.pages.at(-1));
      const { currentPage: page, pageSize } = pagingOf(last) ?? {};
      const again = await get(subject, run, { page, pageSize });
      if (isDeepStrictEqual(recordsOf(again, subject.model), recordsOf(last, subject.model))) return undefined;
      return 'the second request for a page returned different records';
    },
  },
  'A-ANS-13': {
    open: requirements(
      'Als een niet bestaande pagina opgevraagd wordt, wordt de eerste pagina in het response-bericht teruggestuurd',
    ),
    nl: 'Een pagina voorbij de laatste: de eerste (eisen van juni 2026) of een lege',
    en: 'A page past the last: the first (requirements of June 2026) or an empty one',
    needs: ['A-ANS-05'],
    check: async (subject, { ask }) => {
      const { totalPages, pageSize } = pagingOf(good(subject.pages[0])) ?? {};
      const past = await ask(subject.signed({ body: { page: Number(totalPages) + 1, pageSize } }));
      const count = recordsOf(past, subject.model).length;
      const { currentPage } = pagingOf(past) ?? {};
      return { seen: `status ${past.status}, \`currentPage\` ${String(currentPage)}, ${count} records` };
    },
  },
  'A-ANS-14': {
    must: model(
      'Inleiding 3',
      'alle lopende trajecten met overlap met de periode tussen startdatum en einddatum van de uitvraag',
    ),
    nl: 'Elk traject overlapt de gevraagde periode (SHV)',
    en: 'Every trajectory overlaps the requested period (SHV)',
    needs: ['A-ANS-03'],
    check: async (subject, run) => {
      if (subject.model.variant !== 'shv') return { skipped: 'no source says which signals belong to a period' };
      const [start] = periodOf(good(subject.whole), subject);
      // The first month of the period, which does not contain every record.
      const end = `${start.slice(0, 8)}28`;
      const day = start < end ? start : end;
      const found = await get(subject, run, { aanleverperiodeStartdatum: day, aanleverperiodeEinddatum: end });
      const { begin, einde } = subject.model.mapping.levering.record;
      return firstFault(recordsOf(found, subject.model), undefined, (record) => {
        const [from, until] = [begin, einde].map((path) => path && textAt(record, ...path));
        const isOutside = (until !== undefined && until < day) || (from !== undefined && from > end);
        return isOutside ? `a record lies outside ${day} to ${end}` : undefined;
      });
    },
  },
  'A-ANS-15': {
    must: request('the start and end date of the most recent reporting period are used'),
    nl: 'Een verzoek zonder datums levert hetzelfde op als een verzoek met de datums uit het antwoord',
    en: 'A request without dates gets the same records as one with the dates in its answer',
    needs: ['A-ANS-03'],
    check: async (subject, run) => {
      const whole = good(subject.whole);
      const period = periodOf(whole, subject);
      const [aanleverperiodeStartdatum, aanleverperiodeEinddatum] = period;
      const named = await get(subject, run, { aanleverperiodeStartdatum, aanleverperiodeEinddatum });
      const [ours, theirs] = [whole, named].map((one) => sorted(recordsOf(one, subject.model)));
      if (isDeepStrictEqual(ours, theirs)) return undefined;
      return `the answer without dates has different records from the one for ${period.join(' to ')}`;
    },
  },
  'A-ANS-16': {
    open: request('Start of the reporting period'),
    nl: 'Wat er gebeurt bij een periode zonder gegevens',
    en: 'What happens for a period without data',
    check: async (subject, { ask }) => {
      const dates = { aanleverperiodeStartdatum: '1900-01-01', aanleverperiodeEinddatum: '1900-01-01' };
      const found = await ask(subject.signed({ body: dates }));
      return { seen: `status ${found.status}, ${recordsOf(found, subject.model).length} records` };
    },
  },
  'A-ANS-17': {
    must: request('whose data is delivered'),
    nl: 'Een verzoek voor een organisatie levert alleen haar gegevens op',
    en: "A request for an organisation gets only that organisation's data",
    needs: ['A-ANS-03'],
    check: async (subject, run) => {
      const { organisatieLeden, levering } = subject.model.mapping;
      const nameOf = (one: object): unknown => valueAt(one, levering.organisatie.naam);
      const names = leveringenOf(good(subject.whole), subject.model).map(nameOf);
      const [name] = names;
      if (typeof name !== 'string' || new Set(names).size < 2)
        return { skipped: 'the supplier delivers for one organisation' };
      const found = await get(subject, run, { [organisatieLeden[0]]: name });
      const mine = leveringenOf(found, subject.model);
      if (mine.length === 0) return { skipped: "it does not recognise the organisation's name" };
      return firstFault(mine, undefined, (one) =>
        nameOf(one) === name ? undefined : 'the answer has data of another organisation',
      );
    },
  },
  'A-ANS-18': {
    must: requirements('Maximaal aantal per bericht'),
    nl: 'Een antwoord heeft hoogstens 25 000 (SHV) of 50 000 (VS) records',
    en: 'An answer has at most 25 000 (SHV) or 50 000 (VS) records',
    needs: ['A-ANS-05'],
    check: async (subject, { ask }) => {
      const most = MOST_RECORDS[subject.model.variant];
      if (subject.whole === undefined) return { skipped: 'requesting that much at once would be a burden' };
      const found = await ask(subject.signed({ body: { page: 1, pageSize: most + 1 } }));
      // Refusing so large a page is right too.
      const size = found.status === 200 ? Number(pagingOf(found)?.pageSize) : 0;
      return size > most ? `its pages have ${size} records` : undefined;
    },
  },
  'A-ANS-19': {
    must: request('Default: the first page'),
    nl: 'Zonder `page` is het antwoord de eerste pagina',
    en: 'Without `page` the answer is the first page',
    needs: ['A-ANS-07'],
    check: async (subject, run) => {
      const { pageSize } = pagingOf(good(subject.pages[0])) ?? {};
      const current = numberAt(await get(subject, run, { pageSize }), 'currentPage');
      return current === 1 ? undefined : `it claims to be page ${current}`;
    },
  },
});

function sorted(records: readonly object[]): readonly string[] {
  return records.map((record) => JSON.stringify(record)).toSorted();
}
