import { isRecord } from '../../src/lib/json/json-value.ts';
import { type CaseRun, firstFault, Skipped } from '../case.ts';
import { objectsIn, textAt } from '../json-members.ts';
import { contract, draft } from './sources.ts';
import { codesIn, feedChapters, organisationsOf, textsIn } from './subject.ts';

/** Resource types that the draft names; the contract determines their spelling. */
const KIND = /^(vergadering|agendapunt|informatieobject)$/i;
/** Clock differences up to this are accepted. */
export const CLOCK_SKEW_MS = 300_000;

export const PUBLISHED = { ask: [{ to: '{base}/openapi.json' }], expect: { status: [200, 404] } };

/**
 * Its security requirement and its operations.
 * @throws {Skipped} when none is published
 */
export function publishedContract({ answers: [answer] }: CaseRun) {
  if (answer?.status === 404 || !isRecord(answer?.json)) throw new Skipped('no contract is published at openapi.json');
  const { paths, security } = answer.json;
  const operations = Object.entries(isRecord(paths) ? paths : {}).flatMap(([path, item]) =>
    Object.entries(isRecord(item) ? item : {}).map(([method, operation]) => ({ path, method, operation })),
  );
  return { security, operations };
}

const serviceDocument = (quote: string) => draft('Service document', quote);

export const SERVICE_DOCUMENT = feedChapters('C-SVC-01')('C-SVC', ['Servicedocument', 'Service document'], {
  'C-SVC-01': {
    must: draft('Endpoints', 'GET / Service document.'),
    nl: 'Het adres van de feed geeft een servicedocument',
    en: "The feed's address returns a service document",
    ask: [{ to: '{base}/' }],
    check: (_, { answers }) => (isRecord(answers[0]?.json) ? undefined : 'the body is not a JSON object'),
  },
  'C-SVC-02': {
    must: serviceDocument('names the organisations in the feed'),
    nl: 'Het servicedocument noemt de organisaties in de feed',
    en: 'The service document lists the organisations in the feed',
    check: ({ service, history, serviceDocument: at }) => {
      if (codesIn(service).length > 0) return undefined;
      return history.records.length === 0
        ? { skipped: 'the feed has no records, so it need not name an organisation' }
        : { failed: 'it has no code of an organisation', at };
    },
  },
  'C-SVC-03': {
    must: draft('Resource identity rules 1', 'in lower case (normative)'),
    nl: 'Een organisatiecode is in kleine letters',
    en: 'An organisation code is in lower case',
    needs: ['C-SVC-02'],
    check: ({ service, serviceDocument: at }) =>
      firstFault(codesIn(service), at, (code) =>
        code === code.toLowerCase() ? undefined : `\`${code}\` is not in lower case`,
      ),
  },
  'C-SVC-04': {
    open: contract('Servicedocument', 'De organisaties in deze feed.'),
    nl: 'Of het servicedocument een organisatie twee keer noemt',
    en: 'Whether the service document lists an organisation twice',
    needs: ['C-SVC-02'],
    check: ({ service }) => {
      const codes = organisationsOf(service);
      const twice = codes.find((code, place) => codes.indexOf(code) < place);
      return { seen: twice === undefined ? `${codes.length} organisations, each once` : `${twice} occurs twice` };
    },
  },
  'C-SVC-05': {
    must: serviceDocument('and the resource types supported'),
    nl: 'Het servicedocument noemt de soorten resources',
    en: 'The service document lists the resource types',
    check: ({ service, serviceDocument: at }) =>
      textsIn(service).some(([, text]) => KIND.test(text))
        ? undefined
        : { failed: 'no text in it is a resource type, such as `Vergadering`', at },
  },
  'C-SVC-06': {
    must: serviceDocument('states how far the history reaches (retention)'),
    nl: 'Het servicedocument zegt hoe ver de geschiedenis teruggaat',
    en: 'The service document says how far back the history goes',
    check: ({ service, serviceDocument: at }) =>
      Object.entries(service).some(([name, value]) => /retent|histor|bewaar/i.test(name) && value !== null)
        ? undefined
        : { failed: 'no member of it is about retention or history', at },
  },
  'C-SVC-07': {
    must: serviceDocument("the feed's role with `rol`"),
    nl: 'Het servicedocument noemt de rol van de feed',
    en: "The service document states the feed's role",
    check: ({ service, serviceDocument: at }) =>
      typeof service.rol === 'string' && service.rol !== '' ? undefined : { failed: 'there is no `rol`', at },
  },
  'C-SVC-08': {
    may: contract('Servicedocument', 'Beschrijving van de feed.'),
    nl: 'Het servicedocument voldoet aan het contract',
    en: 'The service document matches the contract',
    needs: ['C-SVC-01', 'C-SVC-03', 'C-SVC-05', 'C-SVC-06', 'C-SVC-07'],
    ask: [{ to: '{base}/' }],
    check: ({ fault, values }, { answers: [answer] }) => {
      // A feed without a stream has no address for it.
      const document = isRecord(answer?.json) ? { streamUrl: values.stream, ...answer.json } : answer?.json;
      const failed = fault('Servicedocument', document);
      return failed === undefined ? undefined : `it does not match Servicedocument: ${failed}`;
    },
  },
  'C-SVC-09': {
    should: serviceDocument('`laatstBijgewerkt` (how current)'),
    nl: '`laatstBijgewerkt` ligt niet in de toekomst',
    en: '`laatstBijgewerkt` is not in the future',
    needs: ['C-SVC-02'],
    check: ({ service, serviceDocument: at }) => {
      const moments = objectsIn(service, 'organisaties').flatMap((one) => textAt(one, 'laatstBijgewerkt') ?? []);
      if (moments.length === 0) return { skipped: 'no organisation has `laatstBijgewerkt`' };
      const latest = Date.now() + CLOCK_SKEW_MS;
      return firstFault(moments, at, (moment) =>
        Date.parse(moment) > latest ? `\`laatstBijgewerkt\` is ${moment}` : undefined,
      );
    },
  },
  'C-SVC-10': {
    must: draft('Rules for aggregators 5', 'The service document shows which.'),
    nl: 'Een aggregator noemt van elke organisatie de herkomst',
    en: 'An aggregator states the origin of every organisation',
    needs: ['C-SVC-02', 'C-SVC-07'],
    check: ({ service, serviceDocument: at }) => {
      if (service.rol !== 'aggregator') return { skipped: 'the feed is not that of an aggregator' };
      return firstFault(objectsIn(service, 'organisaties'), at, ({ organisatiecode, herkomst, herkomstSoort }) =>
        herkomst === undefined && herkomstSoort === undefined
          ? `${String(organisatiecode)} has no \`herkomst\` and no \`herkomstSoort\``
          : undefined,
      );
    },
  },
  'C-SVC-11': {
    may: draft('Endpoints', "well-known location on the publisher's own domain that points to the feed"),
    nl: 'Het aanbevolen adres op het domein verwijst naar de feed',
    en: 'The well-known address on the domain points to the feed',
    check: async ({ values: { base, feed } }, { ask }) => {
      const pointer = await ask({ to: '{origin}/.well-known/council-feed' });
      if (pointer.status === 404) return { skipped: 'it is not offered' };
      const { location } = pointer.headers;
      const address = location === undefined ? null : URL.parse(location, pointer.url);
      const target = address === null ? pointer : await ask({ to: address.href });
      const found = target.status === 200 && isRecord(target.json) ? target.json : {};
      const isFeed = 'rol' in found || 'head' in found;
      return isFeed || Object.values(found).some((value) => value === feed || value === base || value === `${base}/`)
        ? undefined
        : `its target answers with status ${target.status}, and is not the feed or a page that names it`;
    },
  },
  'C-SVC-12': {
    may: contract('API-Version', 'De volledige versie van deze API.'),
    nl: 'De versie van de API staat in de header `API-Version`',
    en: 'The API version is in the header `API-Version`',
    ask: [{ to: '{base}/' }],
    expect: { headers: { 'api-version': /^\d+\.\d+\.\d+$/ } },
  },
  'C-SVC-13': {
    must: draft('What the service does, area C 3', 'no `POST` delivery operation'),
    nl: 'Het contract van de dienst zelf heeft geen aanlevering',
    en: "The service's own contract has no delivery operation",
    ...PUBLISHED,
    check: (_, run) => {
      const { operations } = publishedContract(run);
      const writing = operations.find(({ method }) => ['post', 'put', 'patch', 'delete'].includes(method));
      return writing && `it has ${writing.method.toUpperCase()} ${writing.path}`;
    },
  },
  'C-SVC-14': {
    may: contract('getServicedocument', 'Met `Accept: text/html` komt hetzelfde als leesbare pagina.'),
    nl: 'Een browser krijgt het servicedocument als leesbare pagina',
    en: 'A browser gets the service document as an HTML page',
    ask: [{ to: '{base}/', headers: { accept: 'text/html' } }],
    expect: { status: [200, 406] },
    check: ({ service }, { answers: [answer] }) => {
      if (answer === undefined || !answer.headers['content-type']?.startsWith('text/html'))
        return { skipped: 'it is not offered' };
      const [first] = objectsIn(service, 'organisaties');
      const names = ['organisatiecode', 'naam'].flatMap((name) => textAt(first, name) ?? []);
      if (names.length === 0 || names.some((name) => answer.body.includes(name))) return undefined;
      return `the page does not name the organisation ${names[0]}`;
    },
  },
  'C-SVC-15': {
    must: serviceDocument('Per organisation it carries `laatstBijgewerkt` (how current)'),
    nl: 'Het servicedocument zegt van elke organisatie hoe actueel haar gegevens zijn',
    en: "The service document says how current each organisation's data are",
    needs: ['C-SVC-02'],
    check: ({ service, history, serviceDocument: at }) => {
      // The contract allows omitting it while nothing is known.
      const known = new Set(history.records.map(({ record }) => textAt(record.resource, 'organisatiecode')));
      const meant = objectsIn(service, 'organisaties').filter((one) => known.has(textAt(one, 'organisatiecode')));
      if (meant.length === 0) return { skipped: 'no organisation with records was found in it' };
      return firstFault(meant, at, (one) =>
        one.laatstBijgewerkt ? undefined : `${String(one.organisatiecode)} has no \`laatstBijgewerkt\``,
      );
    },
  },
  'C-SVC-16': {
    may: draft('What the service does, area C 2', 'records only where feeds are located and copies no content'),
    nl: 'Een register noemt de adressen van feeds en neemt geen inhoud over',
    en: 'A register lists the addresses of feeds and copies no content',
    ask: [{ to: '{base}/register' }],
    expect: { status: [200, 404] },
    check: ({ fault }, { answers: [answer] }) => {
      if (answer?.status === 404) return { skipped: 'it is not a register' };
      const wrong = fault('RegisterPage', answer?.json);
      return wrong === undefined ? undefined : `the body does not match RegisterPage: ${wrong}`;
    },
  },
});
