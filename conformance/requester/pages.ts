import { rfc } from '../clause.ts';
import { oneState, paging } from '../gegevens/sources.ts';
import type { ScenarioName } from './scenarios.ts';
import { type Judging, type Played, refuses, requesterChapter } from './subject.ts';

const pagesOf = ({ requests }: Played): readonly number[] => requests.map(({ json }) => Number(Object(json).page ?? 1));

const judged = (scenario: ScenarioName, judge: (played: Played) => string | undefined): Judging => ({
  check: async ({ play }) => judge(await play(scenario)),
});

export const PAGES = requesterChapter('R-PAG', ['Pagina’s', 'Pages'], {
  'R-PAG-01': {
    should: paging('Total number of available pages'),
    nl: 'De afnemer vraagt elke pagina eenmaal op, van de eerste tot de laatste, en niets daarna',
    en: 'The requester requests each page once, from the first to the last, and nothing after that',
    ...judged('pages', (played) => {
      const pages = pagesOf(played).join();
      return pages === '1,2,3' ? undefined : `of 3 pages it requested ${pages}`;
    }),
  },
  'R-PAG-03': {
    should: paging('Records per page'),
    nl: 'De afnemer vraagt alle pagina’s op met dezelfde periode en grootte',
    en: 'The requester requests all pages with the same period and size',
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
    nl: 'Een pagina die zich de eerste noemt, telt niet als de tweede',
    en: 'A page that claims to be the first does not count as the second',
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
    nl: 'Minder records dan `totalRecords` is geen volledige levering',
    en: 'Fewer records than `totalRecords` is not a complete delivery',
    ...judged('other-total', ({ accepted, records }) =>
      accepted && records !== undefined ? `it accepted ${records} records instead of the 7 announced` : undefined,
    ),
  },
  'R-PAG-07': {
    may: oneState,
    nl: 'Pagina’s van twee standen worden niet samengevoegd tot één levering',
    en: 'Pages of two states are not combined into one delivery',
    ...judged('two-states', (played) => {
      const pages = pagesOf(played);
      // A requester that notices starts again with the first page, or refuses.
      const beganAgain = pages.indexOf(1, 1) !== -1;
      const went = pages.includes(3);
      return went && !beganAgain && (played.accepted || played.refused === undefined)
        ? 'it combined the first page of one state with other pages of another'
        : undefined;
    }),
  },
  'R-PAG-08': {
    should: rfc(9110, '10.2.3', 'how long the user agent ought to wait before making a follow-up request'),
    nl: 'Na 429 wacht de afnemer zo lang als `Retry-After` aangeeft',
    en: 'After 429 the requester waits as long as `Retry-After` says',
    ...judged('busy', ({ requests: [first, second] }) =>
      first !== undefined && second !== undefined && second.at - first.at < 900
        ? `it retried after ${second.at - first.at} ms instead of a second`
        : undefined,
    ),
  },
  'R-PAG-09': {
    should: rfc(9110, '9.2.2', 'A client SHOULD NOT automatically retry a failed automatic retry'),
    nl: 'De afnemer blijft geen verzoeken sturen naar een onbereikbare leverancier',
    en: 'The requester does not keep retrying an unreachable supplier',
    ...judged('unreachable', ({ accepted, requests }) => {
      if (accepted) return 'it accepted a 502 as a delivery';
      return requests.length > 10 ? `it sent ${requests.length} requests` : undefined;
    }),
  },
});
