import { rfc } from '../clause.ts';
import { contract, paging } from '../gegevens/sources.ts';
import { type Judging, refuses, requesterChapter } from './answer-case.ts';
import type { ScenarioName } from './scenarios.ts';
import type { Played } from './subject.ts';

const pagesOf = ({ requests }: Played): readonly number[] => requests.map(({ json }) => Number(Object(json).page ?? 1));

const judged = (scenario: ScenarioName, judge: (played: Played) => string | undefined): Judging => ({
  check: async ({ play }) => judge(await play(scenario)),
});

export const PAGES = requesterChapter('R-PAG', ['Pagina’s', 'Pages'], {
  'R-PAG-01': {
    should: paging('Total number of available pages'),
    nl: 'Elke pagina wordt eenmaal gevraagd, van de eerste tot de laatste, en niets daarna',
    en: 'Each page is asked for once, from the first to the last, and nothing after it',
    ...judged('pages', (played) => {
      const pages = pagesOf(played).join();
      return pages === '1,2,3' ? undefined : `of 3 pages it asked for ${pages}`;
    }),
  },
  'R-PAG-03': {
    should: paging('Records per page'),
    nl: 'Alle pagina’s worden met dezelfde periode en grootte gevraagd',
    en: 'All pages are asked for with the same period and size',
    ...judged('pages', ({ requests }) => {
      const filters = requests.map(({ json }) => {
        const { page: _, pageSize = 2, ...filter } = Object(json);
        return JSON.stringify([pageSize, Object.entries(filter).toSorted()]);
      });
      return new Set(filters).size > 1 ? 'its requests for the pages of one delivery differ' : undefined;
    }),
  },
  'R-PAG-04': {
    should: paging('Current page'),
    nl: 'Een pagina die zegt de eerste te zijn, telt niet als de tweede',
    en: 'A page that says it is the first does not count as the second',
    ...refuses('first-again'),
  },
  'R-PAG-05': {
    should: paging('when present, all four fields are required'),
    nl: '`paginering` zonder `totalPages` wordt geweigerd',
    en: '`paginering` without `totalPages` is refused',
    ...refuses('half-paging'),
  },
  'R-PAG-06': {
    should: paging('Total number of records to be delivered'),
    nl: 'Minder records dan `totalRecords` is geen hele levering',
    en: 'Fewer records than `totalRecords` is no whole delivery',
    ...judged('other-total', ({ accepted, records }) =>
      accepted && records !== undefined ? `it took ${records} records for the 7 that were announced` : undefined,
    ),
  },
  'R-PAG-07': {
    may: contract(
      'info',
      "alle pagina's van een vraag komen uit de stand van het moment waarop de eerste pagina is opgevraagd",
    ),
    nl: 'Pagina’s van twee standen worden niet tot één levering gemaakt',
    en: 'Pages of two states are not made into one delivery',
    ...judged('two-states', (played) => {
      const pages = pagesOf(played);
      // Who sees it begins again with the first page, or refuses.
      const beganAgain = pages.indexOf(1, 1) !== -1;
      const went = pages.includes(3);
      return went && !beganAgain && (played.accepted || played.refused === undefined)
        ? 'it took the first page of one state and the others of another'
        : undefined;
    }),
  },
  'R-PAG-08': {
    should: rfc(9110, '10.2.3', 'how long the user agent ought to wait before making a follow-up request'),
    nl: 'Na 429 wordt gewacht zo lang als `Retry-After` zegt',
    en: 'After 429 it waits as long as `Retry-After` says',
    ...judged('busy', ({ requests: [first, second] }) =>
      first !== undefined && second !== undefined && second.at - first.at < 900
        ? `it asked again after ${second.at - first.at} ms in place of a second`
        : undefined,
    ),
  },
  'R-PAG-09': {
    should: rfc(9110, '9.2.2', 'A client SHOULD NOT automatically retry a failed automatic retry'),
    nl: 'Aan een leverancier die niet bereikbaar is, wordt niet steeds opnieuw gevraagd',
    en: 'A supplier that cannot be reached is not asked again and again',
    ...judged('unreachable', ({ accepted, requests }) => {
      if (accepted) return 'it took a 502 for a delivery';
      return requests.length > 10 ? `it asked ${requests.length} times` : undefined;
    }),
  },
});
