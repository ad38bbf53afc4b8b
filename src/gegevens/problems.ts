import type { ProblemKind } from '../lib/problem.ts';

const SIGN_AGAIN = 'Onderteken het verzoek opnieuw volgens de beschrijving van de interface.';
const RENEW = 'Gebruik een geldig certificaat uit een vertrouwde keten.';

/** Reasons to refuse a signature or digest: missing or malformed is 400, not trusted is 422. */
const signatureProblems = {
  'signature-missing': {
    slug: 'signature-missing',
    status: 400,
    title: 'Handtekening ontbreekt',
    explanation: `Het verzoek heeft geen header \`nlgov-adr-payload-sig\`. ${SIGN_AGAIN}`,
  },
  'signature-malformed': {
    slug: 'signature-malformed',
    status: 400,
    title: 'Handtekening onleesbaar',
    explanation: `De header \`nlgov-adr-payload-sig\` is geen losse JWS met de vereiste gegevens. ${SIGN_AGAIN}`,
  },
  'signature-algorithm': {
    slug: 'signature-algorithm',
    status: 422,
    title: 'Algoritme van de handtekening niet toegestaan',
    explanation: `De handtekening is met een ander algoritme gezet dan hier wordt aanvaard; \`detail\` noemt het juiste algoritme. ${SIGN_AGAIN}`,
  },
  'signature-invalid': {
    slug: 'signature-invalid',
    status: 422,
    title: 'Handtekening ongeldig',
    explanation: `De handtekening hoort niet bij dit verzoek en dit certificaat. ${SIGN_AGAIN}`,
  },
  'signature-expired': {
    slug: 'signature-expired',
    status: 422,
    title: 'Handtekening verlopen',
    explanation: `De handtekening is langer geleden gezet dan hier wordt aanvaard, of haar eigen \`exp\` is voorbij. ${SIGN_AGAIN}`,
  },
  'signature-not-yet-valid': {
    slug: 'signature-not-yet-valid',
    status: 422,
    title: 'Handtekening nog niet geldig',
    explanation: `De handtekening heeft een tijdstip in de toekomst. Zet de klok gelijk. ${SIGN_AGAIN}`,
  },
  'certificate-untrusted': {
    slug: 'certificate-untrusted',
    status: 422,
    title: 'Certificaat niet vertrouwd',
    explanation: `De keten leidt niet volgens de regels naar een vertrouwd stamcertificaat. ${RENEW}`,
  },
  'certificate-expired': {
    slug: 'certificate-expired',
    status: 422,
    title: 'Certificaat verlopen',
    explanation: `Een certificaat in de keten is nu niet geldig. ${RENEW}`,
  },
  'certificate-revoked': {
    slug: 'certificate-revoked',
    status: 422,
    title: 'Certificaat ingetrokken',
    explanation: `Een certificaat in de keten is ingetrokken. ${RENEW}`,
  },
  'certificate-usage': {
    slug: 'certificate-usage',
    status: 422,
    title: 'Certificaat niet bedoeld voor ondertekenen',
    explanation: `Het gebruik dat het certificaat toestaat past niet bij een handtekening. ${RENEW}`,
  },
  'revocation-unknown': {
    slug: 'revocation-unknown',
    status: 422,
    title: 'Intrekking niet vast te stellen',
    explanation:
      'Van een certificaat in de keten is nu niet vast te stellen of het is ingetrokken. Probeer het later opnieuw, of meld het de uitgever van het certificaat.',
  },
  'digest-missing': {
    slug: 'digest-missing',
    status: 400,
    title: 'Digest ontbreekt',
    explanation: 'Stuur `Digest: SHA-256=<base64>` mee over de exacte bytes van de body (RFC 3230).',
  },
  'digest-mismatch': {
    slug: 'digest-mismatch',
    status: 400,
    title: 'Digest klopt niet',
    explanation: 'De header `Digest` is niet leesbaar, of past niet bij de bytes die zijn ontvangen.',
  },
} as const satisfies Record<string, ProblemKind>;

export const gegevensProblems = {
  ...signatureProblems,
  onbekendeOrganisatie: {
    slug: 'onbekende-organisatie',
    status: 422,
    title: 'Onbekende organisatie',
    explanation:
      'Deze leverancier levert niet voor de organisatie in `aanleverende_organisatie`. Noem haar statutaire naam, KvK-nummer of gemeentecode, of laat het veld weg.',
  },
  omgekeerdePeriode: {
    slug: 'omgekeerde-periode',
    status: 422,
    title: 'Periode omgekeerd',
    explanation: '`aanleverperiodeStartdatum` ligt na `aanleverperiodeEinddatum`.',
  },
  dienstOnbereikbaar: {
    slug: 'service-unreachable',
    status: 502,
    title: 'Dienst onbereikbaar',
    explanation: 'De dienst kan nu niet leveren en heeft niets geleverd. Probeer het later opnieuw.',
  },
} as const satisfies Record<string, ProblemKind>;
