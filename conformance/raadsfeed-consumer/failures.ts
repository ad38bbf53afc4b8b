import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { contract, draft, rfc } from '../raadsfeed/sources.ts';
import { type PlayedCall, type PlayedFeed, problem } from './played-feed.ts';
import { type ConsumerCase, MANY, publish, sceneChapter } from './scene.ts';

const sourceFails = draft('Rules for aggregators 3', 'publishes nothing (no `delete`)');
/** Nothing else removes a resource. */
const onlyRecords = draft('Events', 'Feed records are the events of the feed');

const two = (feed: PlayedFeed): void => publish(feed, 'a', 'b');

/**
 * The feed gives wrong answers, in these ways, until the consumer has read them; the consumer must keep its copy and
 * then continue.
 */
function survives(...failures: readonly ((call: PlayedCall) => void)[]) {
  const failing = failures.map((fail) => (feed: PlayedFeed) => {
    feed.rule = (call) => {
      if (call.path !== '/') fail(call);
    };
  });
  const recover = (feed: PlayedFeed): void => {
    feed.rule = undefined;
    feed.upsert('nieuw');
  };
  return { prepare: two, changes: [...failing, recover] };
}

const BUSY_MS = 1000;
/** Allows for small differences between timers and clocks. */
const TOLERANCE_MS = 150;
const OVERSIZED_BYTES = 64 * 1024 * 1024;
/** Browsers follow fewer redirects than this. */
const MOST_REDIRECTS = 30;

/** The feed is busy once, and says until when; an earlier request gets the same answer again. */
function busy(
  status: 429 | 503,
  retryAfter: () => { readonly value: string; readonly waitMs: number },
): Pick<ConsumerCase, 'prepare' | 'play'> {
  return {
    prepare: two,
    play: async ({ feed, look }) => {
      feed.upsert('c');
      let until: number | undefined;
      let early = 0;
      feed.answerOn('/feed', ({ answer }) => {
        const now = performance.now();
        if (until !== undefined && now >= until - TOLERANCE_MS) return;
        if (until !== undefined) early += 1;
        const { value, waitMs } = retryAfter();
        until ??= now + waitMs;
        answer(problem(status), status, { 'retry-after': value });
      });
      await look();
      return early === 0 ? undefined : `it asked ${early} times before the time in \`Retry-After\``;
    },
  };
}

/** The feed no longer accepts earlier cursors; resources that disappeared meanwhile are not in its snapshot. */
function losesPlace(refusal: 400 | 410): Pick<ConsumerCase, 'prepare' | 'changes'> {
  return {
    prepare: (feed) => publish(feed, ...MANY),
    changes: [
      (feed) => {
        feed.delete('a-3');
        feed.upsert('nieuw');
        feed.refusal = refusal;
        feed.forgetCursors();
      },
      (feed) => feed.upsert('later'),
    ],
  };
}

export const FAILURES = sceneChapter('K-ERR', ['Storingen van de bron', 'When the source fails'], {
  'K-ERR-01': {
    must: sourceFails,
    nl: 'Een onbereikbare bron leidt niet tot verwijderingen',
    en: 'An unreachable source removes nothing',
    ...survives(({ response }) => void response.destroy()),
  },
  'K-ERR-02': {
    must: onlyRecords,
    nl: 'Een fout van de bron leidt niet tot verwijderingen',
    en: 'An error from the source removes nothing',
    ...survives(({ answer }) => answer(problem(500), 500)),
  },
  'K-ERR-03': {
    must: draft('Rules for aggregators 3', 'unreachable or returns an empty answer'),
    nl: 'Een leeg antwoord leidt niet tot verwijderingen',
    en: 'An empty answer removes nothing',
    ...survives(
      ({ answer }) => answer(''),
      ({ answer }) => answer('{}'),
      ({ answer }) => answer('{"records":null}'),
    ),
  },
  'K-ERR-04': {
    must: onlyRecords,
    nl: 'Een HTML-pagina in plaats van de feed leidt niet tot verwijderingen',
    en: 'An HTML page instead of the feed removes nothing',
    ...survives(({ answer }) =>
      answer('<!DOCTYPE html><title>Onderhoud</title>', 200, { 'content-type': 'text/html' }),
    ),
  },
  'K-ERR-05': {
    must: onlyRecords,
    nl: 'Afgebroken JSON leidt niet tot verwijderingen',
    en: 'Truncated JSON removes nothing',
    ...survives(({ answer, page }) => answer(JSON.stringify(page()).slice(0, -5))),
  },
  'K-ERR-06': {
    may: contract('info', 'dan is het antwoord 400 met type `ongeldige-cursor`: begin opnieuw bij `/snapshot`'),
    nl: 'Als de cursor niet meer geldig is (400), begint de afnemer opnieuw bij de stand',
    en: 'When its cursor is no longer valid (400), the consumer starts over at the snapshot',
    needs: ['K-FEED-02'],
    ...losesPlace(400),
  },
  'K-ERR-07': {
    should: rfc(
      9110,
      '15.5.11',
      'no longer available at the origin server and that this condition is likely to be permanent',
    ),
    nl: 'Ook na 410 begint de afnemer opnieuw bij de stand',
    en: 'After 410, too, the consumer starts over at the snapshot',
    needs: ['K-ERR-06'],
    ...losesPlace(410),
  },
  'K-ERR-08': {
    should: draft('Errors 2', 'status 429 or 503 with header `Retry-After`'),
    nl: 'Na 503 wacht de afnemer zo lang als `Retry-After` aangeeft',
    en: 'After 503 the consumer waits as long as `Retry-After` says',
    ...busy(503, () => ({ value: String(BUSY_MS / 1000), waitMs: BUSY_MS })),
  },
  'K-ERR-09': {
    should: rfc(9110, '10.2.3', 'Retry-After = HTTP-date / delay-seconds'),
    nl: 'Na 429 wacht de afnemer ook als `Retry-After` een tijdstip is',
    en: 'After 429 the consumer waits even if `Retry-After` is a date',
    ...busy(429, () => {
      // An HTTP date has whole seconds.
      const at = Math.ceil(Date.now() / 1000) * 1000 + BUSY_MS;
      return { value: new Date(at).toUTCString(), waitMs: at - Date.now() - BUSY_MS / 2 };
    }),
  },
  'K-ERR-10': {
    should: rfc(
      9110,
      '15.4.8',
      '307 … the user agent MUST NOT change the request method if it performs an automatic redirection',
    ),
    nl: 'Een redirect wordt gevolgd',
    en: 'A redirect is followed',
    prepare: two,
    changes: [
      (feed) => {
        feed.upsert('c');
        feed.answerOn('/feed', ({ query, answer }) => {
          if (query.has('verhuisd')) return;
          const parameters = new URLSearchParams([...query, ['verhuisd', '1']]);
          answer('', 307, { location: `${feed.url}/feed?${parameters}` });
        });
      },
    ],
  },
  'K-ERR-11': {
    should: rfc(9110, '15.4', 'A client SHOULD detect and intervene in cyclical redirections'),
    nl: 'Een kring van redirects wordt afgebroken',
    en: 'A redirect loop is broken off',
    needs: ['K-ERR-10'],
    prepare: two,
    play: async ({ feed, look, read, signal }) => {
      feed.upsert('c');
      let longest = 0;
      feed.answerOn('/feed', ({ query, answer }) => {
        const step = Number(query.get('ronde') ?? 0) + 1;
        longest = Math.max(longest, step);
        const parameters = new URLSearchParams(query);
        parameters.set('ronde', String(step));
        if (step > MOST_REDIRECTS) answer(problem(500), 500);
        else answer('', 307, { location: `${feed.url}/feed?${parameters}` });
      });
      await read().catch(() => signal.throwIfAborted());
      feed.rule = undefined;
      if (longest > MOST_REDIRECTS) return `it follows more than ${MOST_REDIRECTS} redirects`;
      await look();
      return undefined;
    },
  },
  'K-ERR-12': {
    should: rfc(9112, '7.1', 'A recipient MUST be able to parse and decode the chunked transfer coding'),
    nl: 'Een antwoord dat langzaam en in stukken komt, wordt gelezen',
    en: 'An answer that comes slowly, in pieces, is read',
    prepare: two,
    changes: [
      (feed) => {
        feed.upsert('c');
        feed.answerOn('/feed', ({ page, response }) => {
          response.writeHead(200, { 'content-type': 'application/json' });
          void drip(response, JSON.stringify(page()));
        });
      },
    ],
  },
  'K-ERR-13': {
    should: sourceFails,
    nl: 'Een eindeloos antwoord kan geen kwaad',
    en: 'An endless answer does no harm',
    ...survives(({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      void pour(response);
    }),
  },
  'K-ERR-14': {
    open: draft('Feed rules 3', 'It denotes a position in the complete feed'),
    nl: 'Hoe vaak de afnemer verzoeken stuurt als een pagina meer aankondigt zonder verder te komen',
    en: 'How often the consumer sends requests when a page announces more but does not advance',
    prepare: two,
    play: async ({ feed, read, signal }) => {
      let asked = 0;
      feed.answerOn('/feed', ({ query, answer }) => {
        asked += 1;
        const cursor = query.get('cursor') ?? '';
        const next = `${feed.url}/feed?cursor=${encodeURIComponent(cursor)}`;
        answer({ records: [], cursor, head: feed.head, hasMore: asked < 200, next });
      });
      await Promise.race([read().catch(() => undefined), wait(1000, undefined, { signal })]);
      return { seen: `${asked} times` };
    },
  },
});

async function drip(response: PlayedCall['response'], text: string): Promise<void> {
  const bytes = Buffer.from(text);
  const size = Math.ceil(bytes.length / 20);
  for (let at = 0; at < bytes.length && !response.destroyed; at += size) {
    response.write(bytes.subarray(at, at + size));
    await wait(50);
  }
  response.end();
}

/** Sends spaces until the client disconnects or a limit is reached. */
async function pour(response: PlayedCall['response']): Promise<void> {
  const chunk = Buffer.alloc(256 * 1024, ' ');
  const chunks = Array.from({ length: OVERSIZED_BYTES / chunk.length }, () => chunk);
  // The client is expected to disconnect early.
  await pipeline(Readable.from(chunks), response).catch(() => undefined);
}
