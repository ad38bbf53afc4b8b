import { isRecord } from '../../src/lib/json/json-value.ts';
import { rfc } from '../clause.ts';
import { contract, ddas, errors, request } from './sources.ts';
import { gegevensChapter, isMuch, signed } from './subject.ts';

/**
 * A well-signed body that must be refused. The source mostly leaves open which faults are syntactic (400) and which
 * semantic (422).
 */
const refusesBody = (body: unknown, status: readonly number[] = [400, 422]) => ({
  ask: [signed({ body })],
  expect: { status },
});

export const REQUEST_MESSAGE = gegevensChapter('A-REQ', ['Het verzoek', 'The request'], {
  'A-REQ-01': {
    must: ddas('Endpoints', 'POST {base_url}/gegevens'),
    nl: 'Een goed verzoek wordt beantwoord',
    en: 'A good request is answered',
    ask: [signed()],
  },
  'A-REQ-02': {
    must: request('all properties optional'),
    nl: 'Een leeg object is een geldig verzoek',
    en: 'An empty object is a valid request',
    check: async (subject, { ask }) => {
      if (isMuch(subject.small)) return { skipped: 'requesting everything at once would be a burden' };
      const { status } = await ask(subject.signed({ body: {} }));
      return status === 200 ? undefined : `the answer has status ${status} instead of 200`;
    },
  },
  'A-REQ-03': {
    must: errors('a `page` value below 1'),
    nl: 'Een `page` onder 1 wordt geweigerd',
    en: 'A `page` below 1 is refused',
    ...refusesBody({ page: 0, pageSize: 1 }, [400]),
  },
  'A-REQ-04': {
    must: request('`pageSize` integer minimum 1'),
    nl: 'Een `pageSize` onder 1 wordt geweigerd',
    en: 'A `pageSize` below 1 is refused',
    ...refusesBody({ page: 1, pageSize: 0 }),
  },
  'A-REQ-05': {
    must: request('`page` integer'),
    nl: 'Een `page` als tekst wordt geweigerd',
    en: 'A `page` as text is refused',
    ...refusesBody({ page: '1', pageSize: 1 }),
  },
  'A-REQ-06': {
    must: request('no other properties allowed'),
    nl: 'Een onbekend veld wordt geweigerd',
    en: 'An unknown field is refused',
    ...refusesBody({ page: 1, pageSize: 1, conformanceOnbekend: true }),
  },
  'A-REQ-07': {
    must: request('`aanleverperiodeStartdatum` string, format date'),
    nl: 'Een datum die niet bestaat, wordt geweigerd',
    en: 'A date that does not exist is refused',
    ...refusesBody({ aanleverperiodeStartdatum: '2026-02-30', page: 1, pageSize: 1 }),
  },
  'A-REQ-08': {
    must: errors('Invalid request (for example invalid filters or syntax)'),
    nl: 'Een body die geen JSON is, wordt geweigerd',
    en: 'A body that is not JSON is refused',
    ...refusesBody('{"page": 1,', [400]),
  },
  'A-REQ-09': {
    should: ddas('What the service does, area A 5', 'Message encoding is UTF-8'),
    nl: 'Een body die geen UTF-8 is, wordt geweigerd',
    en: 'A body that is not UTF-8 is refused',
    ...refusesBody(Buffer.from('{"aanleverende_organisatie":"caf\xe9"}', 'latin1')),
  },
  'A-REQ-10': {
    must: ddas('Endpoints', 'body `GegevensRequest` (required body)'),
    nl: 'Een verzoek zonder body wordt geweigerd',
    en: 'A request without a body is refused',
    ...refusesBody('', [400, 411, 415, 422]),
  },
  'A-REQ-11': {
    may: contract('422', 'de startdatum ligt na de einddatum'),
    nl: 'Een begindatum na de einddatum wordt geweigerd',
    en: 'A start date after the end date is refused',
    ...refusesBody(
      { aanleverperiodeStartdatum: '2026-03-31', aanleverperiodeEinddatum: '2026-01-01', page: 1, pageSize: 1 },
      [422],
    ),
  },
  'A-REQ-12': {
    open: request('The organisation (municipality or debt-assistance provider) whose data is delivered'),
    nl: 'Wat er gebeurt bij een organisatie waarvoor niet wordt geleverd',
    en: 'What happens for an organisation without deliveries',
    check: async ({ signed: make, model }, { ask }) => {
      const [lid] = model.mapping.organisatieLeden;
      const { status } = await ask(make({ body: { [lid]: 'Bestaat Niet Conformance', page: 1, pageSize: 1 } }));
      return { seen: `the answer has status ${status}` };
    },
  },
  'A-REQ-13': {
    open: rfc(8259, '4', 'The names within an object SHOULD be unique'),
    nl: 'Wat er gebeurt bij een veld dat tweemaal voorkomt',
    en: 'What happens for a field that occurs twice',
    check: async ({ signed: make }, { ask }) => {
      const { status, json } = await ask(make({ body: '{"page":1,"pageSize":1,"page":1}' }));
      return { seen: status === 200 && isRecord(json) ? 'it is answered' : `it is refused with status ${status}` };
    },
  },
  'A-REQ-14': {
    may: contract('VerwerkingId', 'De verwerking van de afnemer waarvoor gevraagd wordt.'),
    nl: 'Een verzoek met verwerkingsheaders wordt beantwoord',
    en: 'A request with processing headers is answered',
    ask: [
      signed({
        headers: {
          VerwerkingId: '6b1d7d6e-2f0b-4b5e-8f35-1c6f0f0a7c11',
          VerwerkingsactiviteitId: '0f5d1a40-6c0e-4f1c-9a52-6a4f7f1f2a10',
          VerwerkingsactiviteitUrl: 'https://register.example/verwerkingsactiviteiten/1',
          Vertrouwelijkheid: 'normaal',
          Bewaartermijn: 'P1Y',
        },
      }),
    ],
  },
});
