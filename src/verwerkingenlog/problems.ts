import { Problem, type ProblemKind } from '../lib/problem.ts';

export const verwerkingenlogProblems = {
  onbekendeVerwerkingsactie: {
    slug: 'onbekende-verwerkingsactie',
    status: 400,
    title: 'Onbekende verwerkingsactie',
    explanation: 'De actie of verwerking bestaat niet, of is vervallen. Wat vervallen is, kan niet meer veranderen.',
  },
  teVeelObjecten: {
    slug: 'te-veel-objecten',
    status: 400,
    title: 'Te veel verwerkte objecten',
    explanation: 'Een actie kan over al haar versies samen hoogstens 65 535 verwerkte objecten hebben.',
  },
  sleutelGebruikt: {
    slug: 'idempotency-key-used',
    status: 409,
    title: 'Idempotency-Key al gebruikt',
    explanation:
      'Deze `Idempotency-Key` is in de laatste 24 uur gebruikt voor een andere actie. Gebruik per actie een eigen sleutel.',
  },
  nieuwereVersie: {
    slug: 'newer-version',
    status: 412,
    title: 'Er is een nieuwere versie',
    explanation:
      'De versie in `If-Match` is niet meer de huidige. Haal het gegeven opnieuw op en pas de wijziging daarop toe.',
  },
  verwerkingBezet: {
    slug: 'processing-busy',
    status: 503,
    title: 'Er wachten andere wijzigingen',
    explanation:
      'Deze verwerking, actie of verwerkingsactiviteit wordt al gewijzigd en er wachten te veel wijzigingen, of te lang; deze is niet uitgevoerd. Stuur haar na `Retry-After` opnieuw.',
  },
  logVol: {
    slug: 'log-busy',
    status: 503,
    title: 'Het log is overbelast',
    explanation:
      'Er wachten te veel acties op vastlegging, of te lang; deze is niet vastgelegd. Stuur haar na `Retry-After` opnieuw.',
  },
  sleutelOntbreekt: {
    slug: 'log-key-missing',
    status: 503,
    title: 'Een sleutel van het log ontbreekt',
    explanation:
      'Deze server heeft niet alle sleutels waarmee het log is geschreven, en kan daarom geen volledig antwoord geven. Stuur het verzoek na `Retry-After` opnieuw; blijft dit zo, meld het dan aan de beheerder.',
  },
} as const satisfies Record<string, ProblemKind>;

/** Too many actions wait to be stored, or this one has waited too long. It is not stored. */
export function logFull(): Problem {
  return new Problem(verwerkingenlogProblems.logVol, { headers: { 'retry-after': '1' } });
}
