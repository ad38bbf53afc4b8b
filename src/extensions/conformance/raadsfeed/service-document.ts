import { isRecord } from '../../../lib/json/json-value.ts';
import { type Chapter, firstFault } from '../case.ts';
import { contract, draft, rfc } from './sources.ts';
import { type FeedSubject, objectsIn, organisationsOf, textAt } from './subject.ts';

export const ORGANISATION = /^(gm[0-9]{4}|pv[0-9]{2}|ws[0-9]{4})$/;
/** Clocks that differ this much are still right. */
export const CLOCK_SKEW_MS = 300_000;

const serviceDocument = (quote: string) => draft('Servicedocument', quote);

export const SERVICE_DOCUMENT: Chapter<FeedSubject> = {
  id: 'C-SVC',
  title: { nl: 'Servicedocument', en: 'Service document' },
  cases: [
    {
      id: 'C-SVC-01',
      title: {
        nl: 'Het adres van de feed geeft een servicedocument',
        en: 'The address of the feed gives a service document',
      },
      level: 'must',
      source: draft('Endpoints', 'GET / Service document.'),
      ask: [{ to: '{base}/' }],
      expect: { mediaType: 'application/json' },
      check: (_, { answers }) => (isRecord(answers[0]?.json) ? undefined : { failed: 'the body is not a JSON object' }),
    },
    {
      id: 'C-SVC-02',
      title: { nl: 'Het noemt de organisaties in de feed', en: 'It names the organisations in the feed' },
      level: 'must',
      source: serviceDocument('names the organisations in the feed'),
      dependsOn: ['C-SVC-01'],
      check: ({ service, serviceDocument: at }) =>
        Array.isArray(service.organisaties) && organisationsOf(service).length === service.organisaties.length
          ? undefined
          : { failed: '`organisaties` is not a list of objects with an `organisatiecode`', at },
    },
    {
      id: 'C-SVC-03',
      title: { nl: 'Een organisatiecode is in kleine letters', en: 'An organisation code is in lower case' },
      level: 'must',
      source: draft('Resource identity rules 1', 'in lower case (normative)'),
      dependsOn: ['C-SVC-02'],
      check: ({ service, serviceDocument: at }) =>
        firstFault(
          organisationsOf(service),
          (code) =>
            ORGANISATION.test(code) ? undefined : `\`${code}\` is not gm, pv or ws with its digits, in lower case`,
          () => at,
        ),
    },
    {
      id: 'C-SVC-04',
      title: { nl: 'Het noemt elke organisatie een keer', en: 'It names each organisation once' },
      level: 'should',
      source: contract('FeedOrganisatie', 'De organisaties in deze feed.'),
      dependsOn: ['C-SVC-02'],
      check: ({ service, serviceDocument: at }) => {
        const codes = organisationsOf(service);
        return new Set(codes).size === codes.length ? undefined : { failed: 'an `organisatiecode` occurs twice', at };
      },
    },
    {
      id: 'C-SVC-05',
      title: { nl: 'Het noemt de soorten resources', en: 'It names the kinds of resources' },
      level: 'must',
      source: serviceDocument('and the resource types supported'),
      dependsOn: ['C-SVC-01'],
      check: ({ service: { resourceTypes }, serviceDocument: at }) =>
        Array.isArray(resourceTypes) &&
        resourceTypes.length > 0 &&
        resourceTypes.every((type) => typeof type === 'string')
          ? undefined
          : { failed: '`resourceTypes` is not a list of texts', at },
    },
    {
      id: 'C-SVC-06',
      title: { nl: 'Het zegt hoe ver de geschiedenis teruggaat', en: 'It says how far the history reaches' },
      level: 'must',
      source: serviceDocument('states how far the history reaches (retention)'),
      dependsOn: ['C-SVC-01'],
      check: ({ service, serviceDocument: at }) =>
        typeof service.retentie === 'string' || typeof service.historieVanaf === 'string'
          ? undefined
          : { failed: 'there is no `retentie` and no `historieVanaf`', at },
    },
    {
      id: 'C-SVC-07',
      title: { nl: 'Het noemt de rol van de feed', en: 'It names the role of the feed' },
      level: 'must',
      source: serviceDocument("the feed's role with `rol`"),
      dependsOn: ['C-SVC-01'],
      check: ({ service, serviceDocument: at }) =>
        typeof service.rol === 'string' && service.rol !== '' ? undefined : { failed: 'there is no `rol`', at },
    },
    {
      id: 'C-SVC-08',
      title: { nl: 'Het past bij het contract', en: 'It fits the contract' },
      level: 'should',
      source: contract('Servicedocument', 'Beschrijving van de feed.'),
      dependsOn: ['C-SVC-01', 'C-SVC-02', 'C-SVC-03', 'C-SVC-05', 'C-SVC-06', 'C-SVC-07'],
      ask: [{ to: '{base}/' }],
      check: ({ fault, values }, { answers: [answer] }) => {
        // A feed without a stream has no address of one.
        const document = isRecord(answer?.json) ? { streamUrl: values.stream, ...answer.json } : answer?.json;
        const failed = fault('Servicedocument', document);
        return failed === undefined ? undefined : { failed: `it does not fit Servicedocument: ${failed}` };
      },
    },
    {
      id: 'C-SVC-09',
      title: {
        nl: '`laatstBijgewerkt` ligt niet in de toekomst',
        en: '`laatstBijgewerkt` is not in the future',
      },
      level: 'should',
      source: serviceDocument('`laatstBijgewerkt` (how current)'),
      dependsOn: ['C-SVC-02'],
      check: ({ service, serviceDocument: at }) => {
        const moments = objectsIn(service, 'organisaties').flatMap((one) => textAt(one, 'laatstBijgewerkt') ?? []);
        if (moments.length === 0) return { skipped: 'no organisation has `laatstBijgewerkt`' };
        const latest = Date.now() + CLOCK_SKEW_MS;
        return firstFault(
          moments,
          (moment) => (Date.parse(moment) <= latest ? undefined : `\`laatstBijgewerkt\` is ${moment}`),
          () => at,
        );
      },
    },
    {
      id: 'C-SVC-10',
      title: {
        nl: 'Een aggregator zegt van elke organisatie waar zij vandaan komt',
        en: 'An aggregator says of each organisation where it comes from',
      },
      level: 'must',
      source: draft('Rules for aggregators 5', 'The service document shows which.'),
      dependsOn: ['C-SVC-02', 'C-SVC-07'],
      check: ({ service, serviceDocument: at }) => {
        if (service.rol !== 'aggregator') return { skipped: 'the feed is not that of an aggregator' };
        return firstFault(
          objectsIn(service, 'organisaties'),
          ({ organisatiecode, herkomst, herkomstSoort }) =>
            herkomst === undefined && herkomstSoort === undefined
              ? `${String(organisatiecode)} has no \`herkomst\` and no \`herkomstSoort\``
              : undefined,
          () => at,
        );
      },
    },
    {
      id: 'C-SVC-11',
      title: {
        nl: 'Het aanbevolen adres op de host leidt naar het servicedocument',
        en: 'The recommended address on the host leads to the service document',
      },
      level: 'may',
      source: draft('Endpoints', 'GET /.well-known/council-feed Recommended well-known location'),
      dependsOn: ['C-SVC-01'],
      check: async (_, { ask }) => {
        const pointer = await ask({ to: '{origin}/.well-known/council-feed' });
        if (pointer.status === 404) return { skipped: 'it is not offered' };
        const { location } = pointer.headers;
        const target =
          location === undefined || !URL.canParse(location, pointer.url)
            ? pointer
            : await ask({ to: new URL(location, pointer.url).href });
        return target.status === 200 && isRecord(target.json) && 'organisaties' in target.json
          ? undefined
          : { failed: `it leads to an answer with status ${target.status} that is not a service document` };
      },
    },
    {
      id: 'C-SVC-12',
      title: { nl: 'De versie van de API staat in een kop', en: 'A header has the version of the API' },
      level: 'should',
      source: contract('API-Version', 'De volledige versie van deze API.'),
      dependsOn: ['C-SVC-01'],
      ask: [{ to: '{base}/' }],
      expect: { headers: { 'api-version': /^\d+\.\d+\.\d+$/ } },
    },
    {
      id: 'C-SVC-13',
      title: {
        nl: 'Het contract dat de dienst zelf publiceert, kent alleen lezen en vraagt geen toegang',
        en: 'The contract that the service itself publishes only reads, and asks for no access',
      },
      level: 'must',
      source: draft('What the service does, area C 3', 'no `POST` delivery operation'),
      dependsOn: ['C-SVC-01'],
      ask: [{ to: '{base}/openapi.json' }],
      expect: { status: [200, 404] },
      check: (_, { answers: [answer] }) => {
        if (answer?.status === 404 || !isRecord(answer?.json))
          return { skipped: 'no contract is published at openapi.json' };
        const { paths, security } = answer.json;
        const operations = Object.entries(isRecord(paths) ? paths : {}).flatMap(([path, item]) =>
          Object.entries(isRecord(item) ? item : {}).map(([method, operation]) => ({ path, method, operation })),
        );
        const writing = operations.find(({ method }) => ['post', 'put', 'patch', 'delete'].includes(method));
        if (writing !== undefined) return { failed: `it has ${writing.method.toUpperCase()} ${writing.path}` };
        const asksAccess = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
        const closed = operations.find(({ operation }) => isRecord(operation) && asksAccess(operation.security));
        return closed === undefined && !asksAccess(security) ? undefined : { failed: 'it has a security requirement' };
      },
    },
    {
      id: 'C-SVC-14',
      title: { nl: 'Wie een pagina vraagt, krijgt het servicedocument leesbaar', en: 'A browser gets a readable page' },
      level: 'may',
      source: rfc(9110, '12.5.1', 'Accept … response media types that are acceptable'),
      dependsOn: ['C-SVC-01'],
      ask: [{ to: '{base}/', headers: { accept: 'text/html' } }],
      expect: { status: [200, 406] },
      check: ({ service }, { answers: [answer] }) => {
        if (answer === undefined || !answer.headers['content-type']?.startsWith('text/html'))
          return { skipped: 'it is not offered' };
        const [code] = organisationsOf(service);
        return code === undefined || answer.body.includes(code)
          ? undefined
          : { failed: `the page does not name the organisation ${code}` };
      },
    },
  ],
};
