/** Paging and the limits of the contract: each member and parameter is tried with values that its schema refuses. */
import { isRecord, type JsonObject, valueAt } from '../../src/lib/json/json-value.ts';
import { type WrongValue, wrongValues } from '../contract.ts';
import { textAt } from '../json-members.ts';
import { actiePath, differing, idsIn, type Log, logChapter, NORMAL } from './log-case.ts';
import { contract, vng } from './sources.ts';
import { daysAgo, objectOf } from './subject.ts';

const PAGED = 5;

/** An address of the same log, whatever host name it uses for itself. */
async function pageAt(log: Log, address: string): Promise<unknown> {
  const [, query = ''] = address.split('?');
  return (await log.get(`/verwerkingsacties?${query}`)).json;
}

/** The first page of two of the actions created for this. */
async function firstPage(log: Log): Promise<unknown> {
  const person = log.person('pagina');
  for (let i = 0; i < PAGED; i += 1)
    await log.kept(`pagina ${i}`, { tijdstip: daysAgo(30 + i), verwerkteObjecten: [objectOf(person)] });
  const own = { verwerkingsactiviteitId: log.subject.activity };
  return (await log.get(log.listPath('pagina', { ...NORMAL, ...own, limit: '2' }))).json;
}

/** Each wrong value alone, in an otherwise valid action. */
async function refusesEach(log: Log, wrong: readonly WrongValue[], inObject = false) {
  const person = log.person('waarden');
  for (const { name, value, because } of wrong) {
    const wishes = inObject ? { verwerkteObjecten: [objectOf(person, { [name]: value })] } : { [name]: value };
    const { status } = await log.call(...log.storing('waarden', wishes));
    if (status !== 400) return `${name} (${because}) gets status ${status} instead of 400`;
  }
  return undefined;
}

const FIELDS = 'VerwerkingsactieInvoer';
const OBJECT = 'VerwerktObjectInvoer';
const wrongIn = (log: Log, schema: string, because: WrongValue['because']): readonly WrongValue[] =>
  Object.entries(log.subject.contract.members(schema))
    // `opgeheven` and the like are refused for another reason.
    .flatMap(([name, member]) => wrongValues(name, member))
    .filter((wrong) => wrong.because === because);
/** The values that the schemas refuse for this reason, in an action and in its objects. */
const refusesAll = async (log: Log, because: WrongValue['because']) =>
  (await refusesEach(log, wrongIn(log, FIELDS, because))) ??
  (await refusesEach(log, wrongIn(log, OBJECT, because), true));
const without = (...names: readonly string[]): readonly WrongValue[] =>
  names.map((name) => ({ name, value: undefined, because: 'absence' }));

export const VALUES = logChapter('B-VAL', ['Waarden en grenzen', 'Values and bounds'], {
  'B-VAL-01': {
    must: vng('OpenAPI', 'required: vertrouwelijkheid, tijdstip, verwerkteObjecten'),
    nl: 'Een actie zonder verplicht veld geeft 400',
    en: 'An action without a required field gets 400',
    test: (log) => refusesEach(log, without('tijdstip', 'vertrouwelijkheid', 'verwerkteObjecten')),
  },
  'B-VAL-02': {
    must: vng('OpenAPI', 'VerwerktObjectBasis: required: objecttype, soortObjectId, objectId'),
    nl: 'Een verwerkt object zonder verplicht veld geeft 400',
    en: 'A processed object without a required field gets 400',
    test: (log) => refusesEach(log, without('objecttype', 'soortObjectId', 'objectId'), true),
  },
  'B-VAL-03': {
    should: vng('OpenAPI', 'maxLength: 242, 40, 2042'),
    nl: 'Een tekst die te lang is, geeft 400',
    en: 'A text that is too long gets 400',
    test: (log) => refusesAll(log, 'length'),
  },
  'B-VAL-04': {
    should: vng('OpenAPI', "format: uuid, uri, duration, date-time; pattern: '[0-9]{20}'"),
    nl: 'Een waarde met een ongeldige vorm geeft 400',
    en: 'A value in an invalid format gets 400',
    test: (log) => refusesAll(log, 'form'),
  },
  'B-VAL-05': {
    should: vng('OpenAPI', 'type: string'),
    nl: 'Een getal in plaats van een tekst geeft 400',
    en: 'A number instead of a string gets 400',
    test: (log) => refusesEach(log, wrongIn(log, FIELDS, 'type')),
  },
  'B-VAL-06': {
    may: contract('VerwerkingsactieInvoer', 'additionalProperties: false; onbekende leden worden geweigerd'),
    nl: 'Een onbekend veld geeft 400',
    en: 'An unknown field gets 400',
    test: (log) => refusesEach(log, [{ name: 'onbekendVeld', value: 'x', because: 'form' }]),
  },
  'B-VAL-07': {
    should: vng('OpenAPI', 'maxLength: 242, 40, 2042'),
    nl: 'Een tekst van de maximale lengte wordt ongewijzigd vastgelegd',
    en: 'A text of the maximum length is stored unchanged',
    test: async (log) => {
      const texts = Object.entries(log.subject.contract.members(FIELDS)).flatMap(([name, { maxLength, format }]) =>
        typeof maxLength === 'number' && format === undefined ? [[name, 'é'.repeat(maxLength)] as const] : [],
      );
      const sent = {
        ...Object.fromEntries(texts),
        verwerkingsactiviteitUrl: `https://conformance.example/${'x'.repeat(2014)}`,
      };
      const stored = await log.store('lang', sent);
      const { json } = await log.get(actiePath(stored));
      const other = differing(sent, json);
      return other.length === 0 ? undefined : `not as given: ${other.join(', ')}`;
    },
    needs: ['B-QRY-13'],
  },
  'B-VAL-08': {
    may: contract('Bewaartermijn, tijdstip', 'langer dan niets en hoogstens P1000Y; hoogstens 24 uur in de toekomst'),
    nl: 'Een lege bewaartermijn, een van meer dan duizend jaar en een tijdstip van overmorgen geven 400',
    en: 'An empty retention period, one of over a thousand years, and a time two days ahead get 400',
    test: (log) =>
      refusesEach(log, [
        { name: 'bewaartermijn', value: 'P0D', because: 'bound' },
        { name: 'bewaartermijn', value: 'P1001Y', because: 'bound' },
        { name: 'tijdstip', value: daysAgo(-2), because: 'bound' },
      ]),
  },
  'B-VAL-09': {
    may: contract('getVerwerkingsacties', 'parameters: format, minimum, maximum, pattern'),
    nl: 'Een parameter met een waarde buiten het contract geeft 400',
    en: 'A parameter with a value outside the contract gets 400',
    test: async (log) => {
      const queried = log.subject.contract
        .parameters('GET', '/verwerkingsacties')
        .filter((one) => one.in === 'query' && !['limit', 'cursor'].includes(one.name));
      // Of several alternatives, the first is tried.
      const wrong = queried.flatMap(({ name, schema }) => wrongValues(name, firstOf(schema), true));
      for (const { name, value, because } of wrong) {
        const path = log.listPath('gewoon', { ...NORMAL, [name]: String(value) });
        const { status } = await log.call('GET', path, { as: 'read:normal' });
        if (status !== 400) return `${name} (${because}) gets status ${status} instead of 400`;
      }
      return undefined;
    },
  },
  'B-VAL-10': {
    open: vng('GET /verwerkingsacties', 'groter of gelijk aan `beginDatum`, kleiner dan de `eindDatum`'),
    nl: 'Wat er gebeurt met een periode die eindigt voordat zij begint',
    en: 'What happens to a period that ends before it begins',
    test: async (log) => {
      const query = { ...NORMAL, beginDatum: '2026-02-01', eindDatum: '2026-01-01' };
      const { status } = await log.call('GET', log.listPath('gewoon', query), { as: 'read:normal' });
      return { seen: `status ${status}` };
    },
  },
  'B-VAL-11': {
    may: contract('getVerwerkingsacties', 'OIN, VerwerkingId, Vertrouwelijkheid, Bewaartermijn: pattern, format'),
    nl: 'Een ongeldige verwerkingsheader geeft 400',
    en: 'A malformed processing header gets 400',
    test: async (log) => {
      const path = log.listPath('gewoon', NORMAL);
      const wrong = {
        OIN: '123',
        VerwerkingId: 'geen-uuid',
        Vertrouwelijkheid: 'opgeheven',
        Bewaartermijn: 'tien jaar',
      };
      for (const [name, value] of Object.entries(wrong)) {
        const { status } = await log.call('GET', path, { as: 'read:normal', headers: { [name]: value } });
        if (status !== 400) return `${name} gets status ${status} instead of 400`;
      }
      return undefined;
    },
  },
});

function firstOf(schema: JsonObject): JsonObject {
  const choice = Array.isArray(schema.anyOf) ? schema.anyOf[0] : schema.type === 'array' ? schema.items : schema;
  return isRecord(choice) ? { type: 'string', ...choice } : schema;
}

export const PAGES = logChapter('B-PAG', ['Pagina’s', 'Pages'], {
  'B-PAG-01': {
    may: contract('Limit', 'Hoogste aantal in het antwoord.'),
    nl: 'Een pagina heeft hoogstens `limit` acties, en `count` telt ze allemaal',
    en: 'A page has at most `limit` actions, and `count` counts them all',
    needs: ['B-QRY-05'],
    test: async (log) => {
      const page = await firstPage(log);
      const { length } = idsIn(page);
      if (length === PAGED && valueAt(page, ['next']) === null) return { skipped: '`limit` is not offered' };
      if (length !== 2) return `${length} actions instead of 2`;
      const count = valueAt(page, ['count']);
      return count === PAGED ? undefined : `count is ${String(count)} instead of ${PAGED}`;
    },
  },
  'B-PAG-02': {
    should: vng('OpenAPI', 'next: format: uri, nullable'),
    nl: '`next` volgen geeft elke actie precies één keer',
    en: 'Following `next` returns each action exactly once',
    needs: ['B-PAG-01'],
    test: async (log) => {
      const first = await firstPage(log);
      const ids = [...idsIn(first)];
      let next = textAt(first, 'next');
      if (next === undefined || !URL.canParse(next)) return 'there is no address of a next page';
      for (let pages = 0; next !== undefined && pages <= PAGED; pages += 1) {
        const page = await pageAt(log, next);
        ids.push(...idsIn(page));
        next = textAt(page, 'next');
      }
      if (ids.length === PAGED && new Set(ids).size === PAGED) return undefined;
      return `${ids.length} actions, ${new Set(ids).size} of them different, instead of ${PAGED}`;
    },
  },
  'B-PAG-03': {
    should: vng('OpenAPI', 'previous: format: uri, nullable'),
    nl: 'Daarna leidt `previous` terug naar de eerste pagina',
    en: 'After that, `previous` leads back to the first page',
    needs: ['B-PAG-02'],
    test: async (log) => {
      const first = await firstPage(log);
      const previous = textAt(await pageAt(log, textAt(first, 'next') ?? ''), 'previous');
      const back = previous && (await pageAt(log, previous));
      return idsIn(back).join() === idsIn(first).join() ? undefined : 'it has different actions from the first page';
    },
  },
  'B-PAG-04': {
    may: contract('Limit, Cursor', 'minimum: 1, maximum: 1000; uit `next` of `previous` van een eerder antwoord'),
    nl: 'Een `limit` buiten de grenzen of een cursor van elders geeft 400',
    en: 'An out-of-range `limit` or a foreign cursor gets 400',
    needs: ['B-PAG-02'],
    test: async (log) => {
      for (const wrong of [{ limit: '0' }, { limit: '1001' }, { limit: 'veel' }, { cursor: 'geen-cursor' }])
        await log.get(log.listPath('pagina', { ...NORMAL, ...wrong }), 'read:normal', 400);
    },
  },
});
