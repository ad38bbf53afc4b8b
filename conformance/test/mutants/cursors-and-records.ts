import {
  accepting,
  dataOf,
  type FeedMutant,
  GARBLED,
  has,
  isFeed,
  isRedact,
  isService,
  isSnapshot,
  isUpsert,
  json,
  list,
  record,
  resourceOf,
  status,
  where,
} from './breaking.ts';

export const CURSORS_AND_RECORDS: readonly FeedMutant[] = [
  {
    kills: 'C-CUR-01',
    what: 'a cursor is only valid with its filters',
    mutation: status(
      (request) => isFeed(request) && request.query.has('cursor') && request.query.has('resourceType'),
      400,
    ),
  },
  {
    kills: 'C-CUR-02',
    what: 'with a filter the cursor is ignored',
    mutation: {
      forward: (request) =>
        isFeed(request) &&
        request.query.get('limit') === '20' &&
        request.query.has('organisatiecode') &&
        request.query.has('cursor')
          ? { path: `/feed?limit=20&organisatiecode=${request.query.get('organisatiecode')}` }
          : undefined,
    },
  },
  {
    kills: 'C-CUR-03',
    what: 'resource types are not filtered',
    mutation: accepting(
      (request) => isFeed(request) && request.query.get('limit') === '250' && request.query.has('resourceType'),
      ['resourceType'],
    ),
  },
  {
    kills: 'C-CUR-04',
    what: 'organisations are not filtered',
    mutation: accepting((request) => isFeed(request) && request.query.get('limit') === '100', ['organisatiecode']),
  },
  {
    kills: 'C-CUR-05',
    what: 'upper case is refused',
    mutation: status((request) => isFeed(request) && /[A-Z]/.test(request.query.get('organisatiecode') ?? ''), 400),
  },
  {
    kills: 'C-CUR-06',
    what: 'an unknown code is an error',
    mutation: status(
      (request) =>
        isFeed(request) && request.query.get('limit') === '20' && request.query.get('organisatiecode') === 'gm0000',
      404,
    ),
  },
  {
    kills: 'C-CUR-07',
    what: 'any code is accepted',
    mutation: accepting(
      (request) =>
        isFeed(request) &&
        request.query.size === 1 &&
        has('organisatiecode', (code) => !/^[a-z]{2}\d{4}$/i.test(code))(request),
      ['organisatiecode'],
    ),
  },
  {
    kills: 'C-CUR-08',
    what: 'any kind is accepted',
    mutation: accepting(
      (request) =>
        (isFeed(request) && has('resourceType', (kind) => !/^[VAI]/.test(kind) || kind === '')(request)) ||
        request.query.get('resourceType') === 'Onbekend',
      ['resourceType'],
    ),
  },
  {
    kills: 'C-CUR-09',
    what: 'a garbled cursor restarts the feed',
    mutation: accepting(
      (request) => isFeed(request) && has('cursor', (cursor) => GARBLED.test(cursor))(request),
      ['cursor'],
    ),
  },
  {
    kills: 'C-CUR-10',
    what: 'a garbled cursor gets an unspecific 400',
    mutation: where(
      (request) => isFeed(request) && request.query.get('cursor') === 'geen-cursor',
      ({ json: body }) => {
        if (body !== undefined) body.type = 'https://koppelvlak.example/problems/ongeldig-verzoek';
      },
    ),
  },
  {
    kills: 'C-CUR-11',
    what: 'the cursor of an empty filtered page never advances',
    mutation: {
      ...accepting((request) => isFeed(request) && request.query.get('cursor') === 'vast', ['cursor']),
      ...json(
        (request) =>
          isFeed(request) && request.query.get('organisatiecode') === 'gm0000' && request.query.get('limit') === '1',
        (page) => {
          page.hasMore = true;
          page.cursor = 'vast';
        },
      ),
    },
  },
  {
    kills: 'C-CUR-12',
    what: 'filters have other names',
    mutation: status((request) => isFeed(request) && request.query.has('resourceType'), 400),
  },
  {
    kills: 'C-REC-01',
    what: 'numbers are strings',
    mutation: record(
      () => true,
      (one) => {
        one.sequenceNumber = `n${one.sequenceNumber}`;
      },
    ),
  },
  {
    kills: 'C-REC-02',
    what: 'another operation',
    mutation: record(isUpsert, (one) => {
      one.op = 'create';
    }),
  },
  {
    kills: 'C-REC-03',
    what: 'no bronidentificatie',
    mutation: record(
      () => true,
      (one) => {
        delete resourceOf(one).bronidentificatie;
      },
    ),
  },
  {
    kills: 'C-REC-04',
    what: 'codes in upper case',
    mutation: record(
      () => true,
      (one) => {
        const resource = resourceOf(one);
        resource.organisatiecode = String(resource.organisatiecode).toUpperCase();
      },
    ),
  },
  {
    kills: 'C-REC-05',
    what: 'an unlisted resource type',
    mutation: json(isService, (body) => {
      body.resourceTypes = ['Vergadering'];
    }),
  },
  {
    kills: 'C-REC-06',
    what: 'an unlisted organisation',
    mutation: json(isService, (body) => {
      body.organisaties = list(body, 'organisaties').slice(0, 1);
    }),
  },
  {
    kills: 'C-REC-07',
    what: 'times without a time zone',
    mutation: record(
      () => true,
      (one) => {
        one.storedAt = String(one.storedAt).replace('Z', '');
      },
    ),
  },
  {
    kills: 'C-REC-08',
    what: 'a recording time next year',
    mutation: record(
      () => true,
      (one) => {
        one.storedAt = '2999-01-01T00:00:00Z';
      },
    ),
  },
  {
    kills: 'C-REC-09',
    what: 'an upsert without content',
    mutation: record(isUpsert, (one) => {
      delete one.data;
    }),
  },
  {
    kills: 'C-REC-10',
    what: 'a delete without a reason',
    mutation: record(
      ({ op }) => op === 'delete',
      (one) => {
        delete one.verwijderreden;
      },
    ),
  },
  {
    kills: 'C-REC-11',
    what: 'an unknown reason',
    mutation: record(
      ({ op }) => op !== 'upsert',
      (one) => {
        one.verwijderreden = 'zomaar';
      },
    ),
  },
  {
    kills: 'C-REC-12',
    what: 'a redact with content',
    mutation: record(isRedact, (one) => {
      one.data = { naam: 'nog te lezen' };
    }),
  },
  {
    kills: 'C-REC-13',
    what: 'a redact without numbers',
    mutation: record(isRedact, (one) => {
      one.geredigeerdeSequenceNumbers = [];
    }),
  },
  {
    kills: 'C-REC-14',
    what: 'redacted content is still there',
    mutation: record(
      (one) =>
        isRedact(one) &&
        Array.isArray(one.geredigeerdeSequenceNumbers) &&
        one.geredigeerdeSequenceNumbers.includes(one.sequenceNumber),
      (one) => {
        one.op = 'upsert';
        one.data = {
          bronidentificatie: resourceOf(one).bronidentificatie,
          dossiertype: 'informatieobject',
          webpaginalink: 'https://raad.example/',
        };
        one.contentHash = `sha256:${'1'.repeat(64)}`;
        delete one.geredigeerdeSequenceNumbers;
      },
    ),
  },
  {
    kills: 'C-REC-15',
    what: 'no hash',
    mutation: record(isUpsert, (one) => {
      delete one.contentHash;
    }),
  },
  {
    kills: 'C-REC-16',
    what: 'a hash of another form',
    mutation: record(isUpsert, (one) => {
      one.contentHash = `md5:${one.sequenceNumber}`;
    }),
  },
  {
    kills: 'C-REC-17',
    what: 'a hash that does not match the content',
    mutation: record(isUpsert, (one) => {
      one.contentHash = `sha256:${String(one.sequenceNumber).padStart(64, '0')}`;
    }),
  },
  {
    kills: 'C-REC-18',
    what: 'unchanged content is recorded',
    mutation: record(isUpsert, (one) => {
      one.contentHash = `sha256:${'0'.repeat(64)}`;
    }),
  },
  {
    kills: 'C-REC-19',
    what: 'resourceUrl leads elsewhere',
    mutation: json(isSnapshot, (page) => {
      for (const one of list(page, 'records')) one.resourceUrl = String(one.resourceUrl).replace(/\/[^/]*$/, '/elders');
    }),
  },
  {
    kills: 'C-REC-20',
    what: "an aggregator omits the source's number",
    mutation: {
      answer: ({ json: body }, request) => {
        if (body !== undefined && isService(request)) body.rol = 'aggregator';
        if (isFeed(request))
          for (const one of list(body, 'records')) one.herkomst = { feedUrl: 'https://bron.example/feed' };
      },
    },
  },
  {
    kills: 'C-REC-21',
    what: 'the operation has another name',
    mutation: record(
      () => true,
      (one) => {
        one.operation = one.op;
        delete one.op;
      },
    ),
  },
  {
    kills: 'C-REC-22',
    what: 'an upsert with a reason for removal',
    mutation: record(isUpsert, (one) => {
      one.verwijderreden = 'correctie';
    }),
  },
  {
    kills: 'C-DATA-01',
    what: 'content of another resource',
    mutation: record(isUpsert, (one) => {
      dataOf(one).bronidentificatie = 'een-ander';
    }),
  },
  {
    kills: 'C-DATA-02',
    what: 'one dossiertype for every resource type',
    mutation: record(isUpsert, (one) => {
      dataOf(one).dossiertype = 'raadsinformatie';
    }),
  },
  {
    kills: 'C-DATA-03',
    what: 'references by address',
    mutation: record(
      ({ resourceType }) => resourceType === 'Agendapunt',
      (one) => {
        dataOf(one).vergadering = { url: 'https://raad.example/1' };
      },
    ),
  },
  {
    kills: 'C-DATA-04',
    what: 'a document without a page',
    mutation: record(
      ({ resourceType }) => resourceType === 'Informatieobject',
      (one) => {
        delete dataOf(one).webpaginalink;
      },
    ),
  },
  {
    kills: 'C-DATA-05',
    what: 'the file itself is included',
    mutation: record(
      ({ resourceType }) => resourceType === 'Informatieobject',
      (one) => {
        dataOf(one).omschrijving = 'data:application/pdf;base64,JVBERi0xLjcK';
      },
    ),
  },
  {
    kills: 'C-DATA-06',
    what: 'local times',
    mutation: record(
      ({ resourceType }) => resourceType === 'Vergadering',
      (one) => {
        dataOf(one).aanvang = '2026-01-15 19:30';
      },
    ),
  },
  {
    kills: 'C-DATA-07',
    what: 'a document without a title',
    mutation: record(
      ({ resourceType }) => resourceType === 'Informatieobject',
      (one) => {
        delete dataOf(one).titel;
      },
    ),
  },
  {
    kills: 'C-DATA-08',
    what: 'content of another organisation',
    mutation: record(isUpsert, (one) => {
      dataOf(one).organisatie = { gemeente: 'gm0001', naam: 'Een andere gemeente' };
    }),
  },
];
