/** Mistakes that a consumer can make: the example with a part of its text replaced, and our own aggregator behind a proxy. */
import type { Replacements } from '../example-consumer.ts';
import type { Mutation } from '../proxy.ts';
import { isFeed, isRedact, isService, json, list, record, resourceOf } from './breaking.ts';
import type { Mutant } from './mutant.ts';

/** The example's error handling. */
const FAILED = '    fault = error.message;\n';
const clearsWhen = (condition: string): Replacements => [
  [FAILED, `${FAILED}    if (${condition}) copy.state = new Map();\n`],
];
/** A copy that is abandoned. */
const STOPS = [
  'async function follow(copy, feed) {\n',
  'async function follow(copy, feed) {\n  if (copy.isDead) return;\n',
] as const;
const SNAPSHOT_END = '      if (!page.hasMore) break;\n';
const REDACTED = 'for (const [one, held] of state) if (numbers.has(held.number)) state.delete(one);';
const FEED_RECORDS = 'const state = new Map(copy.state);\n    for (const record of page.records)';

export const CONSUMER_MUTANTS: readonly Mutant<Replacements>[] = [
  {
    kills: 'K-BEG-01',
    what: 'the first resource of the snapshot is lost',
    mutation: [
      [
        'for (const record of page.records) apply(state, record, organisations);\n      if',
        'for (const record of page.records.slice(1)) apply(state, record, organisations);\n      if',
      ],
    ],
  },
  {
    kills: 'K-BEG-02',
    what: 'the feed is never read',
    mutation: [['for (let hasMore = true; hasMore; )', 'for (let hasMore = false; hasMore; )']],
  },
  {
    kills: 'K-BEG-03',
    what: 'only the first page of the snapshot is read',
    mutation: [[SNAPSHOT_END, '      break;\n']],
  },
  {
    kills: 'K-BEG-04',
    what: 'after the snapshot the feed is read from its end',
    mutation: [
      [
        'Object.assign(copy, { state, cursor: first.feedCursor });',
        `Object.assign(copy, { state, cursor: first.feedCursor });
    for (let page; page?.hasMore !== false; copy.cursor = page.cursor) page = await readPage(copy, service.feedUrl, copy.cursor);`,
      ],
    ],
  },
  {
    kills: 'K-BEG-05',
    what: 'every page of the snapshot must have a feedCursor',
    mutation: [[SNAPSHOT_END, `      if (!page.feedCursor) throw new Error('no feedCursor');\n${SNAPSHOT_END}`]],
  },
  {
    kills: 'K-BEG-06',
    what: 'an empty feed is never read again',
    mutation: [[SNAPSHOT_END, `      copy.isDead = first.records.length === 0;\n${SNAPSHOT_END}`], STOPS],
  },
  {
    kills: 'K-BEG-07',
    what: 'half a snapshot is treated as complete',
    mutation: [
      [
        'const first = await readPage(copy, service.snapshotUrl);',
        'const first = await readPage(copy, service.snapshotUrl);\n    Object.assign(copy, { state, cursor: first.feedCursor });',
      ],
    ],
  },
  {
    kills: 'K-FEED-01',
    what: 'an upsert is merged with the previous content',
    mutation: [
      [
        'state.set(key, { number, resourceType, resource, data });',
        'state.set(key, { number, resourceType, resource, data: { ...state.get(key)?.data, ...data } });',
      ],
    ],
  },
  { kills: 'K-FEED-02', what: 'a delete is ignored', mutation: [['    state.delete(key);\n', '']] },
  {
    kills: 'K-FEED-03',
    what: 'a deleted resource never comes back',
    mutation: [
      ['    state.delete(key);\n', '    state.delete(key);\n    (copies.gone ??= new Set()).add(key);\n'],
      ["op === 'upsert' && data)", "op === 'upsert' && data && !copies.gone?.has(key))"],
    ],
  },
  {
    kills: 'K-FEED-04',
    what: 'one page is read at a time',
    mutation: [['hasMore = page.hasMore;', 'hasMore = false;']],
  },
  {
    kills: 'K-FEED-05',
    what: 'a page without records is the end',
    mutation: [['hasMore = page.hasMore;', 'hasMore = page.hasMore && page.records.length > 0;']],
  },
  {
    kills: 'K-FEED-06',
    what: 'a cursor is not encoded',
    mutation: [["url.searchParams.set('cursor', cursor);", "url.search = '?cursor=' + cursor;"]],
  },
  {
    kills: 'K-FEED-07',
    what: 'deletes come after upserts',
    mutation: [
      [
        FEED_RECORDS,
        FEED_RECORDS.replace(
          'page.records',
          "page.records.toSorted((a, b) => (a.op === 'delete') - (b.op === 'delete'))",
        ),
      ],
    ],
  },
  {
    kills: 'K-FEED-08',
    what: 'organisations share their resources',
    mutation: [
      [
        '[resourceType, resource.organisatiecode, resource.bronidentificatie]',
        '[resourceType, resource.bronidentificatie]',
      ],
    ],
  },
  {
    kills: 'K-FEED-09',
    what: 'resource types share their resources',
    mutation: [
      [
        '[resourceType, resource.organisatiecode, resource.bronidentificatie]',
        '[resource.organisatiecode, resource.bronidentificatie]',
      ],
    ],
  },
  {
    kills: 'K-FEED-10',
    what: 'a repeated record becomes another resource',
    mutation: [['state.set(key, {', "state.set(state.get(key)?.number === number ? key + 'again' : key, {"]],
  },
  {
    kills: 'K-FEED-11',
    what: 'it never reads again after a truncated answer',
    mutation: [[FAILED, `${FAILED}    copy.isDead ||= error.message === 'terminated';\n`], STOPS],
  },
  {
    kills: 'K-FEED-12',
    what: 'it stops at a page without `next`',
    mutation: [[SNAPSHOT_END, '      if (!page.hasMore || !page.next) break;\n']],
  },
  {
    kills: 'K-FEED-13',
    what: 'it requests five thousand at a time',
    mutation: [
      [
        '  const url = new URL(address);\n',
        "  const url = new URL(address);\n  if (!address.endsWith('/')) url.searchParams.set('limit', '5000');\n",
      ],
    ],
  },
  {
    kills: 'K-FEED-14',
    what: 'only ASCII is kept',
    mutation: [
      [
        '    state.set(key, {',
        "    record.data = JSON.parse(JSON.stringify(data).replaceAll(/[^ -~]/g, '?'));\n    state.set(key, {",
      ],
      ['resource, data });\n', 'resource, data: record.data });\n'],
    ],
  },
  {
    kills: 'K-FEED-15',
    what: 'unknown members of the content are dropped',
    mutation: [
      ['resourceType, resource, data });', 'resourceType, resource, data: { ...data, eigenveld: undefined } });'],
    ],
  },
  {
    kills: 'K-FEED-16',
    what: 'an unknown member of a page is an error',
    mutation: [
      [
        "throw new Error('this is not a page');",
        "throw new Error('this is not a page');\n  if ('versie' in page) throw new Error('unknown member');",
      ],
    ],
  },
  { kills: 'K-RED-01', what: 'a redaction is lost', mutation: [[REDACTED, '']] },
  {
    kills: 'K-RED-02',
    what: 'only the last number of a redaction counts',
    mutation: [
      ['new Set(record.geredigeerdeSequenceNumbers)', 'new Set(record.geredigeerdeSequenceNumbers.slice(-1))'],
    ],
  },
  {
    kills: 'K-RED-03',
    what: 'a redacted resource never comes back',
    mutation: [
      [REDACTED, `${REDACTED}\n    (copies.gone ??= new Set()).add(key);`],
      ["op === 'upsert' && data)", "op === 'upsert' && data && !copies.gone?.has(key))"],
    ],
  },
  {
    kills: 'K-RED-04',
    what: 'a redaction of an unknown resource is an error',
    mutation: [
      [
        REDACTED,
        `if (![...state.values()].some((held) => numbers.has(held.number))) throw new Error('nothing to redact');\n    ${REDACTED}`,
      ],
    ],
  },
  {
    kills: 'K-RED-05',
    what: 'a new snapshot is added to the old copy',
    mutation: [['    const state = new Map();\n', '    const state = new Map(copy.state);\n']],
  },
  {
    kills: 'K-RED-06',
    what: 'an unusable record blocks its page',
    mutation: [['else {\n    process', "else {\n    throw new Error('cannot be used');\n    process"]],
  },
  {
    kills: 'K-ERR-01',
    what: 'the copy is lost when the source does not answer',
    mutation: clearsWhen("error.message === 'fetch failed'"),
  },
  {
    kills: 'K-ERR-02',
    what: 'the copy is lost after an error',
    mutation: clearsWhen("error.message === 'status 500'"),
  },
  {
    kills: 'K-ERR-03',
    what: 'the copy is lost after an empty answer',
    mutation: clearsWhen("error.message === 'this is not a page'"),
  },
  {
    kills: 'K-ERR-04',
    what: 'the copy is lost after a page of HTML',
    mutation: clearsWhen('error.message.includes("\'<\'")'),
  },
  {
    kills: 'K-ERR-05',
    what: 'the copy is lost after truncated JSON',
    mutation: clearsWhen('error instanceof SyntaxError && !error.message.includes("\'<\'")'),
  },
  {
    kills: 'K-ERR-06',
    what: 'it never starts over',
    mutation: [[" || String(body.type).endsWith('ongeldige-cursor')", '']],
  },
  { kills: 'K-ERR-07', what: 'it does not start over after 410', mutation: [['answer.status === 410 || ', '']] },
  { kills: 'K-ERR-08', what: 'Retry-After is read as milliseconds', mutation: [['1000 * later', 'Number(later)']] },
  { kills: 'K-ERR-09', what: 'a date in Retry-After is ignored', mutation: [['Date.parse(later)', '0']] },
  {
    kills: 'K-ERR-10',
    what: 'redirects are not followed',
    mutation: [
      ["{ headers: { accept: 'application/json' },", "{ redirect: 'manual', headers: { accept: 'application/json' },"],
    ],
  },
  {
    kills: 'K-ERR-11',
    what: 'redirects are followed endlessly',
    mutation: [
      [
        "const answer = await fetch(url, { headers: { accept: 'application/json' },",
        "let answer = await fetch(url, { redirect: 'manual',",
      ],
      [
        "  const later = answer.headers.get('retry-after');",
        "  while (answer.status === 307) answer = await fetch(answer.headers.get('location'), { redirect: 'manual' });\n  const later = answer.headers.get('retry-after');",
      ],
    ],
  },
  {
    kills: 'K-ERR-12',
    what: 'an answer may take half a second',
    mutation: [['AbortSignal.timeout(10_000)', "AbortSignal.timeout(address.endsWith('/feed') ? 500 : 10_000)"]],
  },
  {
    kills: 'K-ERR-13',
    what: 'the copy is lost after a large answer',
    mutation: clearsWhen("error.message.startsWith('more than')"),
  },
  {
    kills: 'K-TRUST-01',
    what: 'a source may speak for anybody',
    mutation: [['!organisations.has(resource.organisatiecode)', 'false']],
  },
  {
    kills: 'K-TRUST-02',
    what: 'a snapshot may speak for anybody',
    mutation: [
      [
        'for (const record of page.records) apply(state, record, organisations);\n      if',
        'for (const record of page.records) apply(state, record, { has: () => true });\n      if',
      ],
    ],
  },
  {
    kills: 'K-TRUST-03',
    what: 'names that mean something in JavaScript are lost',
    mutation: [
      ["  if (op === 'redact') {", "  if (resource.bronidentificatie in {}) return;\n  if (op === 'redact') {"],
    ],
  },
  {
    kills: 'K-TRUST-04',
    what: 'a token is sent',
    mutation: [["{ accept: 'application/json' }", "{ accept: 'application/json', authorization: 'Bearer geheim' }"]],
  },
];

const WORD = 'Geheim-Woord-van-Jansen';

export const AGGREGATOR_MUTANTS: readonly Mutant<Mutation>[] = [
  {
    kills: 'K-AGG-01',
    what: 'its records have new identities',
    mutation: record(
      (one) => String(resourceOf(one).bronidentificatie).includes('Ä'),
      (one) => {
        resourceOf(one).bronidentificatie = 'eigen-1';
      },
    ),
  },
  {
    kills: 'K-AGG-02',
    what: 'its history keeps redacted content',
    mutation: record(isRedact, (one) => {
      one.toelichting = WORD;
    }),
  },
  {
    kills: 'K-AGG-03',
    what: 'its feed has no redactions',
    mutation: json(isFeed, (page) => {
      page.records = list(page, 'records').filter((one) => !isRedact(one));
    }),
  },
  {
    kills: 'K-AGG-04',
    what: 'it is always up to date',
    mutation: json(isService, (body) => {
      for (const one of list(body, 'organisaties')) one.laatstBijgewerkt = new Date().toISOString();
    }),
  },
  {
    kills: 'K-AGG-05',
    what: 'its records have no origin',
    mutation: record(
      () => true,
      (one) => {
        delete one.herkomst;
      },
    ),
  },
];
