/** What a requester does with answers: good ones it takes, whatever they look like; planted faults it refuses. */
import type { Chapter, Clause } from '../case.ts';
import { rfc } from '../clause.ts';
import { ddas, paging, signing, signingPage } from '../gegevens/sources.ts';
import { refuses, requesterCases, seen, TAKES_GOOD, takes } from './answer-case.ts';
import type { RequesterSubject } from './subject.ts';

const answer = (quote: string): Clause => ddas('Response body (status 200)', quote);

export const GOOD_ANSWERS: Chapter<RequesterSubject> = {
  id: 'R-ACC',
  title: { nl: 'Goede antwoorden', en: 'Good answers' },
  cases: requesterCases({
    [TAKES_GOOD]: takes(
      [
        'Een goede levering in pagina’s wordt aanvaard, met alle records',
        'A good delivery in pages is taken, with all records',
      ],
      paging('Total number of records to be delivered'),
      'pages',
    ),
    'R-ACC-02': takes(
      ['Een antwoord zonder `paginering` wordt aanvaard', 'An answer without `paginering` is taken'],
      answer('Present only if delivery is paged'),
      'whole',
    ),
    'R-ACC-03': takes(
      ['Een levering zonder records wordt aanvaard', 'A delivery without records is taken'],
      ddas('Limits', '`totalRecords` minimum 0'),
      'empty',
      'should',
    ),
    'R-ACC-04': takes(
      [
        'De hele keten in `x5c`, met het stamcertificaat, wordt aanvaard',
        'The full chain in `x5c`, with the root certificate, is taken',
      ],
      signing('`x5c` = full X.509 certificate chain of the national government PKI'),
      'with-root',
    ),
    'R-ACC-05': takes(
      [
        'Een `Digest` van 43 tekens, zonder opvulling, wordt aanvaard',
        'A `Digest` of 43 characters, without padding, is taken',
      ],
      signing('pattern `^SHA-256=[A-Za-z0-9+/=]{43,44}$`'),
      'unpadded',
      'should',
    ),
    'R-ACC-06': takes(
      ['`typ` in kleine letters wordt aanvaard', '`typ` in lower case is taken'],
      rfc(7515, '4.1.9', 'all media type values, subtype values, and parameter names are case insensitive'),
      'lower-typ',
      'should',
    ),
    'R-ACC-07': takes(
      [
        'Een onbekend veld in de header van de handtekening wordt genegeerd',
        'An unknown field in the header of the signature is ignored',
      ],
      rfc(7515, '4', 'all Header Parameters not defined by this specification MUST be ignored when not understood'),
      'more-members',
    ),
    'R-ACC-08': takes(
      ['De bytes tellen, niet hoe de JSON is geschreven', 'The bytes count, not how the JSON is spelled'],
      signing('SHA-256 digest of the payload per RFC 3230'),
      'spelled',
    ),
    'R-ACC-09': seen(
      [
        'Een antwoord dat over de body is ondertekend (tekst van juni 2026), niet over de digest (module Signing)',
        'An answer signed over the body (text of June 2026), not over the digest (module Signing)',
      ],
      signing('detached payload, only the digest is signed'),
      'body-form',
    ),
  }),
};

const validated = (quote: string): Clause => rfc(7515, '5.2', quote);

export const PLANTED_FAULTS: Chapter<RequesterSubject> = {
  id: 'R-REF',
  title: { nl: 'Antwoorden die niet deugen', en: 'Answers that are wrong' },
  cases: requesterCases({
    'R-REF-01': refuses(
      ['Een antwoord zonder handtekening wordt geweigerd', 'An answer without a signature is refused'],
      signing('required on the request and on the 200 response'),
      'no-signature',
    ),
    'R-REF-02': refuses(
      ['Een antwoord zonder `Digest` wordt geweigerd', 'An answer without `Digest` is refused'],
      signing('It is required on messages with a body'),
      'no-digest',
    ),
    'R-REF-03': refuses(
      ['Een `Digest` van andere bytes wordt geweigerd', 'A `Digest` of other bytes is refused'],
      signing('SHA-256 digest of the payload'),
      'other-digest',
    ),
    'R-REF-04': refuses(
      [
        'Een body die na het ondertekenen is veranderd, wordt geweigerd, ook met een nieuwe `Digest`',
        'A body that was changed after signing is refused, with a new `Digest` too',
      ],
      signing('the response with the private key of the supplier'),
      'changed-body',
    ),
    'R-REF-05': refuses(
      ['Een handtekening die is veranderd, wordt geweigerd', 'A signature that was changed is refused'],
      validated('If any of these steps fail, the signature or MAC cannot be validated'),
      'changed-signature',
    ),
    'R-REF-06': refuses(
      ['`alg: none` wordt geweigerd', '`alg: none` is refused'],
      rfc(8725, '3.1', 'MUST NOT use any other algorithms when performing cryptographic operations'),
      'alg-none',
    ),
    'R-REF-07': refuses(
      [
        'HS256 met de openbare sleutel als geheim wordt geweigerd',
        'HS256 with the public key as its secret is refused',
      ],
      rfc(8725, '3.1', 'MUST NOT use any other algorithms when performing cryptographic operations'),
      'alg-hs256',
    ),
    'R-REF-08': refuses(['RS256 wordt geweigerd', 'RS256 is refused'], signing('`alg` = `PS256`'), 'alg-rs256'),
    'R-REF-09': refuses(
      ['Een onbekende naam in `crit` wordt geweigerd', 'An unknown name in `crit` is refused'],
      rfc(7515, '4.1.11', 'not understood and supported by the recipient, then the JWS is invalid'),
      'unknown-critical',
    ),
    'R-REF-10': refuses(
      [
        'Een keten naar een ander stamcertificaat met dezelfde namen wordt geweigerd',
        'A chain to another root with the same names is refused',
      ],
      signing('Chain validated up to the government PKI root'),
      'own-root',
    ),
    'R-REF-11': refuses(
      [
        'Een certificaat dat de uitgever niet heeft ondertekend, wordt geweigerd',
        'A certificate that its issuer did not sign is refused',
      ],
      rfc(5280, '6.1.3', 'The signature on the certificate can be verified'),
      'forged',
    ),
    'R-REF-12': refuses(
      [
        'Een certificaat dat een leverancier zelf uitgaf, wordt geweigerd',
        'A certificate that a supplier issued itself is refused',
      ],
      rfc(5280, '6.1.4', 'verify that the basicConstraints extension is present and that cA is set to TRUE'),
      'below-leaf',
    ),
    'R-REF-13': refuses(
      ['Een verlopen certificaat wordt geweigerd', 'An expired certificate is refused'],
      signing('validity period checked'),
      'expired',
    ),
    'R-REF-14': refuses(
      ['Een ingetrokken certificaat wordt geweigerd', 'A revoked certificate is refused'],
      signing('revocation check by OCSP or CRL'),
      'revoked',
    ),
    'R-REF-15': refuses(
      ['Ook de tweede pagina moet ondertekend zijn', 'The second page must be signed too'],
      signing('required on the request and on the 200 response'),
      'second-unsigned',
    ),
    'R-REF-16': refuses(
      ['Wat niet in het uitwisselmodel past, wordt geweigerd', 'What does not fit the exchange model is refused'],
      ddas('`gegevens` content', 'it follows an external exchange model'),
      'other-model',
      'should',
    ),
    'R-REF-17': refuses(
      ['Een fout met gegevens erin is geen levering', 'An error with data in it is no delivery'],
      answer('The requested records'),
      'error-with-data',
      'should',
    ),
    'R-REF-18': seen(
      [
        'Wanneer niet is na te gaan of een certificaat is ingetrokken',
        'When it cannot be found out whether a certificate was revoked',
      ],
      signing('revocation check by OCSP or CRL'),
      'unknown-status',
    ),
    'R-REF-19': seen(
      ['Een handtekening van over drie dagen', 'A signature of three days from now'],
      signingPage('zonder trusted timestamp of ingebedde validatie-informatie'),
      'future-time',
    ),
  }),
};
