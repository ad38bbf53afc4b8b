/** A requester's reaction to answers: it accepts valid ones in any form, refuses planted faults, and requests every page. */
import { rfc } from '../clause.ts';
import { answer, ddas, oneState, paging, signing, signingPage } from '../gegevens/sources.ts';
import { PLANTED } from '../signature/planted.ts';
import type { ScenarioName } from './scenarios.ts';
import { judged, type Played, requesterChapter, TAKES_GOOD } from './subject.ts';

const because = (refused: string | undefined): string => (refused === undefined ? '' : `: ${refused}`);

/** If it counts records, it must count all of the supplier's. */
const takes = (scenario: ScenarioName) =>
  judged(scenario, ({ accepted, refused, records }, { suppliers }) => {
    if (!accepted) return `it refused a good answer${because(refused)}`;
    const expected = suppliers.recordsOf(scenario);
    if (records === undefined || records === expected) return undefined;
    return `it counts ${records} records, and was given ${expected}`;
  });

const refuses = (scenario: ScenarioName) =>
  judged(scenario, ({ accepted }) => (accepted ? 'it accepted the answer' : undefined));

const seen = (scenario: ScenarioName) =>
  judged(scenario, ({ accepted, refused }) => ({
    seen: accepted ? 'it accepts such an answer' : `it refuses such an answer${because(refused)}`,
  }));

export const GOOD_ANSWERS = requesterChapter('R-ACC', ['Goede antwoorden', 'Good answers'], {
  [TAKES_GOOD]: {
    must: paging('Total number of records to be delivered'),
    nl: 'Een goede levering in pagina’s wordt aanvaard, met alle records',
    en: 'A valid paged delivery is accepted, with all records',
    ...takes('pages'),
  },
  'R-ACC-02': {
    must: answer('Present only if delivery is paged'),
    nl: 'Een antwoord zonder `paginering` wordt aanvaard',
    en: 'An answer without `paginering` is accepted',
    ...takes('whole'),
  },
  'R-ACC-03': {
    should: ddas('Limits', '`totalRecords` minimum 0'),
    nl: 'Een levering zonder records wordt aanvaard',
    en: 'A delivery without records is accepted',
    ...takes('empty'),
  },
  'R-ACC-04': {
    must: signing('`x5c` = full X.509 certificate chain of the national government PKI'),
    nl: 'De volledige keten in `x5c`, met het stamcertificaat, wordt aanvaard',
    en: 'The full chain in `x5c`, including the root certificate, is accepted',
    ...takes('with-root'),
  },
  'R-ACC-05': {
    should: signing('pattern `^SHA-256=[A-Za-z0-9+/=]{43,44}$`'),
    nl: 'Een `Digest` van 43 tekens, zonder opvulling, wordt aanvaard',
    en: 'A `Digest` of 43 characters, without padding, is accepted',
    ...takes('unpadded'),
  },
  'R-ACC-06': {
    should: rfc(7515, '4.1.9', 'all media type values, subtype values, and parameter names are case insensitive'),
    nl: '`typ` in kleine letters wordt aanvaard',
    en: '`typ` in lower case is accepted',
    ...takes('lower-typ'),
  },
  'R-ACC-07': {
    must: rfc(7515, '4', 'all Header Parameters not defined by this specification MUST be ignored when not understood'),
    nl: 'Een onbekend veld in de header van de handtekening wordt genegeerd',
    en: 'An unknown field in the signature header is ignored',
    ...takes('more-members'),
  },
  'R-ACC-08': {
    must: signing('SHA-256 digest of the payload per RFC 3230'),
    nl: 'De bytes tellen, niet de schrijfwijze van de JSON',
    en: 'The bytes count, not the JSON formatting',
    ...takes('spelled'),
  },
  'R-ACC-09': {
    open: signing('detached payload, only the digest is signed'),
    nl: 'Wat er gebeurt met een handtekening over de body (tekst van juni 2026) in plaats van over de digest (module Signing)',
    en: 'What happens to a signature over the body (text of June 2026) instead of over the digest (module Signing)',
    ...seen('body-form'),
  },
});

export const PLANTED_FAULTS = requesterChapter('R-REF', ['Ongeldige antwoorden', 'Invalid answers'], {
  'R-REF-01': {
    must: signing('required on the request and on the 200 response'),
    nl: 'Een antwoord zonder handtekening wordt geweigerd',
    en: 'An answer without a signature is refused',
    ...refuses('no-signature'),
  },
  'R-REF-02': {
    must: signing('It is required on messages with a body'),
    nl: 'Een antwoord zonder `Digest` wordt geweigerd',
    en: 'An answer without `Digest` is refused',
    ...refuses('no-digest'),
  },
  'R-REF-03': { ...PLANTED.otherDigest, ...refuses('other-digest') },
  'R-REF-04': {
    must: signing('the response with the private key of the supplier'),
    nl: 'Een body die na het ondertekenen is veranderd, wordt geweigerd, ook met een nieuwe `Digest`',
    en: 'A body that was changed after signing is refused, with a new `Digest` too',
    ...refuses('changed-body'),
  },
  'R-REF-05': { ...PLANTED.changedSignature, ...refuses('changed-signature') },
  'R-REF-06': { ...PLANTED.algorithmNone, ...refuses('alg-none') },
  'R-REF-07': { ...PLANTED.publicKeyAsSecret, ...refuses('alg-hs256') },
  'R-REF-08': { ...PLANTED.rs256, ...refuses('alg-rs256') },
  'R-REF-09': { ...PLANTED.unknownCritical, ...refuses('unknown-critical') },
  'R-REF-10': {
    must: signing('Chain validated up to the government PKI root'),
    nl: 'Een keten naar een ander stamcertificaat met dezelfde namen wordt geweigerd',
    en: 'A chain to another root with the same names is refused',
    ...refuses('own-root'),
  },
  'R-REF-11': {
    must: rfc(5280, '6.1.3', 'The signature on the certificate can be verified'),
    nl: 'Een certificaat dat niet door zijn uitgever is ondertekend, wordt geweigerd',
    en: 'A certificate that was not signed by its issuer is refused',
    ...refuses('forged'),
  },
  'R-REF-12': {
    must: rfc(5280, '6.1.4', 'verify that the basicConstraints extension is present and that cA is set to TRUE'),
    nl: 'Een certificaat dat een leverancier zelf heeft uitgegeven, wordt geweigerd',
    en: 'A certificate that a supplier issued itself is refused',
    ...refuses('below-leaf'),
  },
  'R-REF-13': { ...PLANTED.expired, ...refuses('expired') },
  'R-REF-14': { ...PLANTED.revoked, ...refuses('revoked') },
  'R-REF-15': {
    must: signing('required on the request and on the 200 response'),
    nl: 'Ook de tweede pagina moet ondertekend zijn',
    en: 'The second page must be signed too',
    ...refuses('second-unsigned'),
  },
  'R-REF-16': {
    should: ddas('`gegevens` content', 'it follows an external exchange model'),
    nl: 'Een antwoord dat niet aan het uitwisselmodel voldoet, wordt geweigerd',
    en: 'An answer that does not match the exchange model is refused',
    ...refuses('other-model'),
  },
  'R-REF-17': {
    should: answer('The requested records'),
    nl: 'Een fout met gegevens erin is geen levering',
    en: 'An error that contains data is not a delivery',
    ...refuses('error-with-data'),
  },
  'R-REF-18': {
    open: signing('revocation check by OCSP or CRL'),
    nl: 'Wat er gebeurt als niet is na te gaan of een certificaat is ingetrokken',
    en: "What happens when a certificate's revocation status cannot be determined",
    ...seen('unknown-status'),
  },
  'R-REF-19': {
    open: signingPage('zonder trusted timestamp of ingebedde validatie-informatie'),
    nl: 'Wat er gebeurt met een handtekening die drie dagen in de toekomst ligt',
    en: 'What happens to a signature dated three days from now',
    ...seen('future-time'),
  },
});

const pagesOf = ({ requests }: Played): readonly number[] => requests.map(({ json }) => Number(Object(json).page ?? 1));

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
