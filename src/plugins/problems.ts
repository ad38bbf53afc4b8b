import type { ProblemKind } from '../lib/problem.ts';

/** Problems that every area can answer with. Each has a page under `/problems/`. */
export const platformProblems = {
  invalidRequest: {
    slug: 'invalid-request',
    status: 400,
    title: 'Ongeldig verzoek',
    explanation:
      'Het verzoek klopt niet met de beschrijving van de interface. Alle fouten staan in `detail` of `invalidParams`; verbeter ze en stuur het verzoek opnieuw.',
  },
  unauthorized: {
    slug: 'unauthorized',
    status: 401,
    title: 'Geen of ongeldig toegangstoken',
    explanation:
      'Stuur een geldig toegangstoken mee: `Authorization: Bearer …`, of achter een FSC-Inway `Fsc-Authorization`.',
  },
  forbidden: {
    slug: 'forbidden',
    status: 403,
    title: 'Geen toegang',
    explanation: 'Het toegangstoken is geldig, maar geeft geen recht op dit verzoek.',
  },
  notFound: {
    slug: 'not-found',
    status: 404,
    title: 'Niet gevonden',
    explanation: 'Op dit adres staat niets. Adressen hebben geen schuine streep aan het eind.',
  },
  methodNotAllowed: {
    slug: 'method-not-allowed',
    status: 405,
    title: 'Methode niet toegestaan',
    explanation: 'Dit adres bestaat, maar niet met deze methode. De kop `Allow` noemt de toegestane methoden.',
  },
  notAcceptable: {
    slug: 'not-acceptable',
    status: 406,
    title: 'Geen passende vorm',
    explanation: 'Het antwoord bestaat niet in een vorm die de kop `Accept` toelaat.',
  },
  bodyTooLarge: {
    slug: 'body-too-large',
    status: 413,
    title: 'Verzoek te groot',
    explanation: 'De inhoud van het verzoek is groter dan deze dienst aanneemt.',
  },
  unsupportedMediaType: {
    slug: 'unsupported-media-type',
    status: 415,
    title: 'Mediatype niet ondersteund',
    explanation: 'De inhoud van het verzoek moet `application/json` zijn, in UTF-8.',
  },
  rateLimit: {
    slug: 'rate-limit',
    status: 429,
    title: 'Te veel verzoeken',
    explanation: 'Het aantal verzoeken is hoger dan afgesproken. Wacht het aantal seconden in de kop `Retry-After`.',
  },
  addressTooLong: {
    slug: 'address-too-long',
    status: 414,
    title: 'Adres te lang',
    explanation: 'Het adres van het verzoek is langer dan deze dienst aanneemt.',
  },
  headersTooLarge: {
    slug: 'headers-too-large',
    status: 431,
    title: 'Koppen te groot',
    explanation: 'Een kop van het verzoek, of alle koppen samen, zijn groter dan deze dienst aanneemt.',
  },
  internal: {
    slug: 'internal',
    status: 500,
    title: 'Interne fout',
    explanation: 'Er ging iets mis dat niet aan het verzoek ligt. Meld de waarde van `instance` aan de beheerder.',
  },
  unavailable: {
    slug: 'unavailable',
    status: 503,
    title: 'Tijdelijk niet beschikbaar',
    explanation:
      'De dienst is overbelast of een onderdeel is onbereikbaar. Wacht het aantal seconden in de kop `Retry-After`.',
  },
  bewijsVolgt: {
    slug: 'bewijs-volgt',
    status: 404,
    title: 'Bewijs volgt',
    explanation:
      'Het gegeven is vastgelegd, maar staat nog niet in een gepubliceerd checkpoint. Vraag het bewijs opnieuw na het aantal seconden in de kop `Retry-After`.',
  },
  bewijsVerwijderd: {
    slug: 'bewijs-verwijderd',
    status: 410,
    title: 'Verwijderd',
    explanation:
      'Het gegeven is verwijderd, bijvoorbeeld na de bewaartermijn of door een redactie. Daarmee is ook het geheim verwijderd waarmee het te bewijzen was.',
  },
  zonderBewijs: {
    slug: 'zonder-bewijs',
    status: 404,
    title: 'Zonder bewijs',
    explanation: 'Het gegeven is vastgelegd voordat het bewijslog werd ingeschakeld. Er bestaat geen bewijs van.',
  },
} as const satisfies Record<string, ProblemKind>;
