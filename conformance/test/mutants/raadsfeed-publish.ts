/** Mistakes that a publisher can make when something changes. */
import type { Mutation, Request } from '../proxy.ts';
import {
  dataOf,
  isCollection,
  isFeed,
  isRedact,
  isResource,
  isService,
  isSnapshot,
  isUpsert,
  type Json,
  json,
  list,
  record,
  resourceOf,
  status,
  where,
} from './breaking.ts';
import type { Mutant } from './mutant.ts';

/** The run and the name of a resource that the suite publishes: `conformance-0123abcd-v`. */
const OWN = /^conformance-([0-9a-f]+)-(.*)$/;
const idOf = (one: Json): string => String(resourceOf(one).bronidentificatie ?? one.bronidentificatie);
const runOf = (one: Json): string => OWN.exec(idOf(one))?.[1] ?? '';
const isOwn = (one: Json, name: string): boolean => OWN.exec(idOf(one))?.[2] === name;
const isPlace = (one: Json): boolean =>
  Array.isArray(one.geredigeerdeSequenceNumbers) && one.geredigeerdeSequenceNumbers.length === 1;
const isHeadRedact = (one: Json): boolean => isOwn(one, 'd') && isRedact(one) && !isPlace(one);

/** Omits records of the feed; `nth` counts the matching ones from 1. */
const without = (isMeant: (one: Json, nth: number) => boolean, name: string): Mutation =>
  json(isFeed, (page) => {
    let nth = 0;
    page.records = list(page, 'records').filter((one) => {
      if (!isOwn(one, name)) return true;
      if (isUpsert(one)) nth += 1;
      return !isMeant(one, nth);
    });
  });
/** Keeps a resource in its list once the run has published others of its type. */
const keeping = (isMeant: (request: Request) => boolean, member: string, name: string): Mutation =>
  json(isMeant, (page) => {
    const found = list(page, member);
    const run = found.map(runOf).find((one) => one !== '');
    if (run === undefined || found.some((one) => isOwn(one, name))) return;
    const like = found.find((one) => runOf(one) === run) ?? {};
    const bronidentificatie = `conformance-${run}-${name}`;
    page[member] = [...found, { ...like, bronidentificatie, resource: { ...resourceOf(like), bronidentificatie } }];
  });
const endsIn =
  (name: string) =>
  (request: Request): boolean =>
    isResource(request) && request.path.endsWith(`-${name}`);
const isConditional = ({ headers }: Request): boolean => headers['if-none-match'] !== undefined;

export const PUBLISH_MUTANTS: readonly Mutant<Mutation>[] = [
  { kills: 'P-NEW-01', what: 'an agenda item never appears', mutation: without(() => true, 'a') },
  {
    kills: 'P-NEW-02',
    what: 'a new record appears at the beginning',
    mutation: record(
      (one) => isOwn(one, 'v'),
      (one) => Object.assign(one, { sequenceNumber: 1 }),
    ),
  },
  {
    kills: 'P-NEW-03',
    what: 'numbers are not integers',
    mutation: record(
      (one) => isOwn(one, 'a'),
      (one) => Object.assign(one, { sequenceNumber: Number(one.sequenceNumber) + 0.5 }),
    ),
  },
  {
    kills: 'P-NEW-04',
    what: 'two records are swapped',
    mutation: json(isFeed, (page) => {
      const records = list(page, 'records');
      const [v, a] = ['v', 'a'].map((name) => records.findIndex((one) => isOwn(one, name)));
      const [first, second] = [records[v ?? -1], records[a ?? -1]];
      if (first === undefined || second === undefined || v === undefined || a === undefined) return;
      [first.sequenceNumber, second.sequenceNumber] = [second.sequenceNumber, first.sequenceNumber];
      [records[v], records[a]] = [second, first];
      page.records = records;
    }),
  },
  {
    kills: 'P-NEW-05',
    what: 'a text is truncated',
    mutation: record(
      (one) => isOwn(one, 'v'),
      (one) => Object.assign(dataOf(one), { locatie: 'Raadzaal' }),
    ),
  },
  {
    kills: 'P-NEW-06',
    what: 'a record has an old recording time',
    mutation: record(
      (one) => isOwn(one, 'v'),
      (one) => Object.assign(one, { storedAt: '2001-01-01T00:00:00Z' }),
    ),
  },
  {
    kills: 'P-NEW-07',
    what: 'head is one behind',
    mutation: json(isFeed, (page) => {
      if (list(page, 'records').some((one) => runOf(one) !== '')) page.head = Number(page.head) - 1;
    }),
  },
  {
    kills: 'P-NEW-08',
    what: 'the snapshot lacks a meeting',
    mutation: json(isSnapshot, (page) => {
      page.records = list(page, 'records').filter((one) => !isOwn(one, 'v'));
    }),
  },
  { kills: 'P-NEW-09', what: 'a meeting has no address', mutation: status(endsIn('v'), 404) },
  {
    kills: 'P-NEW-10',
    what: 'the list lacks a meeting',
    mutation: json(isCollection, (page) => {
      page.results = list(page, 'results').filter((one) => !isOwn(one, 'v'));
    }),
  },
  {
    kills: 'P-NEW-11',
    what: 'an open stream stays silent',
    mutation: {
      stream: (text, { headers }) =>
        headers['last-event-id'] === undefined && text.includes('conformance-') ? ':\n\n' : text,
    },
  },
  {
    kills: 'P-NEW-12',
    what: 'the end of the feed gets 304 for ever',
    mutation: status((request) => isConditional(request) && request.path.startsWith('/feed?limit='), 304),
  },
  {
    kills: 'P-NEW-13',
    what: 'a slash ends an address',
    mutation: status((request) => isResource(request) && /conformance-\w+-o%2F/.test(request.path), 404),
  },
  { kills: 'P-NEW-14', what: 'one of several concurrent publications is lost', mutation: without(() => true, 'p2') },
  {
    kills: 'P-NEW-15',
    what: "the organisation's currency is missing",
    mutation: json(isService, (body) => {
      for (const one of list(body, 'organisaties')) delete one.laatstBijgewerkt;
    }),
  },
  {
    kills: 'P-CHG-01',
    what: 'a change does not appear',
    mutation: without((one, nth) => isUpsert(one) && nth > 1, 'd'),
  },
  {
    kills: 'P-CHG-02',
    what: 'a change alters an earlier record',
    mutation: json(isFeed, (page) => {
      const records = list(page, 'records');
      if (records.filter((one) => isOwn(one, 'd')).length < 2) return;
      for (const one of records) if (isOwn(one, 'v')) one.gewijzigdOp = '2026-01-01T00:00:00Z';
    }),
  },
  {
    kills: 'P-CHG-03',
    what: 'every hash is the same',
    mutation: record(
      (one) => isUpsert(one) && isOwn(one, 'd'),
      (one) => Object.assign(one, { contentHash: 'sha256:0' }),
    ),
  },
  {
    kills: 'P-CHG-04',
    what: 'the snapshot has a document twice',
    mutation: json(isSnapshot, (page) => {
      page.records = list(page, 'records').flatMap((one) => (isOwn(one, 'd') ? [one, one] : [one]));
    }),
  },
  {
    kills: 'P-CHG-05',
    what: 'a resource gets 304 for ever',
    mutation: status((request) => isConditional(request) && isResource(request), 304),
  },
  {
    kills: 'P-CHG-06',
    what: 'the same content is recorded again',
    mutation: json(isFeed, (page) => {
      const records = list(page, 'records');
      const last = records.findLastIndex((one) => isUpsert(one) && isOwn(one, 'd'));
      if (last >= 0 && records.some((one) => isOwn(one, 'm')))
        page.records = records.toSpliced(last, 0, records[last] ?? {});
    }),
  },
  {
    kills: 'P-CHG-07',
    what: 'a reverted resource does not appear',
    mutation: without((one, nth) => isUpsert(one) && nth > 2, 'd'),
  },
  {
    kills: 'P-CHG-08',
    what: 'a hash depends on the time',
    mutation: record(
      (one) => isUpsert(one) && isOwn(one, 'd'),
      (one) => Object.assign(one, { contentHash: `${one.contentHash}-${one.sequenceNumber}` }),
    ),
  },
  {
    kills: 'P-DEL-01',
    what: 'a delete has no reason',
    mutation: record(
      (one) => isOwn(one, 'a') && one.op === 'delete',
      (one) => void delete one.verwijderreden,
    ),
  },
  {
    kills: 'P-DEL-02',
    what: 'a delete has content',
    mutation: record(
      (one) => isOwn(one, 'a') && one.op === 'delete',
      (one) => Object.assign(one, { data: {} }),
    ),
  },
  { kills: 'P-DEL-03', what: 'the snapshot keeps a deleted resource', mutation: keeping(isSnapshot, 'records', 'a') },
  {
    kills: 'P-DEL-04',
    what: "a deleted resource's address still answers",
    mutation: status(endsIn('a'), 200),
  },
  { kills: 'P-DEL-05', what: 'the list keeps a deleted resource', mutation: keeping(isCollection, 'results', 'a') },
  {
    kills: 'P-DEL-06',
    what: 'a deleted resource never comes back',
    mutation: without((one, nth) => isUpsert(one) && nth > 1, 'a'),
  },
  { kills: 'P-RED-01', what: 'a redaction is not published', mutation: without(isHeadRedact, 'd') },
  {
    kills: 'P-RED-02',
    what: 'a redaction names all numbers but the first',
    mutation: record(isHeadRedact, (one) => {
      one.geredigeerdeSequenceNumbers = [one.geredigeerdeSequenceNumbers].flat().slice(1);
    }),
  },
  {
    kills: 'P-RED-03',
    what: 'the history keeps the content',
    mutation: record(
      (one) => isOwn(one, 'd') && isRedact(one),
      (one) => Object.assign(one, { toelichting: `inhoud-${runOf(one)}` }),
    ),
  },
  {
    kills: 'P-RED-04',
    what: 'a number in the history is silently missing',
    mutation: json(isFeed, (page) => {
      const records = list(page, 'records');
      const place = records.find((one) => isOwn(one, 'd') && isRedact(one) && isPlace(one));
      for (const one of records.filter(isHeadRedact))
        one.geredigeerdeSequenceNumbers = [one.geredigeerdeSequenceNumbers]
          .flat()
          .filter((number) => number !== place?.sequenceNumber);
      page.records = records.filter((one) => one !== place);
    }),
  },
  { kills: 'P-RED-05', what: 'the snapshot keeps the content', mutation: keeping(isSnapshot, 'records', 'd') },
  { kills: 'P-RED-06', what: "a redacted resource's address still answers", mutation: status(endsIn('d'), 200) },
  { kills: 'P-RED-07', what: 'the list keeps the content', mutation: keeping(isCollection, 'results', 'd') },
  {
    kills: 'P-RED-08',
    what: 'the stream keeps the content',
    mutation: { stream: (text) => text.replaceAll(/"conformance-(\w+)-d"/g, '"conformance-$1-d","titel":"inhoud-$1"') },
  },
  {
    kills: 'P-RED-09',
    what: 'a page of history gets 304 for ever',
    mutation: status((request) => isConditional(request) && request.path.startsWith('/feed?cursor='), 304),
  },
  {
    kills: 'P-RED-10',
    what: 'a redaction has no reason',
    mutation: record(
      (one) => isOwn(one, 'd') && isRedact(one),
      (one) => void delete one.verwijderreden,
    ),
  },
  {
    kills: 'P-RED-11',
    what: 'a redaction alters another resource',
    mutation: where(isFeed, ({ json: page }) => {
      const records = list(page, 'records');
      if (!records.some((one) => isOwn(one, 'd') && isRedact(one))) return;
      for (const one of records) if (isOwn(one, 'v')) one.gewijzigdOp = '2026-01-01T00:00:00Z';
    }),
  },
  {
    kills: 'P-RED-12',
    what: "the history keeps a deleted resource's content",
    mutation: record(
      (one) => isOwn(one, 'w') && isRedact(one),
      (one) => Object.assign(one, { toelichting: `ingetrokken-${runOf(one)}` }),
    ),
  },
];
